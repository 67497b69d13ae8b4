"""`ResourceClaim`: a wish for devices, and what became of it."""

from typing import Annotated

import msgspec
from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.resource.allocation import ResourceClaimStatus
from dray.api.resource.request import DeviceRequest, OpaqueDeviceConfiguration
from dray.api.struct import ATOMIC, ApiStruct, always, always_null

__all__ = ["DeviceClaim", "DeviceClaimConfiguration", "DeviceConstraint", "ResourceClaim", "ResourceClaimSpec"]


class DeviceConstraint(ApiStruct):
    """A condition on the devices of several requests together. At least one attribute is set."""

    requests: Annotated[
        tuple[str, ...],
        Meta(
            description="Requests, or alternatives as request/alternative, whose devices the condition is about. "
            "Empty means all. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    match_attribute: Annotated[
        str | None,
        Meta(
            description="Attribute, with domain, that all the devices must have with the same type and value, such "
            "as the same NUMA node. Lists match if they have an element in common.",
        ),
    ] = None
    distinct_attribute: Annotated[
        str | None,
        Meta(
            description="Attribute, with domain, that must differ between all the devices. Lists differ if they have "
            "no element in common.",
        ),
    ] = None


class DeviceClaimConfiguration(ApiStruct):
    """Configuration that goes with the devices of some requests. It plays no part in choosing them."""

    requests: Annotated[
        tuple[str, ...],
        Meta(
            description="Requests, or alternatives as request/alternative, that the configuration is for. "
            "Empty means all. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    opaque: Annotated[OpaqueDeviceConfiguration | None, Meta(description="Parameters for one driver. Required.")] = None


class DeviceClaim(ApiStruct):
    """The devices a claim asks for. No request at all is a valid claim, for which nothing has to be allocated.

    `requests` is None where there are none, never an empty tuple: Kubernetes writes both as null.
    """

    requests: Annotated[
        tuple[DeviceRequest, ...] | None,
        Meta(
            description="Demands that must all be met, at the same time and for the same node. At most 32.",
            extra=ATOMIC,
        ),
    ] = always_null()
    constraints: Annotated[
        tuple[DeviceConstraint, ...],
        Meta(
            description="Conditions on the devices of several requests together. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()
    config: Annotated[
        tuple[DeviceClaimConfiguration, ...],
        Meta(
            description="Configuration for drivers, handed on with the allocation. At most 32.",
            extra=ATOMIC,
        ),
    ] = ()

    def __post_init__(self) -> None:
        """Take an empty list of requests for none."""
        if self.requests == ():
            msgspec.structs.force_setattr(self, "requests", None)


class ResourceClaimSpec(ApiStruct):
    """What a claim asks for. Never changes once the claim exists."""

    devices: Annotated[DeviceClaim, Meta(description="The devices that the claim asks for.")] = always(DeviceClaim)


class ResourceClaim(ApiObject):
    """A wish for devices, allocated and used as a whole, by one or more pods of its namespace.

    The spec is fixed at creation; status is written through the status subresource alone.
    """

    spec: Annotated[ResourceClaimSpec, Meta(description="What is asked for. Cannot be changed after creation.")] = (
        always(ResourceClaimSpec)
    )
    status: Annotated[
        ResourceClaimStatus, Meta(description="Whether the claim has devices, which, and who uses them.")
    ] = always(ResourceClaimStatus)
