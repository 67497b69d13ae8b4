"""Which parts of cards nobody can have, for other parts of the same card are in use."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from dray.api.resource.device import Device
from dray.api.resource.slice import ResourceSlice

__all__ = ["CounterCount"]


class CounterKey(NamedTuple):
    """One counter of a pool."""

    counter_set: str
    name: str


class CounterCount:
    """The counters of one pool and what devices in use leave of them. A device draws once, however many share it."""

    def __init__(self, slices: Sequence[ResourceSlice], taken: Collection[str]) -> None:
        self._left: dict[CounterKey, int] = {
            CounterKey(each.name, name): counter.value.nanos
            for source in slices
            for each in source.spec.shared_counters or ()
            for name, counter in each.counters.items()
        }
        self._drawing: dict[str, list[Device]] = {}
        for source in slices:
            for device in source.spec.devices or ():
                if device.name in taken:
                    self._draw(device)
        self._taken = taken

    def _draw(self, device: Device) -> None:
        for each in device.consumes_counters:
            self._drawing.setdefault(each.counter_set, []).append(device)
            for name, counter in each.counters.items():
                key = CounterKey(each.counter_set, name)
                self._left[key] = self._left.get(key, 0) - counter.value.nanos

    def find_rivals(self, device: Device) -> list[str]:
        """The devices in use that keep this one from being taken, by name; none if it is in use itself, or could be."""
        if device.name in self._taken:
            return []
        rivals: dict[str, None] = {}
        for each in device.consumes_counters:
            drawing = self._drawing.get(each.counter_set, ())
            is_short = any(
                self._left.get(CounterKey(each.counter_set, name), 0) < counter.value.nanos
                for name, counter in each.counters.items()
            )
            if is_short or any(not _go_together(device, other, each.counter_set) for other in drawing):
                rivals.update(dict.fromkeys(other.name for other in drawing))
        return list(rivals)


def _go_together(device: Device, other: Device, counter_set: str) -> bool:
    """Whether two devices may draw on a set at once: they have a group in common, or neither has any."""
    one, two = (
        {
            group
            for each in device.consumes_counters
            if each.counter_set == counter_set
            for group in each.compatibility_groups
        }
        for device in (device, other)
    )
    return (not one and not two) or bool(one & two)
