"""States from which a request was found to fail, so that coming to the same state by another way fails at once.

A state is what the requests that remain can tell: devices in use among those they may touch, by likeness, and what
the claim in progress has come to. What they cannot touch does not count, and then neither does the choice that
touched it: the search goes straight back to the latest choice that mattered.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeAlias

from dray.allocator.arena import Arena
from dray.allocator.bits import bits
from dray.allocator.counters import CounterRule
from dray.allocator.search import Choice, Level, Search
from dray.allocator.symmetry import Symmetry

__all__ = ["NoGoods"]


_User: TypeAlias = tuple[bool, bool, tuple[tuple[str, int], ...]]
"""Who picked a device: an administrator or not, the claim in progress or not, and how much of each capacity it took."""

_Users: TypeAlias = tuple[_User, ...]

_EXCLUSIVE: _Users = ((False, False, ()),)
"""Picked once, in whole, and no administrator is about."""


class NoGoods:
    """What is known to fail, by request."""

    def __init__(self, arena: Arena, symmetry: Symmetry) -> None:
        self._arena = arena
        self._symmetry = symmetry
        self._failed: dict[int, set[Hashable]] = {}
        self._component_counters: dict[int, tuple[int, ...]] = {}
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
            by_component.setdefault(component, []).append((place, users))
        left = self._counters_left(search)
        drained: list[tuple[int, tuple[int, ...]]] = []
        touched: list[tuple[int, tuple[tuple[int, _Users], ...]]] = []
        for component, entries in by_component.items():
            number = component if narrowed else symmetry.family_of[component]
            if left is not None and all(self._is_drained(place, users, left) for place, users in entries):
                drained.append((number, tuple([left[counter] for counter in self._counters_of(component)])))
            else:
                roles = sorted((symmetry.role_of[place], users) for place, users in entries)
                touched.append((number, tuple(roles)))
        return picked, narrowed, tuple(sorted(drained)), tuple(sorted(touched))

    def _counters_left(self, search: Search) -> Sequence[int] | None:
        return next((rule.remaining for rule in search.rules if isinstance(rule, CounterRule)), None)

    def _is_drained(self, place: int, users: _Users, left: Sequence[int]) -> bool:
        """Whether what is left of the counters says that a picked device is gone, and everything else about it.

        A shared device is not gone: it draws nothing more, whatever is left.
        """
        if users != _EXCLUSIVE or self._arena.shared >> place & 1:
            return False
        if self._arena.counters is None or self._arena.counters.has_groups:
            return False
        draw = self._arena.counters.draws.get(place)
        return draw is not None and any(amount > left[counter] for counter, amount in draw.amounts)

    def _counters_of(self, component: int) -> tuple[int, ...]:
        """Counters that devices of the component draw on, in the same order for components that are alike."""
        known = self._component_counters.get(component)
        if known is None:
            draws = self._arena.counters.draws if self._arena.counters is not None else {}
            places = bits(self._symmetry.masks[component])
            known = tuple(dict.fromkeys(counter for p in places if p in draws for counter, _ in draws[p].amounts))
            self._component_counters[component] = known
        return known

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
