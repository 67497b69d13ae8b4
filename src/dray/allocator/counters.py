"""Partitions draw on the counters of their pool, and can be taken only while all they draw is left.

A device that is shared draws once, with its first share. In a pool where more was given than there is nothing that
draws can be taken.
"""

from __future__ import annotations

from collections.abc import Hashable

from dray.allocator.arena import Arena, Option
from dray.allocator.bits import bits
from dray.allocator.counterbook import CounterBook
from dray.allocator.occupancy import Occupancy

__all__ = ["CounterRule"]


class CounterRule:
    """Shuts devices that draw more than is left of any counter."""

    def __init__(self, arena: Arena, book: CounterBook, occupancy: Occupancy, *, admin_draws: bool) -> None:
        self._book = book
        self._shared = arena.shared
        self._admin_draws = admin_draws
        self.remaining = list(occupancy.remaining)
        self._paid = sum(1 << place for place in occupancy.consumed)
        self._by_amount = book.by_amount
        self._shut = self._overdrawn()
        for counter in range(len(self.remaining)):
            self._shut |= self._too_much(counter)
        self._past: list[tuple[int, int] | None] = []

    def _overdrawn(self) -> int:
        shut = 0
        for pool, counters in self._book.pools.items():
            if any(self.remaining[counter] < 0 for counter in counters):
                shut |= self._book.drawers.get(pool, 0)
        return shut

    def _too_much(self, counter: int) -> int:
        """Places that draw more than is left of the counter."""
        left = self.remaining[counter]
        mask = 0
        for amount, places in self._by_amount[counter]:
            if amount <= left:
                break
            mask |= places
        return mask

    def shut(self, option: Option) -> int:
        """Devices that draw more than is left, apart from shared ones that already draw."""
        if option.is_admin and not self._admin_draws:
            return 0
        return self._shut & ~self._paid

    def take(self, option: Option, place: int) -> None:
        """Draw, unless the device already does."""
        draw = self._book.draws.get(place)
        if draw is None or self._paid >> place & 1 or (option.is_admin and not self._admin_draws):
            self._past.append(None)
            return
        self._past.append((self._shut, self._paid))
        for counter, amount in draw.amounts:
            self.remaining[counter] -= amount
            self._shut |= self._too_much(counter)
        if self._shared >> place & 1:
            self._paid |= 1 << place

    def undo(self, option: Option, place: int) -> None:
        """Give back what the latest `take` drew."""
        past = self._past.pop()
        if past is None:
            return
        self._shut, self._paid = past
        for counter, amount in self._book.draws[place].amounts:
            self.remaining[counter] += amount

    def state(self, places: int) -> Hashable:
        """What is left of the counters that the places draw on."""
        counters = {
            counter
            for place in bits(places)
            if place in self._book.draws
            for counter, _ in self._book.draws[place].amounts
        }
        return tuple(self.remaining[counter] for counter in sorted(counters)), self._paid & places
