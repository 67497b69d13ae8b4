"""The status of a claim: which devices it was given, who uses it, and what drivers report of the devices."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import msgspec
from msgspec import Meta, field

from dray.api.core.nodeselector import NodeSelector
from dray.api.meta import Condition
from dray.api.resource.request import DeviceToleration, OpaqueDeviceConfiguration
from dray.api.struct import ATOMIC, NO_JSON, REQUIRED, SET, ApiStruct, always, always_null, list_map
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = [
    "AllocatedDeviceStatus",
    "AllocationConfigSource",
    "AllocationResult",
    "DeviceAllocationConfiguration",
    "DeviceAllocationResult",
    "DeviceRequestAllocationResult",
    "NetworkDeviceData",
    "ResourceClaimConsumerReference",
    "ResourceClaimStatus",
    "SkippableNodeOperation",
]


class AllocationConfigSource(StrEnum):
    """Where an allocator found a configuration."""

    CLAIM = "FromClaim"
    CLASS = "FromClass"


class SkippableNodeOperation(StrEnum):
    """Calls to the driver that a node may leave out for a device."""

    ALL = "*"
    PREPARE = "NodePrepareResources"
    UNPREPARE = "NodeUnprepareResources"


class DeviceRequestAllocationResult(ApiStruct):
    """One device that was allocated for one request.

    (driver, pool, device) names the device, together with `share_id` the share of it. Tolerations, binding conditions
    and operations to skip are copies of what held at the time of allocation.
    """

    request: Annotated[
        str,
        Meta(
            description="Request that the device satisfies, or request/alternative if the request lists alternatives.",
            extra=REQUIRED,
        ),
    ] = always(str)
    driver: Annotated[str, Meta(description="Driver that published the device and prepares it.", extra=REQUIRED)] = (
        always(str)
    )
    pool: Annotated[str, Meta(description="Pool the device belongs to.", extra=REQUIRED)] = always(str)
    device: Annotated[str, Meta(description="Name of the device, unique within its pool.", extra=REQUIRED)] = always(
        str
    )
    admin_access: Annotated[
        bool | None,
        Meta(description="Whether the device was allocated for administration, which takes it from nobody."),
    ] = None
    tolerations: Annotated[
        tuple[DeviceToleration, ...],
        Meta(
            description="The request's tolerations at the time of allocation. Eviction decides by these.",
            extra=ATOMIC,
        ),
    ] = ()
    binding_conditions: Annotated[
        tuple[str, ...],
        Meta(
            description="Conditions that must be True in the device's status before a pod is bound. At most 4.",
            extra=ATOMIC,
        ),
    ] = ()
    binding_failure_conditions: Annotated[
        tuple[str, ...],
        Meta(
            description="Conditions of which a single True one in the device's status aborts the binding. At most 4.",
            extra=ATOMIC,
        ),
    ] = ()
    share_id: Annotated[
        str | None,
        Meta(
            description="Names this share of a device that allows several allocations: a lower-case UUID.",
        ),
    ] = field(default=None, name="shareID")
    consumed_capacity: Annotated[
        Mapping[str, Quantity],
        Meta(
            description="How much this share takes of each capacity of the device. All shares together never take "
            "more than the device has."
        ),
    ] = {}
    skip_node_operations: Annotated[
        tuple[str, ...],
        Meta(
            description="Calls to the driver that the node leaves out, if all devices of that driver in the claim say "
            "so: NodePrepareResources, NodeUnprepareResources or *.",
            extra={"enum": SkippableNodeOperation} | SET,
        ),
    ] = ()


class DeviceAllocationConfiguration(ApiStruct):
    """Configuration for allocated devices, copied from the class or the claim when the devices were allocated."""

    source: Annotated[
        str,
        Meta(
            description="Where the configuration comes from: FromClass or FromClaim. Drivers let claims override "
            "classes.",
            extra={"enum": AllocationConfigSource} | REQUIRED,
        ),
    ] = always(str)
    requests: Annotated[
        tuple[str, ...],
        Meta(
            description="Requests, or alternatives as request/alternative, that the configuration is for. "
            "Empty means all. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    opaque: Annotated[OpaqueDeviceConfiguration | None, Meta(description="Parameters for one driver. Required.")] = None


class DeviceAllocationResult(ApiStruct):
    """All devices of a claim, with their configuration."""

    results: Annotated[
        tuple[DeviceRequestAllocationResult, ...],
        Meta(description="The allocated devices, one entry each. At most 32.", extra=ATOMIC),
    ] = ()
    config: Annotated[
        tuple[DeviceAllocationConfiguration, ...],
        Meta(
            description="Configuration of classes and claim; where entries disagree the driver decides, and by custom "
            "the later one wins. At most 64.",
            extra=ATOMIC,
        ),
    ] = ()


class AllocationResult(ApiStruct):
    """What a claim was given. Set once and then only cleared, never edited in place."""

    devices: Annotated[DeviceAllocationResult, Meta(description="The allocated devices.")] = always(
        DeviceAllocationResult
    )
    node_selector: Annotated[
        NodeSelector | None,
        Meta(description="Nodes from which all the devices can be used. Absent means all nodes."),
    ] = None
    allocation_timestamp: Annotated[
        Time | None,
        Meta(description="When the devices were allocated; waiting for binding conditions counts from here."),
    ] = None


class ResourceClaimConsumerReference(ApiStruct):
    """Someone who may use an allocated claim: a pod or a group of pods in the claim's namespace."""

    api_group: Annotated[str, Meta(description="API group of the consumer. Empty is the core group.")] = ""
    resource: Annotated[
        str, Meta(description="Plural resource name of the consumer, such as pods.", extra=REQUIRED)
    ] = always(str)
    name: Annotated[str, Meta(description="Name of the consumer.", extra=REQUIRED)] = always(str)
    uid: Annotated[
        str,
        Meta(
            description="UID of the consumer, which tells it from a later object of the same name.",
            extra=REQUIRED,
        ),
    ] = always(str)


