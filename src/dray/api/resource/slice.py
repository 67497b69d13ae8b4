"""`ResourceSlice`: a part of a pool of devices, as its driver publishes it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from dray.api.core.nodeselector import NodeSelector
from dray.api.meta import ApiObject
from dray.api.resource.allocation import SkippableNodeOperation
from dray.api.resource.device import CounterSet, Device
from dray.api.struct import ATOMIC, REQUIRED, SET, ApiStruct, Int64, always

__all__ = ["ResourcePool", "ResourceSlice", "ResourceSliceSpec"]


class ResourcePool(ApiStruct):
    """The pool a slice belongs to, and which edition of it.

    Only slices of the highest generation count, and a pool is complete when there are `resource_slice_count` of them.
    """

    name: Annotated[
        str,
        Meta(
            description="Name of the pool, unique for the driver: one or more DNS subdomains separated by slashes. "
            "By custom the name of the node for devices of a node. Cannot be changed.",
            extra=REQUIRED,
        ),
    ] = always(str)
    generation: Annotated[
        Int64,
        Meta(
            description="Edition of the pool, raised by the driver with every change. Slices of lower editions are "
            "ignored.",
            extra=REQUIRED,
        ),
    ] = always(int)
    resource_slice_count: Annotated[
        Int64,
        Meta(
            description="Number of slices in this edition of the pool. With fewer of them present the pool is "
            "incomplete.",
            extra=REQUIRED,
        ),
    ] = always(int)


class ResourceSliceSpec(ApiStruct):
    """Devices, or the counters they draw on, and the nodes they can be used from.

    Exactly one of `node_name`, `node_selector`, `all_nodes` and `per_device_node_selection` is set. `devices` and
    `shared_counters` exclude each other, and there even an empty list counts as set. Beside an absent one it means
    nothing, is not written, and so is None here; only a pair with an empty list in it keeps that, to be refused.
    """

    driver: Annotated[
        str,
        Meta(
            description="Driver that publishes the slice: a DNS subdomain of at most 63 characters, in lower case. "
            "Cannot be changed.",
            extra=REQUIRED,
        ),
    ] = always(str)
    pool: Annotated[
        ResourcePool,
        Meta(description="The pool that the slice is a part of.", extra=REQUIRED),
    ] = always(ResourcePool)
    node_name: Annotated[
        str | None,
        Meta(description="The one node that the devices can be used from. Cannot be changed, set or removed later."),
    ] = None
    node_selector: Annotated[
        NodeSelector | None,
        Meta(description="The nodes that the devices can be used from, in exactly one term."),
    ] = None
    all_nodes: Annotated[bool | None, Meta(description="True: the devices can be used from every node.")] = None
    devices: Annotated[
        tuple[Device, ...] | None,
        Meta(
            description="The devices. At most 128, or 64 if any of them has taints, lists in attributes, or draws on "
            "counters. Not together with sharedCounters.",
            extra=ATOMIC,
        ),
    ] = None
    per_device_node_selection: Annotated[
        bool | None, Meta(description="True: each device says from which nodes it can be used.")
    ] = None
    shared_counters: Annotated[
        tuple[CounterSet, ...] | None,
        Meta(
            description="Counter sets on which devices in other slices of the pool draw. At most 8. "
            "Not together with devices.",
            extra=ATOMIC,
        ),
    ] = None
    partition_type_attribute: Annotated[
        str | None,
        Meta(
            description="Attribute, with domain, that names the type of each device that draws on counters, for "
            "summaries by type.",
        ),
    ] = None
    skip_node_operations: Annotated[
        tuple[str, ...],
        Meta(
            description="Calls to the driver that nodes may leave out for these devices: NodePrepareResources, "
            "NodeUnprepareResources, or * for all. Preparing can be left out only together with unpreparing.",
            extra={"enum": SkippableNodeOperation} | SET,
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Forget an empty list that stands alone."""
        if self.devices == () and self.shared_counters is None:
            msgspec.structs.force_setattr(self, "devices", None)
        elif self.shared_counters == () and self.devices is None:
            msgspec.structs.force_setattr(self, "shared_counters", None)


class ResourceSlice(ApiObject):
    """A part of a pool of devices, written by the driver that owns them.

    A pool, named by driver and pool name, may take several slices; a device is named by driver, pool and device name.
    """

    spec: Annotated[
        ResourceSliceSpec,
        Meta(description="The devices, or what they draw on.", extra=REQUIRED),
    ] = always(ResourceSliceSpec)
