"""Variations of an attempt: fewer requests or constraints, more devices, other holders. What would the answer be?"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from dray.allocator.arena import Arena, Option, Request
from dray.allocator.columns import Column
from dray.allocator.occupancy import Occupancy
from dray.allocator.solve import SearchLimits, Solution, solve

__all__ = ["ConstraintRef", "fits", "tolerating", "with_clones", "with_requests", "without_constraints"]

ConstraintRef = tuple[int, int]
"""A constraint: number of the claim, and number in the claim."""

_LIMITS = SearchLimits(plain_steps=256, max_steps=5_000)


def fits(arena: Arena, occupancy: Occupancy) -> bool:
    """Whether there surely is a solution."""
    return isinstance(solve(arena, occupancy, _LIMITS), Solution)


def with_requests(arena: Arena, kept: Collection[int]) -> Arena:
    """Only some of the requests, given by number."""
    return arena.keeping(sorted(kept))


def without_constraints(arena: Arena, dropped: Collection[ConstraintRef]) -> Arena:
    """All but some of the constraints."""

    def freed(option: Option) -> Option:
        columns = tuple((index, each) for index, each in option.columns if (option.claim, index) not in dropped)
        return replace(option, columns=columns)

    return _with_options(arena, freed)


def tolerating(arena: Arena, inoperable: int) -> Arena:
    """The same if no taint kept anybody away. Places that the node cannot operate stay out."""
    return _with_options(arena, lambda option: replace(option, candidates=option.selected & ~inoperable))


def _with_options(arena: Arena, change: Callable[[Option], Option]) -> Arena:
    return replace(
        arena,
        requests=tuple(Request(each.claim, tuple(map(change, each.options))) for each in arena.requests),
    )


def with_clones(arena: Arena, place: int, count: int) -> Arena:
    """With more devices like the one at a place, which nobody holds and which draw on no counters."""
    added = range(arena.size, arena.size + count)
    mask = sum(1 << each for each in added)

    def widen(places: int) -> int:
        return places | mask if places >> place & 1 else places

    def widened(column: Column) -> Column:
        values = {**column.values, **dict.fromkeys(added, column.values.get(place, 0))}
        places = {value: widen(each) for value, each in column.places.items()}
        return replace(column, values=values, places=places, present=widen(column.present))

    def change(option: Option) -> Option:
        selected = widen(option.selected)
        amounts = dict(option.amounts)
        if place in amounts:
            amounts.update(dict.fromkeys(added, amounts[place]))
        return replace(
            option,
            selected=selected,
            candidates=widen(option.candidates) | (mask if option.selected >> place & 1 else 0),
            need=selected.bit_count() if option.wants_all else option.need,
            columns=tuple((index, widened(column)) for index, column in option.columns),
            amounts=amounts,
        )

    capacities = dict(arena.capacities)
    if place in capacities:
        capacities.update(dict.fromkeys(added, capacities[place]))
    return replace(
        _with_options(arena, change),
        size=arena.size + count,
        shared=widen(arena.shared),
        capacities=capacities,
    )
