"""A device as its driver publishes it: attributes, capacity, counters it draws on, taints."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.core.nodeselector import NodeSelector
from dray.api.resource.request import TaintEffect
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int64, always, always_null
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = [
    "CapacityRequestPolicy",
    "CapacityRequestPolicyRange",
    "Counter",
    "CounterSet",
    "Device",
    "DeviceAttribute",
    "DeviceCapacity",
    "DeviceCounterConsumption",
    "DeviceTaint",
    "NodeAllocatableMapping",
    "NodeAllocatableOverhead",
    "NodeAllocatableResource",
]


_ZERO = Quantity.of(0)
Boolean = bool
"""`bool`, for the one type whose field has that name."""


def _zero() -> Quantity:
    return _ZERO


class DeviceAttribute(ApiStruct):
    """One property of a device: exactly one member is set, and a list is never empty."""

    int: Annotated[Int64 | None, Meta(description="A number.")] = None
    bool: Annotated[Boolean | None, Meta(description="A truth value.")] = None
    string: Annotated[str | None, Meta(description="A text of at most 64 bytes.")] = None
    version: Annotated[
        str | None, Meta(description="A semantic version of at most 64 bytes, compared by its numbers.")
    ] = None
    ints: Annotated[tuple[Int64, ...] | None, Meta(description="Several numbers.", extra=ATOMIC)] = None
    bools: Annotated[tuple[Boolean, ...] | None, Meta(description="Several truth values.", extra=ATOMIC)] = None
    strings: Annotated[
        tuple[str, ...] | None,
        Meta(description="Several texts of at most 64 bytes each.", extra=ATOMIC),
    ] = None
    versions: Annotated[
        tuple[str, ...] | None,
        Meta(description="Several semantic versions of at most 64 bytes each.", extra=ATOMIC),
    ] = None


class CapacityRequestPolicyRange(ApiStruct):
    """Amounts that may be taken of a capacity: from `min` to `max` in multiples of `step` above `min`."""

    min: Annotated[
        Quantity | None,
        Meta(description="Least amount. Smaller requests are raised to it. Required.", extra=REQUIRED),
    ] = None
    max: Annotated[
        Quantity | None,
        Meta(description="Greatest amount. A device does not fit larger requests. Absent means the whole capacity."),
    ] = None
    step: Annotated[
        Quantity | None, Meta(description="Distance between amounts, counted from min. Requests are rounded up.")
    ] = None


class CapacityRequestPolicy(ApiStruct):
    """Which amounts may be taken of a capacity of a shared device. At most one of the two rules is set."""

    default: Annotated[
        Quantity | None,
        Meta(
            description="Amount taken by a request that names none. Required with validValues or validRange, "
            "and must be one of the amounts they allow."
        ),
    ] = always_null()
    valid_values: Annotated[
        tuple[Quantity, ...],
        Meta(
            description="The amounts that may be taken, ascending; requests are rounded up to the next. At most 10.",
            extra=ATOMIC,
        ),
    ] = ()
    valid_range: Annotated[
        CapacityRequestPolicyRange | None, Meta(description="The amounts that may be taken, as a range.")
    ] = None


class DeviceCapacity(ApiStruct):
    """An amount of something that a device has."""

    value: Annotated[
        Quantity,
        Meta(
            description="How much the device has in all. Does not shrink when shares of it are taken.",
            extra=REQUIRED | {"default": None},
        ),
    ] = always(_zero)
    request_policy: Annotated[
        CapacityRequestPolicy | None,
        Meta(description="Which amounts requests may take. Only on devices that allow several allocations."),
    ] = None


class Counter(ApiStruct):
    """An amount that devices of a pool draw on together."""

    value: Annotated[
        Quantity, Meta(description="How much there is, or is taken.", extra=REQUIRED | {"default": None})
    ] = always(_zero)


class CounterSet(ApiStruct):
    """Named amounts, such as the memory slices of one card, on which the partitions of that card draw."""

    name: Annotated[
        str,
        Meta(description="Name of the set, unique within the pool: a DNS label.", extra=REQUIRED),
    ] = always(str)
    counters: Annotated[
        Mapping[str, Counter],
        Meta(description="The amounts, by name. At least 1 and at most 32.", extra=REQUIRED),
    ] = always(dict)


class DeviceCounterConsumption(ApiStruct):
    """What a device takes of one counter set of its pool while it is allocated."""

    counter_set: Annotated[
        str,
        Meta(
            description="Name of the counter set, which a slice of the same pool declares.",
            extra=REQUIRED,
        ),
    ] = always(str)
    counters: Annotated[
        Mapping[str, Counter],
        Meta(description="Amounts taken, by counter. At least 1 and at most 32.", extra=REQUIRED),
    ] = always(dict)
    compatibility_groups: Annotated[
        tuple[str, ...],
        Meta(
            description="Devices that draw on the same set can be allocated together only if they have a group in "
            "common, or none of them has any. At most 2.",
            extra=ATOMIC,
        ),
    ] = ()


class DeviceTaint(ApiStruct):
    """A reason not to use a device. Requests without a matching toleration pass it by.

    After admission `time_added` is set. An effect that is not known counts as None.
    """

    key: Annotated[
        str, Meta(description="Kind of the reason: a label key, such as example.com/broken.", extra=REQUIRED)
    ] = always(str)
    value: Annotated[str, Meta(description="Detail of the reason: a label value, may be empty.")] = ""
    effect: Annotated[
        str,
        Meta(
            description="None informs only, NoSchedule keeps new pods away, NoExecute also evicts running ones.",
            extra={"enum": TaintEffect} | REQUIRED,
        ),
    ] = always(str)
    time_added: Annotated[
        Time | None,
        Meta(description="When the taint was added; tolerationSeconds count from here. Defaults to now."),
    ] = None


class NodeAllocatableMapping(ApiStruct):
    """How an allocated device turns into a resource of the node: exactly one rule is set.

    `capacity_key` and `capacity_multiplier` come together and form one rule, `device_multiplier` is the other.
    """

    capacity_key: Annotated[
        str | None,
        Meta(description="Capacity of the device, spelled as there, whose consumed amount counts."),
    ] = None
    capacity_multiplier: Annotated[
        Quantity | None, Meta(description="How much of the resource one unit of the capacity stands for.")
    ] = None
    device_multiplier: Annotated[
        Quantity | None, Meta(description="How much of the resource each allocated device stands for.")
    ] = None


class NodeAllocatableOverhead(ApiStruct):
    """What using a device costs besides. At least one amount is set."""

    per_pod: Annotated[Quantity | None, Meta(description="Amount for each pod that uses the claim.")] = None
    per_container: Annotated[
        Quantity | None, Meta(description="Amount for each container that refers to the claim.")
    ] = None


class NodeAllocatableResource(ApiStruct):
    """How much of one resource of the node a device takes. At least one member is set."""

    mapping: Annotated[
        NodeAllocatableMapping | None, Meta(description="What the device itself stands for, counted once per claim.")
    ] = None
    overhead: Annotated[
        NodeAllocatableOverhead | None, Meta(description="What using it costs besides, counted per pod.")
    ] = None


class Device(ApiStruct):
    """One device that may be allocated, alone or in shares.

    Names without a domain belong to the domain of the slice's driver. Where the device can be used from stands in the
    slice; only if the slice says `perDeviceNodeSelection` is it said here, by exactly one of three fields.
    """

    name: Annotated[
        str, Meta(description="Name of the device, unique within its pool: a DNS label.", extra=REQUIRED)
    ] = always(str)
    attributes: Annotated[
        Mapping[str, DeviceAttribute],
        Meta(
            description="Properties by name, for selectors and constraints. Together with capacity at most 32 "
            "entries; at most 48 values."
        ),
    ] = {}
    capacity: Annotated[
        Mapping[str, DeviceCapacity],
        Meta(description="Amounts by name, for selectors and capacity requests. Together with attributes at most 32."),
    ] = {}
    consumes_counters: Annotated[
        tuple[DeviceCounterConsumption, ...],
        Meta(
            description="What the device takes of the counter sets of its pool. It can be allocated only while all "
            "of that is left. At most 2.",
            extra=ATOMIC,
        ),
    ] = ()
    node_name: Annotated[str | None, Meta(description="The one node the device can be used from.")] = None
    node_selector: Annotated[NodeSelector | None, Meta(description="The nodes the device can be used from.")] = None
    all_nodes: Annotated[bool | None, Meta(description="True: the device can be used from every node.")] = None
    taints: Annotated[
        tuple[DeviceTaint, ...],
        Meta(
            description="Reasons, given by the driver, not to use the device. At most 16.",
            extra=ATOMIC,
        ),
    ] = ()
    binds_to_node: Annotated[
        bool | None,
        Meta(description="True: allocating the device ties the claim to the node that was chosen then."),
    ] = None
    binding_conditions: Annotated[
        tuple[str, ...],
        Meta(
            description="Conditions that the driver sets True in the claim's device status once the device is ready, "
            "for which the binding of a pod waits. At most 4; goes together with bindingFailureConditions.",
            extra=ATOMIC,
        ),
    ] = ()
    binding_failure_conditions: Annotated[
        tuple[str, ...],
        Meta(
            description="Conditions of which a single True one aborts the binding of a pod. At most 4; goes together "
            "with bindingConditions.",
            extra=ATOMIC,
        ),
    ] = ()
    allow_multiple_allocations: Annotated[
        bool | None,
        Meta(description="True: several requests may share the device, each taking some of its capacity."),
    ] = None
    node_allocatable_resources: Annotated[
        Mapping[str, NodeAllocatableResource],
        Meta(
            description="How much cpu, memory or hugepages-<size> of the node the device takes, by the name of the "
            "resource."
        ),
    ] = {}
