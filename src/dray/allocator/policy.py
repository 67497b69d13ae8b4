"""Which of several solutions to prefer, as values: the order in which devices are tried.

`first-fit` is kube-scheduler's order, by name of pool and slice and as the driver lists devices. `pack` leaves as
much as possible whole: partitions go where they spoil least, devices to the group (by PCIe root, or by what the
claims match) that they fill best, shares to the fullest device. `spread` is its opposite: each device from the
emptiest group. `cel:<expression>` takes devices by score, highest first. Whatever the policy, a solution is found if
there is one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from dray.allocator.arena import Arena
from dray.allocator.bits import bits
from dray.allocator.columns import find_attribute
from dray.allocator.counterbook import CounterBook
from dray.allocator.expressions import ExpressionFault
from dray.allocator.matching import Matcher
from dray.allocator.occupancy import Occupancy
from dray.allocator.outcome import Failed, FailureCode
from dray.allocator.view import NodeView
from dray.values.names import byte_length

__all__ = [
    "FIRST_FIT",
    "MAX_EXPRESSION_BYTES",
    "PACK",
    "SPREAD",
    "BuiltIn",
    "ByScore",
    "Policy",
    "format_policy",
    "order_places",
    "parse_policy",
]

_PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
_SCORE = "cel:"
_WHOLE = 1 << 32

MAX_EXPRESSION_BYTES = 10 * 1024
"""Of the expression of a policy, as of a selector: compiling takes long where texts are long."""


class BuiltIn(StrEnum):
    """Policies that need no expression."""

    FIRST_FIT = "first-fit"
    PACK = "pack"
    SPREAD = "spread"


@dataclass(frozen=True, slots=True)
class ByScore:
    """Devices by the value of an expression over `device`, an int; highest first, equal ones in first-fit order."""

    expression: str


Policy: TypeAlias = BuiltIn | ByScore

FIRST_FIT, PACK, SPREAD = BuiltIn.FIRST_FIT, BuiltIn.PACK, BuiltIn.SPREAD


def parse_policy(text: str) -> Policy:
    """Read a policy as an annotation writes it. Raises ValueError, with the names there are.

    An expression may be as long as a selector; whether it can be computed is seen when devices are ordered by it.
    """
    if text.startswith(_SCORE):
        expression = text.removeprefix(_SCORE)
        if byte_length(expression) > MAX_EXPRESSION_BYTES:
            raise ValueError(f"the expression of a policy may not be more than {MAX_EXPRESSION_BYTES} bytes")
        return ByScore(expression)
    try:
        return BuiltIn(text)
    except ValueError:
        raise ValueError(f"{text!r} is no policy: use {', '.join(BuiltIn)} or cel:<expression>") from None


def format_policy(policy: Policy) -> str:
    """Write a policy as an annotation does."""
    return f"{_SCORE}{policy.expression}" if isinstance(policy, ByScore) else policy.value


def order_places(
    policy: Policy, view: NodeView, arena: Arena, occupancy: Occupancy, matcher: Matcher
) -> list[int] | Failed:
    """All places of an arena, preferred ones first. Fails if a score cannot be computed for a candidate."""
    if isinstance(policy, ByScore):
        return _by_score(policy, view, arena, matcher)
    if policy is BuiltIn.FIRST_FIT:
        return list(range(arena.size))
    waste = _Waste(arena.counters, occupancy)
    fullness = {place: _fullness(place, arena, occupancy) for place in bits(arena.shared)}
    groups = _Groups(view, arena, occupancy)
    if policy is BuiltIn.PACK:
        return _sorted(
            arena.size, lambda place: (waste.of(place), -fullness.get(place, 0), *groups.snugness(place), place)
        )
    return _sorted(arena.size, lambda place: (fullness.get(place, 0), -waste.of(place), *groups.turn(place), place))


def _sorted(size: int, key: Callable[[int], tuple[int, ...]]) -> list[int]:
    return sorted(range(size), key=key)


def _by_score(policy: ByScore, view: NodeView, arena: Arena, matcher: Matcher) -> list[int] | Failed:
    score = matcher.score(policy.expression)
    wanted = 0
    for option in arena.options:
        wanted |= option.candidates
    scores = dict.fromkeys(range(arena.size), 0)
    for place in bits(wanted):
        try:
            scores[place] = score.score(view.slice_at(place).pool.driver, view.devices[place])
        except ExpressionFault as fault:
            subject = "" if fault.is_compile_error else f" on device {view.device_id(place)}"
            return Failed(FailureCode.POLICY_FAILED, f"allocation policy{subject}: {fault}")
    return _sorted(arena.size, lambda place: (-scores[place], place))


def _fullness(place: int, arena: Arena, occupancy: Occupancy) -> int:
    """How much of a shared device is consumed, by its scarcest capacity; 0 only if nobody has a share."""
    used = occupancy.consumed.get(place)
    if used is None:
        return 0
    parts = [used.get(name, 0) * _WHOLE // total for name, total in arena.capacities[place].items() if total > 0]
    return 1 + max(parts, default=0)


class _Waste:
    """How much of what could still be taken would be spoilt by taking a partition.

    Measured in what those partitions draw, so that spoiling a whole card weighs more than spoiling a half.
    """

    def __init__(self, book: CounterBook | None, occupancy: Occupancy) -> None:
        self._book = book
        self._left = occupancy.remaining
        self._known: dict[int, int] = {}
        self._by_set: dict[int, list[int]] = {}
        if book is not None:
            for place, draw in book.draws.items():
                if not occupancy.taken >> place & 1 and all(amount <= self._left[c] for c, amount in draw.amounts):
                    for number, _ in draw.groups:
                        self._by_set.setdefault(number, []).append(place)

    def of(self, place: int) -> int:
        """What is spoilt by taking the device at a place, itself included; 0 for devices that draw on nothing."""
        if self._book is None or place not in self._book.draws:
            return 0
        known = self._known.get(place)
        if known is None:
            known = self._known[place] = self._measure(self._book, place)
        return known

    def _measure(self, book: CounterBook, place: int) -> int:
        drawn = dict(book.draws[place].amounts)
        neighbours = {each for number, _ in book.draws[place].groups for each in self._by_set.get(number, ())}
        return sum(
            self._weight(book, each)
            for each in neighbours
            if any(amount > self._left[c] - drawn.get(c, 0) for c, amount in book.draws[each].amounts)
        )

    def _weight(self, book: CounterBook, place: int) -> int:
        return sum(
            amount * _WHOLE // book.totals[counter]
            for counter, amount in book.draws[place].amounts
            if book.totals[counter] > 0
        )


class _Groups:
    """Devices by what they are attached to, and how many of each group are free."""

    def __init__(self, view: NodeView, arena: Arena, occupancy: Occupancy) -> None:
        names = {_PCIE_ROOT: None}
        names.update((c.attribute, None) for claim in arena.constraints for c in claim if not c.is_distinct)
        self._need = max((option.need for option in arena.options), default=1)
        self._group: dict[int, object] = {}
        self._turn: dict[int, int] = {}
        free: Counter[object] = Counter()
        for place in range(arena.size):
            pool = view.slice_at(place).pool
            values = tuple(find_attribute(name, pool.driver, view.devices[place]) for name in names)
            group = self._group[place] = (pool.driver, values) if any(values) else (pool.driver, place)
            if not occupancy.taken >> place & 1:
                self._turn[place] = free[group]
                free[group] += 1
        self._free = free

    def snugness(self, place: int) -> tuple[int, int]:
        """Small if the group has just enough free devices for the largest request; groups with too few come last."""
        free = self._free[self._group[place]]
        return (0, free) if free >= self._need else (1, -free)

    def turn(self, place: int) -> tuple[int, int]:
        """Small for the first devices of their group, and for groups with many free."""
        return self._turn.get(place, 0), -self._free[self._group[place]]
