"""States from which a request was found to fail, so that coming to the same state by another way fails at once.

A state is what the requests that remain can tell: devices in use among those they may touch, by likeness, and what
the claim in progress has come to. What they cannot touch does not count, and then neither does the choice that
touched it: the search goes straight back to the latest choice that mattered.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeAlias

from dray.allocator.arena import Arena
from dray.allocator.search import Choice, Level, Search
from dray.allocator.symmetry import Symmetry

__all__ = ["NoGoods"]


_User: TypeAlias = tuple[bool, bool, tuple[tuple[str, int], ...]]
"""Who picked a device: an administrator or not, the claim in progress or not, and how much of each capacity it took."""

_Users: TypeAlias = tuple[_User, ...]


class NoGoods:
    """What is known to fail, by request."""

    def __init__(self, arena: Arena, symmetry: Symmetry) -> None:
        self._arena = arena
        self._symmetry = symmetry
        self._failed: dict[int, set[Hashable]] = {}
        self._reaches = self._find_reaches()
        self._has_admin = [
            any(option.is_admin for option in arena.options if option.claim == claim)
            for claim in range(len(arena.constraints))
        ]
        self._can_fault = any(option.can_fail for option in arena.options)

    def _find_reaches(self) -> list[int]:
        """For each request, the components that it or a later one may touch."""
        reaches: list[int] = []
        reach = 0
        for request in reversed(self._arena.requests):
            candidates = 0
            for option in request.options:
                candidates |= option.selected | option.fault_mask
            for mask in self._symmetry.masks:
                if mask & candidates:
                    reach |= mask
            reaches.append(reach)
        return reaches[::-1]

    def knows(self, search: Search, request: int) -> bool:
        """Whether this very state, or one like it, failed before."""
        failed = self._failed.get(request)
        return failed is not None and self._state(search, request) in failed

    def add(self, search: Search, request: int) -> None:
        """Remember that the state failed."""
        self._failed.setdefault(request, set()).add(self._state(search, request))

    def _state(self, search: Search, request: int) -> Hashable:
        claim = self._arena.requests[request].claim
        picked = search.picked[claim]
        # Between claims all constraints are fresh, and components that are alike can stand for each other.
        narrowed = tuple(rule.state(0) for rule in search.constraints[claim]) if picked else ()
        symmetry = self._symmetry
        by_component: dict[int, list[tuple[int, _Users]]] = {}
        for place, users in self._touched(search, request).items():
            component = symmetry.component_of[place]
            by_component.setdefault(component, []).append((symmetry.role_of[place], users))
        states = [
            (number if narrowed else symmetry.family_of[number], tuple(sorted(entries)))
            for number, entries in by_component.items()
        ]
        return picked, narrowed, tuple(sorted(states))

    def _touched(self, search: Search, request: int) -> dict[int, _Users]:
        """Devices in reach that were picked in this attempt, and by whom, as far as it matters."""
        reach = self._reaches[request]
        claim = self._arena.requests[request].claim
        touched: dict[int, list[_User]] = {}
        for pick in search.picks:
            if not reach >> pick.place & 1:
                continue
            users = touched.setdefault(pick.place, [])
            amounts = pick.option.amounts.get(pick.place)
            is_own = self._has_admin[claim] and pick.option.claim == claim
            users.append((pick.option.is_admin, is_own, () if amounts is None else tuple(sorted(amounts.items()))))
        return {place: tuple(sorted(users)) for place, users in touched.items()}

    def culprit(self, search: Search, request: int) -> Level | None:
        """The latest level below this request whose choice may have a part in its failure."""
        below = search.stack[:-1]
        if self._can_fault:
            return below[-1] if below else None
        reach = self._reaches[request]
        claim = self._arena.requests[request].claim
        for level in reversed(below):
            if isinstance(level, Choice):
                options = self._arena.requests[level.request].options
                if len(options) > 1 and options[0].claim == claim:
                    return level
            elif reach >> level.place & 1 or (level.option.claim == claim and level.option.columns):
                return level
        return None
