"""Device requests: what a claim asks for, and the conditions a device has to meet.

A request is either exact (one set of conditions) or a list of alternatives tried in order. Selectors, tolerations and
opaque configuration are declared here too, because classes and allocation results carry the same types.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta

from dray.api.struct import ATOMIC, NO_JSON, REQUIRED, ApiStruct, Int64, always
from dray.values.quantity import Quantity

__all__ = [
    "AllocationMode",
    "CELDeviceSelector",
    "CapacityRequirements",
    "DeviceDerivedAttribute",
    "DeviceRequest",
    "DeviceSelector",
    "DeviceSubRequest",
    "DeviceToleration",
    "ExactDeviceRequest",
    "OpaqueDeviceConfiguration",
    "TaintEffect",
    "TolerationOperator",
]


class AllocationMode(StrEnum):
    """How many of the devices that meet the conditions a request takes."""

    ALL = "All"
    EXACT_COUNT = "ExactCount"


class TolerationOperator(StrEnum):
    """How a toleration compares its value with the value of a taint."""

    EQUAL = "Equal"
    EXISTS = "Exists"


class TaintEffect(StrEnum):
    """What a taint does to pods that use, or want to use, the device and do not tolerate it."""

    NO_EXECUTE = "NoExecute"
    NO_SCHEDULE = "NoSchedule"
    NONE = "None"


class CELDeviceSelector(ApiStruct):
    """A condition on a device, in the Common Expression Language."""

    expression: Annotated[
        str,
        Meta(
            description="CEL expression that is true for devices that fit. It sees one variable, `device`, with "
            "`driver` (the name of the driver), `attributes` and `capacity` (by domain, then by name, as in "
            '`device.attributes["gpu.example.com"].model`) and `allowMultipleAllocations`. Asking for an attribute '
            "that the device lacks is an error that stops the allocation; guard it with `in` or `.?`. At most "
            "10240 bytes and a worst-case cost of 1000000.",
            extra=REQUIRED,
        ),
    ] = always(str)


class DeviceSelector(ApiStruct):
    """One condition on a device. `cel` is the only kind of condition and has to be set."""

    cel: Annotated[CELDeviceSelector | None, Meta(description="The condition as a CEL expression. Required.")] = None


class DeviceToleration(ApiStruct):
    """Lets a request take devices in spite of certain taints.

    A taint is tolerated if key, effect and (unless the operator is `Exists`) value match; an empty key or effect
    matches all. After admission the operator is never empty.
    """

    key: Annotated[
        str,
        Meta(description="Key of the taints to tolerate. Empty tolerates every key; use that with operator Exists."),
    ] = ""
    operator: Annotated[
        str,
        Meta(
            description="Equal compares the value of the taint, Exists accepts any value. Defaults to Equal.",
            extra={"default": TolerationOperator.EQUAL, "enum": TolerationOperator},
        ),
    ] = ""
    value: Annotated[
        str, Meta(description="Value the taint must have with operator Equal. Must be empty with Exists.")
    ] = ""
    effect: Annotated[
        str,
        Meta(
            description="Effect of the taints to tolerate: None, NoSchedule or NoExecute. Empty tolerates all.",
            extra={"enum": TaintEffect},
        ),
    ] = ""
    toleration_seconds: Annotated[
        Int64 | None,
        Meta(
            description="How long a running pod may go on after a NoExecute taint was added; counted from the "
            "taint's timeAdded. Absent means forever, zero or less means evict at once."
        ),
    ] = None


class CapacityRequirements(ApiStruct):
    """Amounts of capacity that each device of a request must provide."""

    requests: Annotated[
        Mapping[str, Quantity],
        Meta(
            description="Least amount of each capacity. A device with less, or without that capacity, does not fit. "
            "From a device that allows several allocations this much is taken, after rounding it up by the "
            "capacity's request policy; capacities not named here are charged the policy's default, or whole. "
            "Names without a domain belong to the driver of the device."
        ),
    ] = {}


class DeviceDerivedAttribute(ApiStruct):
    """An attribute computed from a device, for use in the claim's constraints only.

    It hides a published attribute of the same name there, and must be used by a constraint that covers the request.
    """

    name: Annotated[
        str,
        Meta(
            description="Name that constraints refer to, domain and name separated by a slash. "
            "Unique within the request.",
            extra=REQUIRED,
        ),
    ] = always(str)
    expression: Annotated[
        str,
        Meta(
            description="CEL expression over `device` that computes the value: a string, integer, boolean or "
            "semantic version, or a list of one of these. At most 10240 bytes; all derived attributes of a claim "
            "share a worst-case cost of 1000000.",
            extra=REQUIRED,
        ),
    ] = always(str)


class OpaqueDeviceConfiguration(ApiStruct):
    """Parameters for one driver, which nobody else interprets.

    `parameters` keeps the bytes as they came, because their number is limited; absent is the same as `null`.
    """

    driver: Annotated[
        str,
        Meta(
            description="Driver that understands the parameters: a DNS subdomain of at most 63 characters.",
            extra=REQUIRED,
        ),
    ] = always(str)
    parameters: Annotated[
        msgspec.Raw,
        Meta(
            description="Any JSON object in the format of the driver, by custom with apiVersion and kind. "
            "At most 10 KiB.",
            extra=REQUIRED,
        ),
    ] = NO_JSON


class ExactDeviceRequest(ApiStruct):
    """A demand for devices that all meet the same conditions.

    After admission one of these holds: `allocation_mode` is ExactCount and `count` is positive, or `allocation_mode` is
    All and `count` is zero.
    """

    device_class_name: Annotated[
        str,
        Meta(
            description="DeviceClass whose selectors and configuration apply besides those given here. "
            "Required; whether the class exists is seen at allocation.",
            extra=REQUIRED,
        ),
    ] = always(str)
    selectors: Annotated[
        tuple[DeviceSelector, ...],
        Meta(
            description="Conditions that a device must meet, all of them, besides those of the class. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    allocation_mode: Annotated[
        str,
        Meta(
            description="ExactCount takes as many devices as count says. All takes every fitting device that the "
            "node can reach; it fails if there is none or if one is taken. Defaults to ExactCount.",
            extra={"enum": AllocationMode},
        ),
    ] = ""
    count: Annotated[
        Int64,
        Meta(description="Number of devices in mode ExactCount. Defaults to 1; must be absent in mode All."),
    ] = 0
    admin_access: Annotated[
        bool | None,
        Meta(
            description="Use devices for administration: without regard to who holds them and without taking them "
            'from anybody. Only in namespaces labelled resource.kubernetes.io/admin-access: "true".'
        ),
    ] = None
    tolerations: Annotated[
        tuple[DeviceToleration, ...],
        Meta(
            description="Taints that do not keep devices from this request. Copied into the allocation, where "
            "eviction looks. At most 16 are meant to be used.",
            extra=ATOMIC,
        ),
    ] = ()
    capacity: Annotated[
        CapacityRequirements | None, Meta(description="Amounts of capacity that each device must provide.")
    ] = None
    derived_attributes: Annotated[
        tuple[DeviceDerivedAttribute, ...],
        Meta(
            description="Attributes computed per device, for the claim's constraints. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()


class DeviceSubRequest(ApiStruct):
    """One alternative of a request. The same as an exact request, but named, and without admin access."""

    name: Annotated[
        str,
        Meta(
            description="Name of the alternative, unique within its request: a DNS label. Constraints, configuration "
            "and results refer to it as request/name.",
            extra=REQUIRED,
        ),
    ] = always(str)
    device_class_name: Annotated[
        str,
        Meta(
            description="DeviceClass whose selectors and configuration apply besides those given here. Required.",
            extra=REQUIRED,
        ),
    ] = always(str)
    selectors: Annotated[
        tuple[DeviceSelector, ...],
        Meta(
            description="Conditions that a device must meet, all of them, besides those of the class. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    allocation_mode: Annotated[
        str,
        Meta(
            description="ExactCount takes as many devices as count says, All every fitting device that the node can "
            "reach. Defaults to ExactCount.",
            extra={"enum": AllocationMode},
        ),
    ] = ""
    count: Annotated[
        Int64,
        Meta(description="Number of devices in mode ExactCount. Defaults to 1; must be absent in mode All."),
    ] = 0
    tolerations: Annotated[
        tuple[DeviceToleration, ...],
        Meta(
            description="Taints that do not keep devices from this alternative. At most 16 are meant to be used.",
            extra=ATOMIC,
        ),
    ] = ()
    capacity: Annotated[
        CapacityRequirements | None, Meta(description="Amounts of capacity that each device must provide.")
    ] = None
    derived_attributes: Annotated[
        tuple[DeviceDerivedAttribute, ...],
        Meta(
            description="Attributes computed per device, for the claim's constraints. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()


class DeviceRequest(ApiStruct):
    """A named demand for devices: exactly one of `exactly` and `first_available` is set."""

    name: Annotated[
        str,
        Meta(
            description="Name of the request, unique within the claim: a DNS label. Containers, constraints, "
            "configuration and results refer to it.",
            extra=REQUIRED,
        ),
    ] = always(str)
    exactly: Annotated[
        ExactDeviceRequest | None,
        Meta(description="Devices that all meet the same conditions. Set this or firstAvailable."),
    ] = None
    first_available: Annotated[
        tuple[DeviceSubRequest, ...],
        Meta(
            description="Alternatives in order of preference; the first that can be satisfied is allocated. "
            "At most 8. Set this or exactly.",
            extra=ATOMIC,
        ),
    ] = ()
