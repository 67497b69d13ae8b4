"""A slow witness for the allocator: kube-scheduler's plain search, step by step.

`answer_plainly` runs the published skeleton without any pruning. What does not change during a search (pools, amounts,
tolerations) is read from the definitions of `dray.audit`, which shares nothing with the allocator either.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from dray.api.resource.claim import DeviceConstraint, ResourceClaim
from dray.api.resource.device import DeviceAttribute
from dray.api.resource.request import AllocationMode
from dray.audit.amounts import amount_of, amounts_taken
from dray.audit.constraints import find_attribute
from dray.audit.holdings import find_holdings, held_results
from dray.audit.nodes import is_usable_from, placement
from dray.audit.pools import PoolState, SeenPool, published_devices, see_offer
from dray.audit.wishes import Wish, find_class, is_tolerated, list_wishes
from dray.audit.world import DeviceKey, PoolKey, Published, World
from dray.values.quantity import Quantity
from tests.properties.expressions import Fault, derive, judge

__all__ = ["Answer", "Ending", "Quirks", "StepsExceededError", "answer_plainly"]

MAX_DEVICES = 32
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


class FatalError(Exception):
    """The attempt ends here."""


class StepsExceededError(Exception):
    """The plain search takes longer than a test wants to wait."""


class Verdict(Enum):
    FOUND = auto()
    NOT_FOUND = auto()
    TOO_MANY = auto()


@dataclass(frozen=True)
class Option:
    """One exact request or alternative: how many devices, and which if all."""

    claim: int
    wish: Wish
    needed: int
    listed: tuple[Published, ...] | None

    @property
    def is_alternative(self) -> bool:
        return self.wish.reference != self.wish.request


@dataclass(frozen=True)
class Pick:
    option: Option
    published: Published
    amounts: Mapping[str, Quantity]

    @property
    def claim(self) -> int:
        return self.option.claim


def name_claim(claim: ResourceClaim) -> str:
    metadata = claim.metadata
    return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


def values_of(attribute: DeviceAttribute | None) -> frozenset[tuple[str, object]]:
    """A value with its kind, a list as the set of its elements."""
    if attribute is None:
        return frozenset()
    for kind in ("int", "bool", "string", "version"):
        several = getattr(attribute, f"{kind}s")
        if several is not None:
            return frozenset((kind, value) for value in several)
        single = getattr(attribute, kind)
        if single is not None:
            return frozenset([(kind, single)])
    return frozenset()


@dataclass
class PlainSearch:
    """One attempt. State is recomputed from the picks at every step: slow, and hard to get wrong."""

    world: World
    quirks: Quirks
    max_steps: int
    steps: int = 0
    picks: list[Pick] = field(default_factory=list)
    refusal: FatalError | None = None
    options: list[list[list[Option]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.holdings = find_holdings(held_results(self.world.allocated))
        self.pools = sorted(see_offer(self.world.slices, self.world.node).pools, key=_search_order)
        usable = [pool for pool in self.pools if pool.state is PoolState.USABLE]
        self.devices = [published for pool in usable for published in published_devices(pool.here)]
        self.pool_of = {pool.key: pool for pool in usable}
        self.verdicts: dict[tuple[int, str, DeviceKey], bool] = {}

    # Before the search: requests in order, each validated and sized.

    def prepare(self) -> None:
        for number, claim in enumerate(self.world.claims):
            requests = [
                [self.prepare_option(number, claim, wish) for wish in list_wishes(request)]
                for request in claim.spec.devices.requests or ()
            ]
            least = sum(min(option.needed for option in options) for options in requests)
            if least > MAX_DEVICES:
                text = f"number of requested devices {least} exceeds the claim limit of {MAX_DEVICES}"
                raise FatalError(f"claim {name_claim(claim)}: {text}")
            for index, constraint in enumerate(claim.spec.devices.constraints):
                if constraint.match_attribute is None and constraint.distinct_attribute is None:
                    text = f"constraint #{index}: empty constraint (unsupported constraint type?)"
                    raise FatalError(f"claim {name_claim(claim)}, {text}")
            self.options.append(requests)

    def prepare_option(self, number: int, claim: ResourceClaim, wish: Wish) -> Option:
        subject = self.subject(claim, wish)
        terms = wish.terms
        for index, selector in enumerate(terms.selectors):
            if selector.cel is None:
                raise FatalError(f"{subject}: selector #{index}: CEL expression empty (unsupported selector type?)")
        if not terms.device_class_name:
            raise FatalError(f"{subject}: missing device class name (unsupported request type?)")
        if find_class(self.world, wish) is None:
            text = f'deviceclass.resource.k8s.io "{terms.device_class_name}" not found'
            raise FatalError(f"{subject}: could not retrieve device class {terms.device_class_name}: {text}")
        if terms.allocation_mode == AllocationMode.EXACT_COUNT:
            return Option(number, wish, terms.count, None)
        if terms.allocation_mode != AllocationMode.ALL:
            raise FatalError(f"{subject}: unsupported count mode {terms.allocation_mode}")
        listed: list[Published] = []
        for pool in self.pools:
            if pool.state is not PoolState.USABLE:
                state = "invalid" if pool.state is PoolState.INVALID else "being updated"
                text = f"asks for all devices, but resource pool {pool.key} is currently {state}"
                raise FatalError(f"{subject}: {text}")
            listed += [
                published
                for published in published_devices(pool.here)
                if self.is_selectable(number, wish, published) and self.amounts(number, wish, published, brief=True)
            ]
        return Option(number, wish, len(listed), tuple(listed))

    def subject(self, claim: ResourceClaim, wish: Wish) -> str:
        own_name = wish.reference.removeprefix(f"{wish.request}/")
        return f"claim {name_claim(claim)}, request {own_name}"

    # What a device is to a request, whoever else has what.

    def is_selectable(self, number: int, wish: Wish, published: Published) -> bool:
        key = (number, wish.reference, published.key)
        if key not in self.verdicts:
            self.verdicts[key] = self.evaluate(number, wish, published)
        return self.verdicts[key]

    def evaluate(self, number: int, wish: Wish, published: Published) -> bool:
        device_class = find_class(self.world, wish)
        assert device_class is not None
        of_class = f"class {device_class.metadata.name}"
        of_claim = f"claim {name_claim(self.world.claims[number])}"
        for owner, selectors in ((of_class, device_class.spec.selectors), (of_claim, wish.terms.selectors)):
            for index, selector in enumerate(selectors):
                assert selector.cel is not None
                verdict = judge(selector.cel.expression, published.key.driver, published.device)
                if isinstance(verdict, Fault):
                    where = "" if verdict.is_compile_error else f" on device {published.key}"
                    kind = "compile" if verdict.is_compile_error else "runtime"
                    raise FatalError(f"{owner}: selector #{index}{where}: CEL {kind} error: {verdict.detail}")
                if not verdict:
                    return False
        if not published.source.spec.per_device_node_selection:
            return True
        return is_usable_from(placement(published), self.world.node)

    def amounts(
        self, number: int, wish: Wish, published: Published, *, brief: bool = False
    ) -> Mapping[str, Quantity] | None:
        """What is taken of each capacity, with an entry for the device itself; None if it can never serve the wish."""
        capacity = published.device.capacity
        requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
        if not requested.keys() <= capacity.keys():
            return None
        for name in capacity:
            if amount_of(capacity[name], requested.get(name)) is None:
                device = published.key.name if brief else str(published.key)
                subject = self.subject(self.world.claims[number], wish)
                raise FatalError(f'{subject}: checking capacity for device {device}: capacity "{name}": ')
        amounts = amounts_taken(published.device, requested)
        return None if amounts is None else {"": Quantity.of(0), **amounts}

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
        pool = self.pool_of[PoolKey(published.key.driver, published.key.pool)]
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
            self.values(constraint, pick.option, pick.published)
            for pick in self.picks
            if pick.claim == option.claim
            and (not constraint.requests or pick.option.wish.is_named_in(constraint.requests))
        ]
        own = self.values(constraint, option, published)
        if constraint.match_attribute is not None:
            return bool(own.intersection(*covered))
        return bool(own) and not any(own & other for other in covered)

    def values(
        self, constraint: DeviceConstraint, option: Option, published: Published
    ) -> frozenset[tuple[str, object]]:
        name = constraint.match_attribute
        name = name if name is not None else constraint.distinct_attribute
        assert name is not None
        for derived in option.wish.terms.derived_attributes:
            if derived.name == name:
                value = derive(derived.expression, published.key.driver, published.device)
                if isinstance(value, Fault):
                    subject = self.subject(self.world.claims[option.claim], option.wish)
                    where = "" if value.is_compile_error else f" on device {published.key}"
                    verb = "compile" if value.is_compile_error else "evaluate"
                    raise FatalError(f"{subject}: {verb} derived attribute {name}{where} failed: {value.detail}")
                return values_of(value)
        return values_of(find_attribute(published, name))

    # The search.

    def place(self, option: Option, published: Published) -> bool:
        """Take a device unless something is against it. Asks in kube-scheduler's order."""
        amounts = self.amounts(option.claim, option.wish, published) if self.accepts(option, published) else None
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
            subject = self.subject(self.world.claims[option.claim], option.wish)
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
        if claim == len(self.options):
            return Verdict.FOUND
        if request == len(self.options[claim]):
            verdict = self.search(claim + 1, 0, None, 0, 0)
            return Verdict.FOUND if verdict is Verdict.FOUND else Verdict.NOT_FOUND
        options = self.options[claim][request]
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
        for index in range(start, len(self.devices)):
            published = self.devices[index]
            if self.is_in_use(option, published) or not self.is_selectable(option.claim, option.wish, published):
                continue
            amounts = self.amounts(option.claim, option.wish, published)
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
            self.prepare()
            verdict = self.search(0, 0, None, 0, 0)
            if verdict is not Verdict.FOUND and self.refusal is not None:
                raise self.refusal
        except FatalError as error:
            return Answer(Ending.ERROR, message=str(error), steps=self.steps)
        if verdict is not Verdict.FOUND:
            is_invalid = any(pool.state is PoolState.INVALID for pool in self.pools)
            return Answer(Ending.INVALID_POOLS if is_invalid else Ending.UNSCHEDULABLE, steps=self.steps)
        picks = tuple(
            tuple((pick.option.wish.reference, pick.published.key) for pick in self.picks if pick.claim == claim)
            for claim in range(len(self.world.claims))
        )
        return Answer(Ending.ALLOCATED, picks, steps=self.steps)


def _search_order(pool: SeenPool) -> tuple[bool, PoolKey]:
    has_conditions = any(published.device.binding_conditions for published in published_devices(pool.here))
    return pool.state is PoolState.USABLE and has_conditions, pool.key


def answer_plainly(world: World, quirks: Quirks = Quirks(), *, max_steps: int = 200_000) -> Answer:
    """What kube-scheduler's search finds. Raises `StepsExceededError` beyond so many steps."""
    return PlainSearch(world, quirks, max_steps).run()