class NetworkDeviceData(ApiStruct):
    """What a driver reports of a network interface."""

    interface_name: Annotated[
        str, Meta(description="Name of the interface inside the pod, such as eth1. At most 256 bytes.")
    ] = ""
    ips: Annotated[
        tuple[str, ...],
        Meta(
            description="Addresses of the interface with their prefix lengths, as in 192.0.2.5/24. At most 16.",
            extra=ATOMIC,
        ),
    ] = ()
    hardware_address: Annotated[
        str, Meta(description="Hardware (MAC) address of the interface. At most 128 bytes.")
    ] = ""


class AllocatedDeviceStatus(ApiStruct):
    """What a driver reports of one allocated device, or one share of it.

    (driver, pool, device, share ID) repeats a result of the allocation; there is one entry for each at most.
    """

    driver: Annotated[str, Meta(description="Driver of the device.", extra=REQUIRED)] = always(str)
    pool: Annotated[str, Meta(description="Pool of the device.", extra=REQUIRED)] = always(str)
    device: Annotated[str, Meta(description="Name of the device.", extra=REQUIRED)] = always(str)
    share_id: Annotated[
        str | None,
        Meta(description="Share of the device. Must be the one in the allocation; absent if there is none."),
    ] = field(default=None, name="shareID")
    conditions: Annotated[
        tuple[Condition, ...] | None,
        Meta(
            description="State of the device by aspect; by custom Ready says that it is in use as wanted. At most 8.",
            extra=list_map("type", patch=""),
        ),
    ] = always_null()
    data: Annotated[msgspec.Raw, Meta(description="Any JSON object the driver wants to report. At most 10 KiB.")] = (
        NO_JSON
    )
    network_data: Annotated[
        NetworkDeviceData | None, Meta(description="Addresses of the device, if it is a network interface.")
    ] = None

    def __post_init__(self) -> None:
        """Write an empty list of conditions as null, as absent ones are, and take null for absent data."""
        if self.conditions == ():
            msgspec.structs.force_setattr(self, "conditions", None)
        if self.data is not NO_JSON and bytes(self.data) in (b"", b"null"):
            msgspec.structs.force_setattr(self, "data", NO_JSON)


class ResourceClaimStatus(ApiStruct):
    """What became of a claim: its devices, who uses them, and how they are.

    Without an allocation nobody is in `reserved_for`; with somebody in `reserved_for` the allocation stays.
    """

    allocation: Annotated[
        AllocationResult | None,
        Meta(description="What the claim was given. Absent while the claim waits for devices."),
    ] = None
    reserved_for: Annotated[
        tuple[ResourceClaimConsumerReference, ...],
        Meta(
            description="Who may use the claim now. A pod does not start before it stands here, and the claim keeps "
            "its devices while anybody does. At most 256.",
            extra=list_map("uid"),
        ),
    ] = ()
    devices: Annotated[
        tuple[AllocatedDeviceStatus, ...],
        Meta(
            description="What drivers report of the allocated devices.",
            extra=list_map("driver", "device", "pool", "shareID", patch=""),
        ),
    ] = ()
