"""One attempt on one node: set up the rules, search plainly, and with everything we know if that takes too long.

Most attempts are settled by the plain search within a few steps. Only what it does not settle is worth the work of
looking ahead, and then the search starts anew with a guide. Both find the same first solution.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from dray.allocator.arena import Arena
from dray.allocator.capacity import CapacityRule
from dray.allocator.complaints import Complaint
from dray.allocator.constraints import constraint_rules
from dray.allocator.counters import CounterRule
from dray.allocator.exclusive import ExclusiveRule
from dray.allocator.groups import GroupRule
from dray.allocator.guide import FullGuide
from dray.allocator.occupancy import Occupancy
from dray.allocator.probing import Prober
from dray.allocator.rules import Rule
from dray.allocator.search import BudgetSpent, InputFault, Pick, Search, Verdict

__all__ = ["DEFAULT_LIMITS", "SearchLimits", "Solution", "Solved", "Spent", "Unsolved", "rules_of", "solve"]


@dataclass(frozen=True, slots=True)
class SearchLimits:
    """Steps after which a search gives up, or gives way.

    `plain_steps` are granted to the plain search before looking ahead, `guided_steps` to looking ahead before every
    state is probed. `max_steps` end the attempt: a hundred times what the hardest of the recorded cases takes. Raising
    it trades latency for rare puzzles.
    """

    plain_steps: int = 256
    guided_steps: int = 1_000
    max_steps: int = 20_000


DEFAULT_LIMITS = SearchLimits()

_REFUSAL_STEPS = 2_000
"""Plain steps spent on finding out what to report where a constraint may have refused a request for all devices."""


@dataclass(frozen=True, slots=True)
class Solution:
    """The first solution: devices for demands, in the order in which they were picked."""

    picks: tuple[Pick, ...]
    steps: int


@dataclass(frozen=True, slots=True)
class Unsolved:
    """There is no solution. With a `complaint` the input is to blame, and no other node will do either."""

    steps: int
    complaint: Complaint | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """The budget was used up before an answer was found."""

    steps: int


Solved: TypeAlias = Solution | Unsolved | Spent


def solve(arena: Arena, occupancy: Occupancy, limits: SearchLimits = DEFAULT_LIMITS) -> Solved:
    """Find the first solution, or prove that there is none.

    Where kube-scheduler finds none because access for administration got in the way of others, a second attempt lets
    administrators pick without taking anything, as the API promises.
    """
    if arena.complaint is not None:
        return Unsolved(0, arena.complaint)
    try:
        solved = _attempt(arena, occupancy, limits, admin_takes=True)
        if isinstance(solved, Unsolved) and any(option.is_admin for option in arena.options):
            again = _attempt(arena, occupancy, limits, admin_takes=False)
            solved = solved if isinstance(again, Unsolved) else again
    except InputFault as fault:
        return Unsolved(0, fault.complaint)
    return solved


def _attempt(arena: Arena, occupancy: Occupancy, limits: SearchLimits, *, admin_takes: bool) -> Solved:
    def fresh(max_steps: int) -> Search:
        return Search(arena, rules_of(arena, occupancy, admin_takes=admin_takes), constraint_rules(arena), max_steps)

    plain = fresh(limits.plain_steps)
    with suppress(BudgetSpent):
        return _settle(plain, plain.run())
    guide = FullGuide(arena, occupancy, fresh)
    solved = _guided(fresh(min(limits.guided_steps, limits.max_steps)), guide)
    if isinstance(solved, Spent) and limits.guided_steps < limits.max_steps:
        guide.prober = Prober(arena, occupancy, _new_probe)
        solved = _guided(fresh(limits.max_steps), guide)
    if isinstance(solved, Unsolved) and any(option.wants_all and option.columns for option in arena.options):
        # What the guide left out may be what kube-scheduler reports: the first device that a constraint refused.
        return Unsolved(solved.steps, plain.refusal or _first_refusal(fresh(_REFUSAL_STEPS)) or solved.complaint)
    return solved


def _guided(search: Search, guide: FullGuide) -> Solved:
    search.guide = guide
    try:
        return _settle(search, search.run())
    except BudgetSpent:
        return Spent(search.steps)


def _new_probe(arena: Arena, occupancy: Occupancy, max_steps: int) -> Search:
    def fresh(max_steps: int) -> Search:
        return Search(arena, rules_of(arena, occupancy), constraint_rules(arena), max_steps)

    probe = fresh(max_steps)
    probe.guide = FullGuide(arena, occupancy, fresh)
    return probe


def _first_refusal(plain: Search) -> Complaint | None:
    with suppress(BudgetSpent):
        plain.run()
    return plain.refusal


def _settle(search: Search, verdict: Verdict) -> Solved:
    if verdict is Verdict.FOUND:
        return Solution(tuple(search.picks), search.steps)
    return Unsolved(search.steps, search.refusal)


def rules_of(arena: Arena, occupancy: Occupancy, *, admin_takes: bool = True) -> tuple[Rule, ...]:
    """The rules that have anything to say. The one about devices in use comes first."""
    rules: list[Rule] = [ExclusiveRule(arena, occupancy, admin_takes=admin_takes)]
    book = arena.counters
    if book is not None:
        if book.has_groups:
            rules.append(GroupRule(arena, book, occupancy, admin_draws=admin_takes))
        rules.append(CounterRule(arena, book, occupancy, admin_draws=admin_takes))
    if arena.capacities:
        rules.append(CapacityRule(arena, occupancy, admin_consumes=admin_takes))
    return tuple(rules)
