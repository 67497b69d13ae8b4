"""Whether what remains can be served at all, found out in the order that shows it soonest.

The search has to look at requests in their own order, because the first solution in that order counts. Whether there is
a solution does not depend on the order: the choosiest first, dead ends show early. So a state is probed before the
search descends into it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from dray.allocator.arena import Arena, Request
from dray.allocator.mixing import Mixing
from dray.allocator.occupancy import Occupancy
from dray.allocator.requests import MAX_DEVICES
from dray.allocator.search import BudgetSpent, Search, Verdict

__all__ = ["Prober"]

_PROBE_STEPS = 500
"""Steps of one probe. One that takes longer says nothing."""

_FUTILE_PROBES = 4
"""Probes that say nothing before there are no more of them."""

NewSearch: TypeAlias = Callable[[Arena, Occupancy, int], Search]
"""Makes a guided search that does not probe, with a budget."""


class Prober:
    """Probes states of one search. Exclusive devices only: who shares or administers is not looked at."""

    def __init__(self, arena: Arena, occupancy: Occupancy, new_search: NewSearch) -> None:
        self._arena = arena
        self._occupancy = occupancy
        self._new_search = new_search
        self._suffixes: dict[int, Arena] = {}
        self._futile = 0
        book = arena.counters
        self._mixing = None if book is None else Mixing(arena, book)
        self._is_able = not (book is not None and book.has_groups) and not any(
            option.is_admin or option.can_fail for option in arena.options
        )
        self._is_bound = [
            any(option.columns for option in arena.options if option.claim == claim)
            for claim in range(len(arena.constraints))
        ]

    def is_hopeless(self, search: Search, request: int) -> bool:
        """Whether this request and those after it surely cannot be served any more. Adds its steps to the search's."""
        claim = self._arena.requests[request].claim
        if not self._is_able or (search.picked[claim] and self._is_bound[claim]):
            return False
        occupancy = self._occupancy_now(search)
        if occupancy is None:
            return False
        verdict = self._mixing.judge(request, occupancy) if self._mixing is not None else None
        if verdict is not None:
            return not verdict
        probe = self._new_search(self._suffix(request), occupancy, _PROBE_STEPS)
        try:
            return probe.run() is Verdict.FAILED
        except BudgetSpent:
            self._futile += 1
            self._is_able = self._futile < _FUTILE_PROBES
            return False
        finally:
            search.steps += probe.steps

    def _occupancy_now(self, search: Search) -> Occupancy | None:
        """What is taken after the picks of the search; None if some of it is shared."""
        book = self._arena.counters
        taken = self._occupancy.taken
        remaining = list(self._occupancy.remaining)
        for pick in search.picks:
            if self._arena.shared >> pick.place & 1:
                return None
            taken |= 1 << pick.place
            draw = book.draws.get(pick.place) if book is not None else None
            for counter, amount in draw.amounts if draw is not None else ():
                remaining[counter] -= amount
        return Occupancy(taken, self._occupancy.consumed, tuple(remaining), self._occupancy.groups)

    def _suffix(self, request: int) -> Arena:
        """The requests that remain, the choosiest first. Claims with constraints stay together."""
        known = self._suffixes.get(request)
        if known is None:
            units: dict[int, list[int]] = {}
            for number in range(request, len(self._arena.requests)):
                claim = self._arena.requests[number].claim
                is_together = self._is_bound[claim] or self._may_be_too_many(claim)
                units.setdefault(-claim - 1 if is_together else number, []).append(number)
            ordered = sorted(units.values(), key=lambda unit: min(map(self._choice, unit)))
            known = self._suffixes[request] = self._arena.keeping([number for unit in ordered for number in unit])
        return known

    def _choice(self, number: int) -> float:
        """Devices to choose from for each that is needed."""
        request = self._arena.requests[number]
        return sum(option.candidates.bit_count() for option in request.options) / max(request.least, 1)

    def _may_be_too_many(self, claim: int) -> bool:
        mine = [request for request in self._arena.requests if request.claim == claim]
        return sum(map(_most, mine)) > MAX_DEVICES


def _most(request: Request) -> int:
    return max((option.need for option in request.options), default=0)
