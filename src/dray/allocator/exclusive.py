"""A device goes to one taker, unless it allows several allocations.

Administrators take devices that others hold, and nobody twice for one claim.
"""

from __future__ import annotations

from collections.abc import Hashable

from dray.allocator.arena import Arena, Option
from dray.allocator.occupancy import Occupancy

__all__ = ["ExclusiveRule"]


class ExclusiveRule:
    """Shuts devices in use.

    With `admin_takes` a device that an administrator picked in this attempt counts as in use for requests that
    follow, as it does for kube-scheduler; without it, only for requests of the same claim.
    """

    def __init__(self, arena: Arena, occupancy: Occupancy, *, admin_takes: bool) -> None:
        self._shared = arena.shared
        self._taken = occupancy.taken
        self._own = [0] * len(arena.constraints)
        self._admin_takes = admin_takes
        self._past: list[tuple[int, int]] = []

    def shut(self, option: Option) -> int:
        """Devices in use; for administrators only those that their own claim picked."""
        if option.is_admin:
            return self._own[option.claim]
        return self._taken | self._own[option.claim]

    def take(self, option: Option, place: int) -> None:
        """Put the device in use. Shared devices never are."""
        claim = option.claim
        self._past.append((self._taken, self._own[claim]))
        bit = 1 << place
        if self._shared & bit:
            return
        self._own[claim] |= bit
        if self._admin_takes or not option.is_admin:
            self._taken |= bit

    def undo(self, option: Option, place: int) -> None:
        """Restore what was in use before."""
        self._taken, self._own[option.claim] = self._past.pop()

    def state(self, places: int) -> Hashable:
        """What is in use, altogether and by each claim."""
        return self._taken & places, tuple(own & places for own in self._own)
