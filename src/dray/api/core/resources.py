"""What a container or pod asks for, in amounts and in claimed devices.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.struct import REQUIRED, ApiStruct, always, list_map
from dray.values.quantity import Quantity

__all__ = ["ResourceClaim", "ResourceRequirements"]


class ResourceClaim(ApiStruct):
    """One use of a claimed device by a container."""

    name: Annotated[
        str,
        Meta(description="Entry of spec.resourceClaims of the pod whose devices the container gets.", extra=REQUIRED),
    ] = always(str)
    request: Annotated[
        str, Meta(description="Only the devices of this request of the claim; empty means all of them.")
    ] = ""


class ResourceRequirements(ApiStruct):
    """Amounts a container may use, amounts it needs to be placed, and devices it uses."""

    limits: Annotated[Mapping[str, Quantity], Meta(description="The most the container may use, by resource.")] = {}
    requests: Annotated[
        Mapping[str, Quantity],
        Meta(description="What the scheduler sets aside, by resource; taken from limits where absent."),
    ] = {}
    claims: Annotated[
        tuple[ResourceClaim, ...],
        Meta(
            description="Devices from the pod's resource claims that become visible in the container.",
            extra=list_map("name", patch=""),
        ),
    ] = ()
