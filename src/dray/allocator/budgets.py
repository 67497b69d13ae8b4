"""Bounds from amounts: the cheapest ways to serve all requests together must be within what is left.

Counters are added up over a pool with weights. Whatever the weights, what is taken of the sum cannot exceed what is
left of it: by name over all cards of a pool, which sees through fragments of one counter, and all counters of a pool,
each counted as a share of its total, which sees through partitions that draw on different ones.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dray.allocator.arena import Arena, Option
from dray.allocator.bits import bits
from dray.allocator.capacity import CapacityRule
from dray.allocator.counterbook import CounterBook
from dray.allocator.counters import CounterRule
from dray.allocator.prospect import Prospect

__all__ = ["CounterBound", "has_room"]

_WHOLE = 1 << 64
"""The weight of a counter's total in a sum of shares. Rounding a weight down keeps a bound a bound."""


@dataclass(frozen=True, slots=True, eq=False)
class _Sum:
    """A weighted sum of counters: weights by counter, and drawing places by what they draw of it, ascending."""

    weights: tuple[tuple[int, int], ...]
    by_cost: tuple[tuple[int, int], ...]
    drawing: int

    def cheapest(self, places: int, number: int) -> int:
        """The least that any `number` of the places draw."""
        number -= (places & ~self.drawing).bit_count()
        cost = 0
        for each, drawing in self.by_cost:
            if number <= 0:
                break
            there = min(number, (places & drawing).bit_count())
            cost += there * each
            number -= there
        return cost

    def affordable(self, cost: int) -> int:
        """Places that draw at most `cost`."""
        dear = 0
        for each, drawing in self.by_cost:
            if each > cost:
                dear |= drawing
        return ~dear


class CounterBound:
    """Holds the counters left against the cheapest draws of all requests."""

    def __init__(self, arena: Arena, book: CounterBook) -> None:
        self._sums = [_weigh(book, arena.shared, weights) for weights in _weightings(book)]

    def narrow(self, rule: CounterRule, prospect: Prospect) -> bool:
        """Leave the current option what the others can spare; False if there is not enough for all."""
        (own, need), *others = prospect.wants()
        kept = prospect.live[prospect.current.number]
        for each in self._sums:
            left = sum(weight * rule.remaining[counter] for counter, weight in each.weights)
            spent = sum(each.cheapest(places, number) for places, number in others)
            if 0 < spent + each.cheapest(own, need) > left:
                return False
            if need:
                kept &= each.affordable(max(left - spent - each.cheapest(own, need - 1), 0))
        prospect.settle(prospect.current, kept)
        return not prospect.is_lost()


def has_room(rule: CapacityRule, prospect: Prospect) -> bool:
    """Whether shared devices have enough left of every capacity: as a sum, and in pieces of the smallest share.

    Only requests that have nothing but shared devices to choose from count. All of them may use the same device.
    """
    bound: list[list[Option]] = []
    everywhere = 0
    for options in prospect.requests:
        alive = [option for option in options if option.number in prospect.live]
        union = 0
        for option in alive:
            union |= prospect.live[option.number]
        if not options[0].is_admin and not union & ~prospect.shared:
            bound.append(alive)
            everywhere |= union
    names = {name for place in bits(everywhere) for name in rule.free[place]}
    return all(_suffices(name, rule, bound, everywhere, prospect) for name in sorted(names))


def _suffices(name: str, rule: CapacityRule, bound: list[list[Option]], everywhere: int, prospect: Prospect) -> bool:
    total = shares = 0
    smallest: int | None = None
    for options in bound:
        least = min(
            (option.amounts[place].get(name, 0) for option in options for place in bits(prospect.live[option.number])),
            default=0,
        )
        if least > 0:
            need = min(prospect.needs[option.number] for option in options)
            total += need * least
            shares += need
            smallest = least if smallest is None else min(smallest, least)
    if smallest is None:
        return True
    free = [rule.free[place].get(name, 0) for place in bits(everywhere)]
    return total <= sum(free) and shares <= sum(each // smallest for each in free)


def _weightings(book: CounterBook) -> Iterable[tuple[tuple[int, int], ...]]:
    """Sums worth looking at: each name over the sets of a pool, and shares of all counters of a pool."""
    for counters in book.pools.values():
        by_name: dict[str, list[int]] = {}
        for counter in counters:
            by_name.setdefault(book.names[counter][2], []).append(counter)
        for same in by_name.values():
            yield tuple((counter, 1) for counter in same)
        if len(counters) > 1:
            yield tuple((counter, _WHOLE // book.totals[counter]) for counter in counters if book.totals[counter] > 0)


def _weigh(book: CounterBook, shared: int, weights: tuple[tuple[int, int], ...]) -> _Sum:
    weight_of = dict(weights)
    places_by_cost: dict[int, int] = {}
    drawing = 0
    for place, draw in book.draws.items():
        # A shared device draws once for all its shares, so it may cost the next request nothing.
        if shared >> place & 1:
            continue
        cost = sum(weight_of.get(counter, 0) * amount for counter, amount in draw.amounts)
        if cost > 0:
            places_by_cost[cost] = places_by_cost.get(cost, 0) | 1 << place
            drawing |= 1 << place
    return _Sum(weights, tuple(sorted(places_by_cost.items())), drawing)
