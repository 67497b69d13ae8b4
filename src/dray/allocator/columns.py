"""Values of one attribute over devices, as bits: what constraints compare.

A list counts as the set of its elements, a single value as a set of one. Values of different kinds are different
values.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from dray.allocator.complaints import Complaint
from dray.allocator.interning import Interner
from dray.api.resource.device import Device, DeviceAttribute

__all__ = ["Column", "find_attribute", "values_of"]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """The values that devices have of one attribute, as one demand sees it. Its columns number values alike.

    `values` has bits of values by place; `places` has places by value; `present` are places with any value. `faults`
    are places where the value could not be derived.
    """

    attribute: str
    values: Mapping[int, int]
    places: Mapping[int, int]
    present: int
    faults: Mapping[int, Complaint]

    def having(self, values: int) -> int:
        """Places with at least one of the given values."""
        found = 0
        for value, places in self.places.items():
            if values >> value & 1:
                found |= places
        return found


def find_attribute(name: str, driver: str, device: Device) -> DeviceAttribute | None:
    """Look an attribute up by its qualified name; in the driver's own domain the bare name will do."""
    attribute = device.attributes.get(name)
    if attribute is None:
        domain, _, bare = name.partition("/")
        if domain == driver:
            return device.attributes.get(bare)
    return attribute


def values_of(attribute: DeviceAttribute | None, values: Interner) -> int:
    """The values of an attribute as bits, 0 if it has none."""
    mask = 0
    if attribute is not None:
        for key in _keys(attribute):
            mask |= 1 << values.number(key)
    return mask


def _keys(attribute: DeviceAttribute) -> Iterator[Hashable]:
    for kind, several, single in (
        ("int", attribute.ints, attribute.int),
        ("bool", attribute.bools, attribute.bool),
        ("string", attribute.strings, attribute.string),
        ("version", attribute.versions, attribute.version),
    ):
        if several is not None:
            yield from ((kind, each) for each in several)
            return
        if single is not None:
            yield kind, single
            return
