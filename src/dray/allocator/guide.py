"""What a search knows besides its rules: bounds on what lies ahead, likenesses, and states that failed."""

from __future__ import annotations

from collections.abc import Callable

from dray.allocator.arena import Arena, Option
from dray.allocator.nogoods import NoGoods
from dray.allocator.occupancy import Occupancy
from dray.allocator.outlook import Outlook
from dray.allocator.probing import Prober
from dray.allocator.search import BudgetSpent, Level, Search, Verdict
from dray.allocator.symmetry import Symmetry

__all__ = ["FullGuide"]


_FAILURES_BEFORE_DOUBT = 4
"""Failures of one request after which it is tried by itself."""

_DOUBT_STEPS = 2_000
"""Steps for trying a request, and those after it, as if nothing came before."""


class FullGuide:
    """Everything we have. Likenesses are worked out when the first choice fails: many searches need only bounds.

    `fresh` makes a search in which nothing is picked yet, with a budget. A request that keeps failing is tried in
    one, with those after it alone: if they cannot be served even then, no choice before them matters.
    """

    def __init__(self, arena: Arena, occupancy: Occupancy, fresh: Callable[[int], Search]) -> None:
        self._arena = arena
        self._occupancy = occupancy
        self._outlook = Outlook(arena)
        self._fresh = fresh
        self._failures = [0] * len(arena.requests)
        self._is_doubting = False
        self._can_fault = any(option.can_fail for option in arena.options)
        self.prober: Prober | None = None
        self._known_symmetry: Symmetry | None = None
        self._known_nogoods: NoGoods | None = None

    @property
    def _symmetry(self) -> Symmetry:
        if self._known_symmetry is None:
            self._known_symmetry = Symmetry(self._arena, self._occupancy)
        return self._known_symmetry

    @property
    def _nogoods(self) -> NoGoods:
        if self._known_nogoods is None:
            self._known_nogoods = NoGoods(self._arena, self._symmetry)
        return self._known_nogoods

    def is_hopeless(self, search: Search, request: int) -> bool:
        """Whether this state, or one like it, is known to fail, or a probe finds out."""
        if self._known_nogoods is not None and self._known_nogoods.knows(search, request):
            return True
        if self.prober is None or self._is_doubting or not self.prober.is_hopeless(search, request):
            return False
        self._nogoods.add(search, request)
        return True

    def narrow(self, search: Search, option: Option, count: int, open_: int) -> int:
        """Hold all bounds against the state."""
        return self._outlook.narrow(search, option, count, open_)

    def alike(self, search: Search, option: Option, place: int) -> int:
        """All that is interchangeable with the device."""
        return self._symmetry.alike(search.picks, place)

    def note_failure(self, search: Search, request: int) -> Level | None:
        """Remember the state, and find out who is to blame."""
        self._nogoods.add(search, request)
        if self._fails_alone(search, request):
            return None
        return self._nogoods.culprit(search, request)

    def _fails_alone(self, search: Search, request: int) -> bool:
        """Whether the request and those after it cannot be served even if nothing is picked before."""
        self._failures[request] += 1
        is_due = self._failures[request] == _FAILURES_BEFORE_DOUBT
        if not is_due or self._can_fault or self._is_doubting or not search.picks:
            return False
        alone = self._fresh(_DOUBT_STEPS)
        alone.guide = self
        self._is_doubting = True
        try:
            return alone.run(request) is Verdict.FAILED
        except BudgetSpent:
            return False
        finally:
            self._is_doubting = False
