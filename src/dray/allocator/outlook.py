"""What lies ahead: whether the requests that follow can still be served, and which devices the current one may take.

Every bound is a necessary condition for a solution, so what it takes away leads nowhere. Bounds judge the state of the rules
as it is: what is left for each request by itself, then the constraints of each claim, amounts, and devices for all
requests at once. What a choice would do to the rules is for the search to find out.

Nothing beyond the horizon is looked at: the next request during which an attempt can fail as a whole. A branch that is cut
because of what follows such a request might have come to that failure first, and then it has to be reported.
"""

from __future__ import annotations

from dray.allocator.alignment import align, has_distinct_values
from dray.allocator.arena import Arena, Option
from dray.allocator.budgets import CapacityBound, CounterBound
from dray.allocator.constraints import DistinctRule, MatchRule
from dray.allocator.prospect import Prospect
from dray.allocator.rules import Rule
from dray.allocator.saturation import assign
from dray.allocator.search import Search

__all__ = ["Outlook"]


class Outlook:
    """Judges the state of a search."""

    def __init__(self, arena: Arena, counters: CounterBound | None, capacity: CapacityBound | None) -> None:
        self._arena = arena
        self._counters = counters
        self._capacity = capacity
        self._ends = _horizons(arena)

    def narrow(self, search: Search, option: Option, count: int, open_: int) -> int:
        """Those of the open places that the option may take, as far as can be told; 0 if no solution lies ahead."""
        prospect = self._survey(search, option, count, open_)
        if prospect.is_lost() or not self._claims_hold(search, prospect):
            return 0
        if self._capacity is not None and not self._capacity.holds(prospect):
            return 0
        if self._counters is not None and not self._counters.narrow(prospect):
            return 0
        return _fair_share(prospect)

    def _survey(self, search: Search, option: Option, count: int, open_: int) -> Prospect:
        """Look at each request up to the horizon by itself."""
        prospect = Prospect(self._arena.shared)
        prospect.needs[option.number] = option.need - count
        prospect.settle(option, open_)
        prospect.requests.append((option,))
        for request in self._arena.requests[option.request + 1 : self._ends[option.request]]:
            for each in request.options:
                left = each.candidates & ~search.shut(each)
                # To want all of nothing fails.
                prospect.needs[each.number] = max(each.need, 1) if each.wants_all else each.need
                prospect.settle(each, left)
            prospect.requests.append(request.options)
        return prospect

    def _claims_hold(self, search: Search, prospect: Prospect) -> bool:
        """Hold the constraints of each claim against its requests together, until nothing changes any more."""
        for claim, requests in prospect.claims().items():
            rules = search.constraints[claim]
            before: dict[int, int] = {}
            while rules and before != prospect.live:
                before = dict(prospect.live)
                if not all(_holds(rule, requests, prospect) for rule in rules):
                    return False
                if len(rules) == 1:
                    break
        return True


def _horizons(arena: Arena) -> list[int]:
    """For each request the next one during which an attempt can fail, or the end."""
    ends: list[int] = []
    end = len(arena.requests)
    for number in range(len(arena.requests) - 1, -1, -1):
        ends.append(end)
        if any(option.can_fail for option in arena.requests[number].options):
            end = number
    return ends[::-1]


def _holds(rule: Rule, requests: list[tuple[Option, ...]], prospect: Prospect) -> bool:
    if isinstance(rule, MatchRule):
        return align(rule, requests, prospect)
    return not isinstance(rule, DistinctRule) or has_distinct_values(rule, requests, prospect)


def _fair_share(prospect: Prospect) -> int:
    """Leave the current option only devices without which all requests can still be served; 0 if they cannot be."""
    current = prospect.live[prospect.current.number]
    wants = prospect.wants()
    total = sum(number for _, number in wants)
    if all(places.bit_count() >= total for places, number in wants if number):
        return current
    assignment = assign([places for places, _ in wants], [number for _, number in wants])
    if assignment is None:
        return 0
    return current & (prospect.shared | assignment.obtainable(0)) if wants[0][1] else current
