"""Devices that draw on one counter set together need a compatibility group in common, or no groups at all."""

from __future__ import annotations

from collections.abc import Hashable

from dray.allocator.arena import Arena, Option
from dray.allocator.counterbook import CounterBook
from dray.allocator.occupancy import PLAIN, UNDRAWN, Occupancy, narrow_groups

__all__ = ["GroupRule"]


class GroupRule:
    """Shuts devices whose groups do not go with those that draw on the same counter set."""

    def __init__(self, arena: Arena, book: CounterBook, occupancy: Occupancy, *, admin_draws: bool) -> None:
        self._book = book
        self._shared = arena.shared
        self._admin_draws = admin_draws
        self._states = list(occupancy.groups)
        self._paid = sum(1 << place for place in occupancy.consumed)
        self._by_groups: list[dict[int, int]] = [{} for _ in self._states]
        for place, draw in book.draws.items():
            for number, groups in draw.groups:
                self._by_groups[number][groups] = self._by_groups[number].get(groups, 0) | 1 << place
        self._shut = 0
        for number in range(len(self._states)):
            self._shut |= self._unfit(number)
        self._past: list[tuple[int, int, tuple[int, ...]] | None] = []

    def _unfit(self, number: int) -> int:
        """Places whose groups do not go with the state of a counter set."""
        state = self._states[number]
        if state == UNDRAWN:
            return 0
        mask = 0
        for groups, places in self._by_groups[number].items():
            if groups if state == PLAIN else not state & groups:
                mask |= places
        return mask

    def shut(self, option: Option) -> int:
        """Devices that do not go with those on the same counter set."""
        if option.is_admin and not self._admin_draws:
            return 0
        return self._shut & ~self._paid

    def take(self, option: Option, place: int) -> None:
        """Narrow the groups of the sets that the device draws on."""
        draw = self._book.draws.get(place)
        if draw is None or self._paid >> place & 1 or (option.is_admin and not self._admin_draws):
            self._past.append(None)
            return
        self._past.append((self._shut, self._paid, tuple(self._states[number] for number, _ in draw.groups)))
        for number, groups in draw.groups:
            self._states[number] = narrow_groups(self._states[number], groups)
            self._shut |= self._unfit(number)
        if self._shared >> place & 1:
            self._paid |= 1 << place

    def undo(self, option: Option, place: int) -> None:
        """Restore the groups as they were."""
        past = self._past.pop()
        if past is None:
            return
        self._shut, self._paid, states = past
        for (number, _), state in zip(self._book.draws[place].groups, states, strict=True):
            self._states[number] = state

    def state(self, places: int) -> Hashable:
        """What is shut and the state of every set."""
        return self._shut & places, self._paid & places, tuple(self._states)
