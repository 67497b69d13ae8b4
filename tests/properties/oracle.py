"""A slow witness for the allocator: kube-scheduler's plain search, step by step.

`answer_plainly` runs the published skeleton without any pruning. What does not change during a search (pools, amounts,
tolerations) is read from the definitions of `dray.audit`, which shares nothing with the allocator either.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from dray.api.resource.claim import DeviceConstraint
from dray.audit.holdings import find_holdings, held_results
from dray.audit.pools import PoolState, SeenPool
from dray.audit.wishes import is_tolerated
from dray.audit.world import DeviceKey, PoolKey, Published, World
from dray.values.quantity import Quantity
from tests.properties.preparation import MAX_DEVICES, FatalError, Option, Preparation

__all__ = ["Answer", "Ending", "PlainSearch", "Quirks", "StepsExceededError", "answer_plainly"]

OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"


class Ending(Enum):
    """How an attempt ends."""

    ALLOCATED = auto()
    UNSCHEDULABLE = auto()
    INVALID_POOLS = auto()
    ERROR = auto()


@dataclass(frozen=True)
class Answer:
    """What the plain search finds: picks of each claim as (reference, device), or the message of an error."""

    ending: Ending
    picks: tuple[tuple[tuple[str, DeviceKey], ...], ...] = ()
    message: str = ""
    steps: int = field(default=0, compare=False)

    @property
    def is_refusal(self) -> bool:
        """Whether a constraint refused a device of a request for all."""
        return "because a claim constraint would not be satisfied" in self.message

    @property
    def is_fault(self) -> bool:
        """Whether the input is at fault otherwise."""
        return self.ending is Ending.ERROR and not self.is_refusal


@dataclass(frozen=True)
class Quirks:
    """What kube-scheduler does and nobody needs.

    `admin_takes`: a device picked for administration counts as in use for later requests, and draws counters and
    capacity. `refusal_is_fatal`: a constraint that refuses a device of a request for all ends the attempt.
    """

    admin_takes: bool = True
    refusal_is_fatal: bool = True


class StepsExceededError(Exception):
    """The plain search takes longer than a test wants to wait."""


class Verdict(Enum):
    FOUND = auto()
    NOT_FOUND = auto()
    TOO_MANY = auto()


@dataclass(frozen=True)
class Pick:
    option: Option
    published: Published
    amounts: Mapping[str, Quantity]

    @property
    def claim(self) -> int:
        return self.option.claim


@dataclass
class PlainSearch:
    """One attempt. State is recomputed from the picks at every step: slow, and hard to get wrong."""

    known: Preparation
    quirks: Quirks
    max_steps: int
    steps: int = 0
    picks: list[Pick] = field(default_factory=list)
    refusal: FatalError | None = None

    def __post_init__(self) -> None:
        self.world = self.known.world
        self.holdings = find_holdings(held_results(self.world.allocated))

    # What is taken now.

    def taking(self) -> list[Pick]:
        """Picks that take something from others."""
        return [pick for pick in self.picks if self.quirks.admin_takes or not pick.option.wish.is_admin]

    def is_in_use(self, option: Option, published: Published) -> bool:
        picks = [] if published.is_shareable else [pick for pick in self.picks if pick.published.key == published.key]
        if option.wish.is_admin:
            return any(pick.claim == option.claim for pick in picks)
        if published.key in self.holdings.whole:
            return True
        if published.key in self.holdings.shares and not published.is_shareable:
            return True
        return any(
            self.quirks.admin_takes or not pick.option.wish.is_admin or pick.claim == option.claim for pick in picks
        )

    def has_capacity_left(self, option: Option, published: Published, amounts: Mapping[str, Quantity]) -> bool:
        if not published.is_shareable or (option.wish.is_admin and not self.quirks.admin_takes):
            return True
        consumed = Tally(self.holdings.consumed.get(published.key, {}))
        for pick in self.taking():
            if pick.published.key == published.key:
                for name, amount in pick.amounts.items():
                    consumed[name] += amount.nanos
        return all(
            consumed[name] + amounts[name].nanos <= capacity.value.nanos
            for name, capacity in published.device.capacity.items()
        )

    def may_draw(self, option: Option, published: Published) -> bool:
        """Counters and compatibility groups of the device's pool allow one more to draw."""
        device = published.device
        if not device.consumes_counters or (option.wish.is_admin and not self.quirks.admin_takes):
            return True
        picked = {pick.published.key for pick in self.taking()}
        if published.is_shareable and (published.key in self.holdings.shares or published.key in picked):
            return True
        pool = self.known.pool_of[PoolKey(published.key.driver, published.key.pool)]
        return self.groups_agree(pool, published, picked) and self.counters_suffice(pool, published)

    def groups_agree(self, pool: SeenPool, published: Published, picked: set[DeviceKey]) -> bool:
        in_use = self.holdings.in_use | picked
        for drawn in published.device.consumes_counters:
            others = [
                frozenset(each.compatibility_groups)
                for other in pool.devices
                if other.key in in_use
                for each in other.device.consumes_counters
                if each.counter_set == drawn.counter_set
            ]
            groups = frozenset(drawn.compatibility_groups)
            if others and any(map(bool, [groups, *others])) and not groups.intersection(*others):
                return False
        return True

    def counters_suffice(self, pool: SeenPool, published: Published) -> bool:
        drawn: Tally[tuple[str, str]] = Tally()

        def draw(each: Published) -> None:
            for consumption in each.device.consumes_counters:
                for name, counter in consumption.counters.items():
                    drawn[consumption.counter_set, name] += counter.value.nanos

        for other in pool.devices:
            if other.key in self.holdings.in_use:
                draw(other)
        paid = set(self.holdings.shares)
        for pick in self.taking():
            mine = PoolKey(pick.published.key.driver, pick.published.key.pool) == pool.key
            if mine and not (pick.published.is_shareable and pick.published.key in paid):
                draw(pick.published)
                paid.add(pick.published.key)
        draw(published)
        return all(
            drawn[counter_set.name, name] <= counter.value.nanos
            for counter_set in pool.counter_sets
            for name, counter in counter_set.counters.items()
        )

    def constraint_refuses(self, option: Option, published: Published) -> bool:
        claim = self.world.claims[option.claim]
        return any(
            not self.meets(constraint, option, published)
            for constraint in claim.spec.devices.constraints
            if not constraint.requests or option.wish.is_named_in(constraint.requests)
        )

    def meets(self, constraint: DeviceConstraint, option: Option, published: Published) -> bool:
        covered = [
            self.known.values(constraint, pick.option, pick.published)
            for pick in self.picks
            if pick.claim == option.claim
            and (not constraint.requests or pick.option.wish.is_named_in(constraint.requests))
        ]
        own = self.known.values(constraint, option, published)
        if constraint.match_attribute is not None:
            return bool(own.intersection(*covered))
        return bool(own) and not any(own & other for other in covered)

    # The search.

    def place(self, option: Option, published: Published) -> bool:
        """Take a device unless something is against it. Asks in kube-scheduler's order."""
        amounts = self.known.amounts(option.claim, option.wish, published) if self.accepts(option, published) else None
        if amounts is None or not self.has_capacity_left(option, published, amounts):
            return False
        self.picks.append(Pick(option, published, amounts))
        return True

    def accepts(self, option: Option, published: Published) -> bool:
        if self.is_in_use(option, published):
            return False
        declared = self.world.node.status.declared_features
        if published.source.spec.skip_node_operations and OPTIONAL_NODE_OPERATIONS not in declared:
            return False
        if not self.may_draw(option, published) or not is_tolerated(option.wish, published):
            return False
        if not self.constraint_refuses(option, published):
            return True
        if option.listed is not None:
            subject = self.known.subject(self.world.claims[option.claim], option.wish)
            text = f"cannot add device {published.key} because a claim constraint would not be satisfied"
            refusal = FatalError(f"{subject}: {text}")
            if self.quirks.refusal_is_fatal:
                raise refusal
            self.refusal = self.refusal or refusal
        return False

    def search(self, claim: int, request: int, option: Option | None, count: int, start: int) -> Verdict:
        self.steps += 1
        if self.steps > self.max_steps:
            raise StepsExceededError
        if claim == len(self.known.options):
            return Verdict.FOUND
        if request == len(self.known.options[claim]):
            verdict = self.search(claim + 1, 0, None, 0, 0)
            return Verdict.FOUND if verdict is Verdict.FOUND else Verdict.NOT_FOUND
        options = self.known.options[claim][request]
        if option is None and options[0].is_alternative:
            return self.search_alternatives(claim, request, options)
        return self.search_option(option or options[0], request, count, start)

    def search_option(self, option: Option, request: int, count: int, start: int) -> Verdict:
        claim = option.claim
        if option.listed == ():
            return Verdict.NOT_FOUND
        if count == option.needed:
            return self.search(claim, request + 1, None, 0, 0)
        picked = sum(pick.claim == claim for pick in self.picks)
        if picked + option.needed - count > MAX_DEVICES:
            return Verdict.TOO_MANY
        if option.listed is not None:
            if not self.place(option, option.listed[count]):
                return Verdict.NOT_FOUND
            return self.undo_unless_found(self.search(claim, request, option, count + 1, 0))
        return self.search_devices(option, request, count, start)

    def search_alternatives(self, claim: int, request: int, options: list[Option]) -> Verdict:
        verdicts = []
        for option in options:
            verdicts.append(self.search(claim, request, option, 0, 0))
            if verdicts[-1] is Verdict.FOUND:
                return Verdict.FOUND
        return Verdict.TOO_MANY if all(each is Verdict.TOO_MANY for each in verdicts) else Verdict.NOT_FOUND

    def search_devices(self, option: Option, request: int, count: int, start: int) -> Verdict:
        for index in range(start, len(self.known.devices)):
            published = self.known.devices[index]
            if self.is_in_use(option, published) or not self.known.is_selectable(option.claim, option.wish, published):
                continue
            amounts = self.known.amounts(option.claim, option.wish, published)
            if amounts is None or not self.has_capacity_left(option, published, amounts):
                continue
            if not self.place(option, published):
                continue
            verdict = self.search(option.claim, request, option, count + 1, index + 1)
            if self.undo_unless_found(verdict) is not Verdict.NOT_FOUND:
                return verdict
        return Verdict.NOT_FOUND

    def undo_unless_found(self, verdict: Verdict) -> Verdict:
        if verdict is not Verdict.FOUND:
            self.picks.pop()
        return verdict

    def run(self) -> Answer:
        try:
            self.known.prepare()
            verdict = self.search(0, 0, None, 0, 0)
            if verdict is not Verdict.FOUND and self.refusal is not None:
                raise self.refusal
        except FatalError as error:
            return Answer(Ending.ERROR, message=str(error), steps=self.steps)
        if verdict is not Verdict.FOUND:
            is_invalid = any(pool.state is PoolState.INVALID for pool in self.known.pools)
            return Answer(Ending.INVALID_POOLS if is_invalid else Ending.UNSCHEDULABLE, steps=self.steps)
        picks = tuple(
            tuple((pick.option.wish.reference, pick.published.key) for pick in self.picks if pick.claim == claim)
            for claim in range(len(self.world.claims))
        )
        return Answer(Ending.ALLOCATED, picks, steps=self.steps)


def answer_plainly(world: World, quirks: Quirks = Quirks(), *, max_steps: int = 200_000) -> Answer:
    """What kube-scheduler's search finds. Raises `StepsExceededError` beyond so many steps."""
    return PlainSearch(Preparation(world), quirks, max_steps).run()
