"""What a driver has to offer: pools of devices, as plain values.

A `Device` is the one of the API, `resource.k8s.io`. `attributes` and `capacity` write its properties from Python
values, and `Devices` says which pools there are. How pools become ResourceSlices is the SDK's business.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from msgspec import Struct

from dray.api.core.nodeselector import NodeSelector
from dray.api.resource.device import CounterSet, Device, DeviceAttribute, DeviceCapacity
from dray.values.quantity import Quantity, parse_quantity
from dray.values.semver import Semver

__all__ = ["AttributeValue", "Devices", "Pool", "Reach", "attributes", "capacity"]

AttributeValue = bool | int | str | Semver | Sequence[bool] | Sequence[int] | Sequence[str] | Sequence[Semver]
"""What an attribute may be, in Python; see `attributes`."""


class Reach(StrEnum):
    """From which nodes the devices of a pool can be used, where no selector says it."""

    NODE = "the driver's node"
    EVERY_NODE = "every node"
    EACH_DEVICE_SAYS = "each device says"


class Pool(Struct, frozen=True, kw_only=True):
    """Devices that are offered together, in order of preference: of devices that fit, the first is taken.

    There is no limit to their number: the SDK spreads them over as many ResourceSlices as it takes.
    """

    devices: tuple[Device, ...] = ()
    name: str = ""
    """Empty means the node's name, which is what drivers of one node use."""
    counter_sets: tuple[CounterSet, ...] = ()
    """Amounts on which devices of the pool draw together through `consumes_counters`."""
    reachable_from: NodeSelector | Reach = Reach.NODE
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()
    """Calls that the node may leave out for these devices; see `SkippableNodeOperation`."""
    least_generation: int = 0
    """The pool's generation is at least this; for drivers that keep count themselves."""


class Devices(Struct, frozen=True):
    """Everything a driver offers now.

    A pool without devices says "I am here and have nothing"; no pool at all withdraws everything.
    """

    pools: tuple[Pool, ...] = ()

    @staticmethod
    def of(*devices: Device, counter_sets: Sequence[CounterSet] = ()) -> "Devices":
        """Offer devices in one pool named after the node."""
        return Devices((Pool(devices=devices, counter_sets=tuple(counter_sets)),))


def attributes(
    values: Mapping[str, AttributeValue] | None = None, /, **more: AttributeValue
) -> dict[str, DeviceAttribute]:
    """Write a device's attributes: `attributes(model="A100", index=0, driverVersion=parse_semver("1.2.3"))`.

    Names with a domain go into the mapping: `attributes({"resource.kubernetes.io/numaNode": 1})`. A list becomes a
    list; an empty one, of which the type is unknown, raises ValueError.
    """
    return {name: _attribute(name, value) for name, value in {**(values or {}), **more}.items()}


def capacity(
    values: Mapping[str, str | int | Quantity] | None = None, /, **more: str | int | Quantity
) -> dict[str, DeviceCapacity]:
    """Write a device's capacity: `capacity(memory="80Gi", slots=7)`."""
    return {name: DeviceCapacity(value=_quantity(value)) for name, value in {**(values or {}), **more}.items()}


def _quantity(value: str | int | Quantity) -> Quantity:
    if isinstance(value, Quantity):
        return value
    return Quantity.of(value) if isinstance(value, int) else parse_quantity(value)


def _attribute(name: str, value: AttributeValue) -> DeviceAttribute:
    # bool before int: True is an int to Python, and none to Kubernetes.
    if isinstance(value, bool):
        return DeviceAttribute(bool=value)
    if isinstance(value, int):
        return DeviceAttribute(int=value)
    if isinstance(value, str):
        return DeviceAttribute(string=value)
    if isinstance(value, Semver):
        return DeviceAttribute(version=str(value))
    return _list_attribute(name, value)


def _list_attribute(
    name: str, values: Sequence[bool] | Sequence[int] | Sequence[str] | Sequence[Semver]
) -> DeviceAttribute:
    bools = tuple(each for each in values if isinstance(each, bool))
    ints = tuple(each for each in values if isinstance(each, int) and not isinstance(each, bool))
    strings = tuple(each for each in values if isinstance(each, str))
    versions = tuple(str(each) for each in values if isinstance(each, Semver))
    kinds = [kind for kind in (bools, ints, strings, versions) if kind]
    if len(kinds) != 1 or len(kinds[0]) != len(values):
        raise ValueError(f"attribute {name!r} must list one or more values of one type, has {list(values)!r}")
    return DeviceAttribute(bools=bools or None, ints=ints or None, strings=strings or None, versions=versions or None)
