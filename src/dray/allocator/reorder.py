"""The same problem with devices in another order: what comes first is tried first.

The search finds the first solution in the order of places. A policy that prefers some devices to others therefore needs
nothing but a new numbering, and stays complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from dray.allocator.arena import Arena, Option, Request
from dray.allocator.bits import bits
from dray.allocator.columns import Column
from dray.allocator.complaints import Complaint
from dray.allocator.counterbook import CounterBook
from dray.allocator.occupancy import Occupancy
from dray.allocator.search import Pick
from dray.allocator.solve import DEFAULT_LIMITS, SearchLimits, Solution, Solved, Unsolved, solve

__all__ = ["solve_in_order"]

_T = TypeVar("_T")


def solve_in_order(
    arena: Arena, occupancy: Occupancy, order: Sequence[int], limits: SearchLimits = DEFAULT_LIMITS
) -> Solved:
    """Find the solution that comes first if places are tried in `order`, which has every place once."""
    renumbering = _Renumbering(order)
    solved = solve(renumbering.arena(arena), renumbering.occupancy(occupancy), limits)
    back = {option.number: option for option in arena.options}
    if isinstance(solved, Solution):
        return Solution(tuple(Pick(back[pick.option.number], order[pick.place]) for pick in solved.picks), solved.steps)
    if isinstance(solved, Unsolved) and solved.complaint is not None and solved.complaint.place is not None:
        return Unsolved(solved.steps, replace(solved.complaint, place=order[solved.complaint.place]))
    return solved


class _Renumbering:
    """Gives the place `order[i]` the number `i`."""

    def __init__(self, order: Sequence[int]) -> None:
        self._rank = {place: rank for rank, place in enumerate(order)}
        self._columns: dict[int, Column] = {}

    def _mask(self, places: int) -> int:
        return sum(1 << self._rank[place] for place in bits(places))

    def _keys(self, by_place: Mapping[int, _T]) -> dict[int, _T]:
        return {self._rank[place]: value for place, value in by_place.items()}

    def _complaints(self, by_place: Mapping[int, Complaint]) -> dict[int, Complaint]:
        return {
            self._rank[place]: each if each.place is None else replace(each, place=self._rank[each.place])
            for place, each in by_place.items()
        }

    def occupancy(self, occupancy: Occupancy) -> Occupancy:
        return replace(occupancy, taken=self._mask(occupancy.taken), consumed=self._keys(occupancy.consumed))

    def arena(self, arena: Arena) -> Arena:
        requests = [Request(request.claim, tuple(map(self._option, request.options))) for request in arena.requests]
        return replace(
            arena,
            requests=tuple(requests),
            shared=self._mask(arena.shared),
            capacities=self._keys(arena.capacities),
            counters=None if arena.counters is None else self._book(arena.counters),
        )

    def _book(self, book: CounterBook) -> CounterBook:
        drawers = {pool: self._mask(places) for pool, places in book.drawers.items()}
        return replace(book, draws=self._keys(book.draws), drawers=drawers)

    def _option(self, option: Option) -> Option:
        return replace(
            option,
            selected=self._mask(option.selected),
            candidates=self._mask(option.candidates),
            faults=self._complaints(option.faults),
            fault_mask=self._mask(option.fault_mask),
            amounts=self._keys(option.amounts),
            columns=tuple((index, self._column(column)) for index, column in option.columns),
            derivation_faults=self._complaints(option.derivation_faults),
        )

    def _column(self, column: Column) -> Column:
        known = self._columns.get(id(column))
        if known is None:
            known = self._columns[id(column)] = replace(
                column,
                values=self._keys(column.values),
                places={value: self._mask(places) for value, places in column.places.items()},
                present=self._mask(column.present),
                faults=self._complaints(column.faults),
            )
        return known
