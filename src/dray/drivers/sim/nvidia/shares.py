"""Consumable shares: several claims on one GPU or MIG device, each with some of its memory, or with one of N shares.

As `--consumable-shares` of the real driver: nothing keeps the memory of one claim from another.
"""

from typing import Final

from msgspec.structs import replace

from dray.api.resource.device import Device
from dray.drivers.sim.attributes import range_capacity
from dray.drivers.sim.part import ProfileError

__all__ = ["check_shares", "make_shareable"]

_MEBI: Final = 2**20
_MEMORY, _UNLIMITED = "memory", "unlimited"


def check_shares(shares: str) -> str:
    """`unlimited`, `memory`, or a number of shares. Raises ProfileError."""
    if shares in (_MEMORY, _UNLIMITED) or (shares.isdigit() and int(shares) > 0):
        return shares
    raise ProfileError(f"shares={shares}: must be unlimited, memory or a number of shares")


def make_shareable(device: Device, shares: str) -> Device:
    """Let several requests have the device. Memory is rounded down to whole Mi."""
    total = f"{device.capacity['memory'].value.value() // _MEBI}Mi"
    capacity = dict(device.capacity)
    if shares == _MEMORY:
        capacity["memory"] = range_capacity(total, total, "1Mi", "1Mi")
    else:
        capacity["memory"] = range_capacity(total, "0", "0", "1Mi")
    if shares.isdigit():
        capacity["shares"] = range_capacity(shares, "1", "1", "1")
    return replace(device, capacity=capacity, allow_multiple_allocations=True)
