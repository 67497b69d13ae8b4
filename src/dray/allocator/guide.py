"""What a search knows besides its rules: bounds on what lies ahead, likenesses, and states that failed."""

from __future__ import annotations

from dray.allocator.arena import Arena, Option
from dray.allocator.nogoods import NoGoods
from dray.allocator.occupancy import Occupancy
from dray.allocator.outlook import Outlook
from dray.allocator.search import Level, Search
from dray.allocator.symmetry import Symmetry

__all__ = ["FullGuide"]


class FullGuide:
    """Everything we have. Likenesses are worked out when the first choice fails: many searches need only bounds."""

    def __init__(self, arena: Arena, occupancy: Occupancy, outlook: Outlook) -> None:
        self._arena = arena
        self._occupancy = occupancy
        self._outlook = outlook
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
        return self._known_nogoods is not None and self._known_nogoods.knows(search, request)

    def narrow(self, search: Search, option: Option, count: int, open_: int) -> int:
        return self._outlook.narrow(search, option, count, open_)

    def alike(self, search: Search, option: Option, place: int) -> int:
        return self._symmetry.alike(search.picks, place)

    def note_failure(self, search: Search, request: int) -> Level | None:
        self._nogoods.add(search, request)
        return self._nogoods.culprit(search, request)
