"""`ResourcePoolStatusRequest`: a question about pools of devices, answered once."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, Condition, ObjectMeta
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, Int64, always, list_map
from dray.values.quantity import Quantity

__all__ = [
    "PartitionTypeStatus",
    "PoolStatus",
    "ResourcePoolStatusRequest",
    "ResourcePoolStatusRequestSpec",
    "ResourcePoolStatusRequestStatus",
    "ShareableCapacityStatus",
    "ShareableSummaryStatus",
]


class PartitionTypeStatus(ApiStruct):
    """How many devices of one type of partition a pool has."""

    attribute: Annotated[str | None, Meta(description="Attribute that names the type. Required.", extra=REQUIRED)] = (
        None
    )
    type: Annotated[str | None, Meta(description="Value of the attribute. Required.", extra=REQUIRED)] = None
    total: Annotated[Int32 | None, Meta(description="Devices of the type in the pool. Required.", extra=REQUIRED)] = (
        None
    )
    allocatable: Annotated[
        Int32 | None,
        Meta(description="Devices of the type that could be allocated at present. Required.", extra=REQUIRED),
    ] = None


class ShareableCapacityStatus(ApiStruct):
    """One capacity, summed over the shareable devices of a pool."""

    name: Annotated[str | None, Meta(description="Name of the capacity. Required.", extra=REQUIRED)] = None
    total: Annotated[Quantity | None, Meta(description="What the devices have in all. Required.", extra=REQUIRED)] = (
        None
    )
    consumed: Annotated[Quantity | None, Meta(description="What allocations have taken. Required.", extra=REQUIRED)] = (
        None
    )
    available: Annotated[Quantity | None, Meta(description="What is left. Required.", extra=REQUIRED)] = None


class ShareableSummaryStatus(ApiStruct):
    """The devices of a pool that allow several allocations."""

    fully_available_devices: Annotated[
        Int32 | None, Meta(description="Devices of which nothing is taken. Required.", extra=REQUIRED)
    ] = None
    partially_available_devices: Annotated[
        Int32 | None, Meta(description="Devices of which some is taken. Required.", extra=REQUIRED)
    ] = None
    capacity: Annotated[
        tuple[ShareableCapacityStatus, ...],
        Meta(description="Sums for each capacity. At most 32.", extra=ATOMIC),
    ] = ()


class PoolStatus(ApiStruct):
    """What one pool has, and how much of it is in use.

    `available` is `total` less `allocated` and `unavailable`. An incomplete pool has `validation_error` and no counts.
    """

    driver: Annotated[str | None, Meta(description="Driver of the pool. Required.", extra=REQUIRED)] = None
    pool_name: Annotated[str | None, Meta(description="Name of the pool. Required.", extra=REQUIRED)] = None
    generation: Annotated[
        Int64, Meta(description="Edition of the pool that was looked at. Required.", extra=REQUIRED)
    ] = always(int)
    resource_slice_count: Annotated[Int32 | None, Meta(description="Number of slices of the pool.")] = None
    total_devices: Annotated[Int32 | None, Meta(description="Devices in the pool.")] = None
    allocated_devices: Annotated[Int32 | None, Meta(description="Devices that claims hold.")] = None
    available_devices: Annotated[Int32 | None, Meta(description="Devices that could be allocated.")] = None
    unavailable_devices: Annotated[
        Int32 | None, Meta(description="Devices that nobody holds and nobody can get, for example because of taints.")
    ] = None
    node_name: Annotated[
        str | None, Meta(description="The node whose devices these are, if the pool belongs to one.")
    ] = None
    validation_error: Annotated[str | None, Meta(description="Why the pool cannot be counted. At most 256 bytes.")] = (
        None
    )
    partition_summary: Annotated[
        tuple[PartitionTypeStatus, ...],
        Meta(description="Counts by type of partition. At most 32.", extra=ATOMIC),
    ] = ()
    shareable_summary: Annotated[
        ShareableSummaryStatus | None,
        Meta(description="Sums over the devices that allow several allocations, if there are any."),
    ] = None


class ResourcePoolStatusRequestSpec(ApiStruct):
    """Which pools are asked about. Never changes once the request exists."""

    driver: Annotated[str, Meta(description="Driver of the pools.", extra=REQUIRED)] = always(str)
    pool_name: Annotated[str | None, Meta(description="Only this pool. Absent asks about all of the driver.")] = None
    limit: Annotated[
        Int32 | None,
        Meta(description="Greatest number of pools in the answer, 1 to 1000. Defaults to 100.", extra={"default": 100}),
    ] = None
    default_partition_type_attribute: Annotated[
        str | None,
        Meta(
            description="Attribute, with domain, that names the type of partitions in slices that do not name one "
            "themselves."
        ),
    ] = None


class ResourcePoolStatusRequestStatus(ApiStruct):
    """The answer. Written once and never changed."""

    pool_count: Annotated[
        Int32 | None,
        Meta(
            description="Number of pools that match, listed or not. Required.",
            extra=REQUIRED,
        ),
    ] = None
    pools: Annotated[
        tuple[PoolStatus, ...],
        Meta(
            description="The pools, by driver and name, as many as limit allows. At most 1000.",
            extra=ATOMIC,
        ),
    ] = ()
    conditions: Annotated[
        tuple[Condition, ...],
        Meta(
            description="Complete when the answer stands, Failed when there is none. At most 10.",
            extra=list_map("type"),
        ),
    ] = ()


class ResourcePoolStatusRequest(ApiObject):
    """A question about pools, answered once: create it, wait for the status, read, delete.

    `status` is None until the answer is written.
    """

    metadata: Annotated[ObjectMeta, Meta(description="Standard metadata of the object.", extra=REQUIRED)] = always(
        ObjectMeta
    )
    spec: Annotated[
        ResourcePoolStatusRequestSpec,
        Meta(description="What is asked. Cannot be changed after creation.", extra=REQUIRED),
    ] = always(ResourcePoolStatusRequestSpec)
    status: Annotated[
        ResourcePoolStatusRequestStatus | None, Meta(description="The answer. Absent until there is one.")
    ] = None
