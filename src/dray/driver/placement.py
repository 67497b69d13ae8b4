"""Which device goes into which slice: in order, within limits, and where it already is.

The order of devices is the order in which allocators try them, so slices in order, and devices in slices, must follow
it. Within that, devices stay in the slice where they are published, so that one device that comes, goes or changes
touches one slice; only a full slice pushes its last devices on to the next.

Slices are filled up to the smaller of the API's two limits. The larger one holds only until a device gets its first
taint; a failing device must not make half its neighbours move.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from dray.api.resource.device import CounterSet, Device

__all__ = ["MAX_COUNTER_SETS", "MAX_DEVICES", "pack_counter_sets", "place_devices"]

MAX_DEVICES: Final = 64
"""Devices in a slice, if any of them has taints, draws on counters or has lists in attributes; 128 otherwise."""
MAX_COUNTER_SETS: Final = 8
"""Counter sets in a slice."""


def pack_counter_sets(counter_sets: Sequence[CounterSet]) -> list[tuple[CounterSet, ...]]:
    """Counter sets in slices of their own, as few as possible; none for none."""
    return [
        tuple(counter_sets[start : start + MAX_COUNTER_SETS]) for start in range(0, len(counter_sets), MAX_COUNTER_SETS)
    ]


def place_devices(devices: Sequence[Device], slices_by_name: Mapping[str, int]) -> list[tuple[Device, ...]]:
    """Devices in slices. `slices_by_name` says in which slice (from 0) a device is published now.

    No slice is empty, except that no devices at all make one empty slice. Devices that are nowhere yet go beside those
    before them. Where staying in place would leave a gap, or twice as many slices as it takes, the devices are packed
    anew.
    """
    placed = _place_in_order(devices, slices_by_name)
    fewest = -(-len(devices) // MAX_DEVICES)
    if all(placed) and len(placed) <= 2 * fewest + 1:
        return [tuple(each) for each in placed]
    return [tuple(devices[start : start + MAX_DEVICES]) for start in range(0, len(devices), MAX_DEVICES)] or [()]


def _place_in_order(devices: Sequence[Device], slices_by_name: Mapping[str, int]) -> list[list[Device]]:
    placed: list[list[Device]] = [[]]
    for device in devices:
        wanted = slices_by_name.get(device.name, 0)
        while len(placed) <= wanted:
            placed.append([])
        if len(placed[-1]) >= MAX_DEVICES:
            placed.append([])
        placed[-1].append(device)
    return placed
