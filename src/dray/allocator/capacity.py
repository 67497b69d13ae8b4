"""Devices that allow several allocations are taken in shares, as long as there is enough of every capacity."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from dray.allocator.arena import Amounts, Arena, Option
from dray.allocator.occupancy import Occupancy

__all__ = ["CapacityRule"]


class CapacityRule:
    """Shuts shared devices that have less left than the option would take.

    A device without capacities can be shared without end.
    """

    def __init__(self, arena: Arena, occupancy: Occupancy, *, admin_consumes: bool) -> None:
        self._admin_consumes = admin_consumes
        self.free: dict[int, dict[str, int]] = {}
        for place, capacities in arena.capacities.items():
            used = occupancy.consumed.get(place, {})
            self.free[place] = {name: value - used.get(name, 0) for name, value in capacities.items()}
        # Holds for devices of which nobody took a share in this attempt; those are looked at one by one.
        self._short_at_first = {option.number: self._short(option) for option in arena.options if option.amounts}
        self._touched: dict[int, int] = {}

    def _short(self, option: Option) -> int:
        mask = 0
        for place, amounts in option.amounts.items():
            if not _covers(self.free[place], amounts):
                mask |= 1 << place
        return mask

    def shut(self, option: Option) -> int:
        """Shared devices with too little left of what the option takes."""
        if not option.amounts or (option.is_admin and not self._admin_consumes):
            return 0
        shut = self._short_at_first[option.number]
        for place in self._touched:
            amounts = option.amounts.get(place)
            if amounts is not None and not _covers(self.free[place], amounts):
                shut |= 1 << place
        return shut

    def take(self, option: Option, place: int) -> None:
        """Charge a share."""
        amounts = self._charge(option, place)
        if amounts is None:
            return
        self._touched[place] = self._touched.get(place, 0) + 1
        free = self.free[place]
        for name, amount in amounts.items():
            free[name] -= amount

    def undo(self, option: Option, place: int) -> None:
        """Give the share back."""
        amounts = self._charge(option, place)
        if amounts is None:
            return
        free = self.free[place]
        for name, amount in amounts.items():
            free[name] += amount
        self._touched[place] -= 1
        if not self._touched[place]:
            del self._touched[place]

    def _charge(self, option: Option, place: int) -> Amounts | None:
        if option.is_admin and not self._admin_consumes:
            return None
        return option.amounts.get(place)

    def state(self, places: int) -> Hashable:
        """What is left of shared devices that were touched."""
        touched = sorted(place for place in self._touched if places >> place & 1)
        return tuple((place, tuple(self.free[place].values())) for place in touched)


def _covers(free: Mapping[str, int], amounts: Amounts) -> bool:
    return all(amount <= free[name] for name, amount in amounts.items())
