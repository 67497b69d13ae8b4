"""Attributes and capacities, each value made once and shared by every device that has it.

A thousand nodes of eight GPUs differ in the identifiers of their devices and in nothing else.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from dray.api.resource.device import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    DeviceAttribute,
    DeviceCapacity,
)
from dray.values.quantity import Quantity, parse_quantity

__all__ = [
    "NUMA_NODE",
    "PCIE_ROOT",
    "PCI_BUS_ID",
    "Attributes",
    "Capacities",
    "amount",
    "count",
    "flag",
    "number",
    "numbers",
    "range_capacity",
    "text",
    "version",
]

PCI_BUS_ID: Final = "resource.kubernetes.io/pciBusID"
PCIE_ROOT: Final = "resource.kubernetes.io/pcieRoot"
NUMA_NODE: Final = "resource.kubernetes.io/numaNode"

Attributes = Mapping[str, DeviceAttribute]
Capacities = Mapping[str, DeviceCapacity]


@lru_cache(maxsize=4096)
def text(value: str) -> DeviceAttribute:
    """An attribute that is a text. One that only a single device has is better not remembered: build that by hand."""
    return DeviceAttribute(string=value)


@lru_cache(maxsize=4096)
def number(value: int) -> DeviceAttribute:
    """An attribute that is a number."""
    return DeviceAttribute(int=value)


@lru_cache(maxsize=1024)
def numbers(*values: int) -> DeviceAttribute:
    """An attribute that is a list of numbers."""
    return DeviceAttribute(ints=values)


_TRUE, _FALSE = DeviceAttribute(bool=True), DeviceAttribute(bool=False)


def flag(value: bool) -> DeviceAttribute:
    """An attribute that is a truth value."""
    return _TRUE if value else _FALSE


@lru_cache(maxsize=1024)
def version(value: str) -> DeviceAttribute:
    """An attribute that is a semantic version."""
    return DeviceAttribute(version=value)


@lru_cache(maxsize=4096)
def amount(value: Quantity | str | int) -> DeviceCapacity:
    """A capacity without rules."""
    return DeviceCapacity(value=_quantity(value))


@lru_cache(maxsize=4096)
def count(value: Quantity | str | int) -> Counter:
    """An amount of a counter."""
    return Counter(value=_quantity(value))


@lru_cache(maxsize=1024)
def range_capacity(value: str, default: str, least: str, step: str) -> DeviceCapacity:
    """A capacity of which shares are taken: from `least` to all of it, in steps, `default` where none is named."""
    bounds = CapacityRequestPolicyRange(min=parse_quantity(least), max=parse_quantity(value), step=parse_quantity(step))
    policy = CapacityRequestPolicy(default=parse_quantity(default), valid_range=bounds)
    return DeviceCapacity(value=parse_quantity(value), request_policy=policy)


def _quantity(value: Quantity | str | int) -> Quantity:
    if isinstance(value, Quantity):
        return value
    return Quantity.of(value) if isinstance(value, int) else parse_quantity(value)
