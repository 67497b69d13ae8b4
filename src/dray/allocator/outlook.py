"""What lies ahead: whether the requests that follow can still be served, and which devices the current one may take.

Every bound is a necessary condition for a solution, so what it takes away leads nowhere. Bounds judge the state of
the rules as it is: what is left for each request by itself, then the constraints of each claim, amounts, and devices
for all requests at once. What a choice would do to the rules is for the search to find out.

Nothing beyond the horizon is looked at: the next request during which an attempt can fail as a whole. A branch that
is cut because of what follows such a request might have come to that failure first, and then it has to be reported.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from dray.allocator.alignment import align, can_serve, has_distinct_values
from dray.allocator.arena import Arena, Option
from dray.allocator.budgets import CounterBound, has_room
from dray.allocator.capacity import CapacityRule
from dray.allocator.constraints import DistinctRule, MatchRule
from dray.allocator.counters import CounterRule
from dray.allocator.interning import Interner
from dray.allocator.prospect import Prospect
from dray.allocator.rules import Rule
from dray.allocator.saturation import assign
from dray.allocator.search import Search

__all__ = ["Outlook"]


class Outlook:
    """Judges the state of a search."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._counters = None if arena.counters is None else CounterBound(arena, arena.counters)
        self._ends = _horizons(arena)
        self._fresh = [_fresh(option) for option in arena.options]
        self._claim_kinds = _claim_kinds(arena)

    def narrow(self, search: Search, option: Option, count: int, open_: int) -> int:
        """Those of the open places that the option may take, as far as can be told; 0 if no solution lies ahead."""
        prospect = self._survey(search, option, count, open_)
        if prospect.is_lost() or not self._claims_hold(search, prospect):
            return 0
        if not all(self._has_enough(rule, prospect) for rule in search.rules):
            return 0
        return _fair_share(prospect)

    def _has_enough(self, rule: Rule, prospect: Prospect) -> bool:
        """Hold amounts against all requests together."""
        if isinstance(rule, CounterRule) and self._counters is not None:
            return self._counters.narrow(rule, prospect)
        return not isinstance(rule, CapacityRule) or has_room(rule, prospect)

    def _survey(self, search: Search, option: Option, count: int, open_: int) -> Prospect:
        """Look at each request up to the horizon by itself."""
        prospect = Prospect(self._arena.shared)
        prospect.needs[option.number] = option.need - count
        prospect.settle(option, open_)
        prospect.requests.append((option,))
        shut: dict[tuple[bool, int], int] = {}
        for request in self._arena.requests[option.request + 1 : self._ends[option.request]]:
            for each in request.options:
                # To want all of nothing fails.
                prospect.needs[each.number] = max(each.need, 1) if each.wants_all else each.need
                if each.claim == option.claim:
                    prospect.settle(each, each.candidates & ~search.shut(each))
                    continue
                # Claims to come have picked nothing yet: rules see them alike, but for the amounts they take.
                key = (each.is_admin, each.number if each.amounts else -1)
                if key not in shut:
                    shut[key] = search.shut_by_rules(each)
                prospect.settle(each, self._fresh[each.number] & ~shut[key])
            prospect.requests.append(request.options)
        return prospect

    def _claims_hold(self, search: Search, prospect: Prospect) -> bool:
        """Hold the constraints of each claim against its requests together, equal claims together at once."""
        equal: dict[Hashable, list[list[tuple[Option, ...]]]] = {}
        first = prospect.current.claim
        for claim, requests in prospect.claims().items():
            if search.constraints[claim]:
                state = tuple(prospect.live.get(option.number) for options in requests for option in options)
                key = (claim == first, self._claim_kinds[claim], state)
                equal.setdefault(key, []).append(requests)
        return all(_hold(search.constraints[claims[0][0][0].claim], claims, prospect) for claims in equal.values())


def _fresh(option: Option) -> int:
    """Places the option may take as long as its claim has none."""
    places = option.candidates
    for _, column in option.columns:
        places &= column.present
    return places


def _claim_kinds(arena: Arena) -> list[int]:
    """Numbers for claims, equal if they ask for the same."""
    numbers = Interner()
    asked: list[list[Hashable]] = [[] for _ in arena.constraints]
    for request in arena.requests:
        asked[request.claim].append(
            tuple(
                (each.need, each.is_admin, tuple((i, id(column)) for i, column in each.columns))
                for each in request.options
            )
        )
    return [
        numbers.number((tuple(requests), tuple(constraint.is_distinct for constraint in constraints)))
        for requests, constraints in zip(asked, arena.constraints, strict=True)
    ]


def _horizons(arena: Arena) -> list[int]:
    """For each request the next one during which an attempt can fail, or the end."""
    ends: list[int] = []
    end = len(arena.requests)
    for number in range(len(arena.requests) - 1, -1, -1):
        ends.append(end)
        if any(option.can_fail for option in arena.requests[number].options):
            end = number
    return ends[::-1]


def _hold(rules: Sequence[Rule], claims: list[list[tuple[Option, ...]]], prospect: Prospect) -> bool:
    """Apply constraints to the first of equal claims until nothing changes any more, then treat the others alike."""
    requests = claims[0]
    before: dict[int, int] = {}
    while before != prospect.live:
        before = dict(prospect.live)
        if not all(_holds(rule, requests, prospect) for rule in rules):
            return False
        if len(rules) == 1:
            break
    for others in claims[1:]:
        for options, same in zip(others, requests, strict=True):
            for option, model in zip(options, same, strict=True):
                prospect.settle(option, prospect.live.get(model.number, 0))
    matching = [rule for rule in rules if isinstance(rule, MatchRule)]
    return len(claims) == 1 or all(can_serve(len(claims), rule, requests, prospect) for rule in matching)


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
