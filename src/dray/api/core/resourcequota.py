"""`ResourceQuota`: how much the objects of a namespace may ask for together."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from msgspec import Meta

from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always
from dray.values.quantity import Quantity

__all__ = [
    "SCOPES",
    "ResourceQuota",
    "ResourceQuotaSpec",
    "ResourceQuotaStatus",
    "ScopeSelector",
    "ScopedResourceSelectorRequirement",
]

SCOPES = (
    "BestEffort",
    "CrossNamespacePodAffinity",
    "NotBestEffort",
    "NotTerminating",
    "PriorityClass",
    "Terminating",
    "VolumeAttributesClass",
)


class ScopedResourceSelectorRequirement(ApiStruct):
    """A condition on the objects that a quota counts."""

    scope_name: Annotated[
        str, Meta(description="Which property of an object is looked at.", extra={"enum": SCOPES} | REQUIRED)
    ] = always(str)
    operator: Annotated[
        str,
        Meta(description="How it is compared.", extra={"enum": ("DoesNotExist", "Exists", "In", "NotIn")} | REQUIRED),
    ] = always(str)
    values: Annotated[tuple[str, ...], Meta(description="What In and NotIn compare with.", extra=ATOMIC)] = ()


class ScopeSelector(ApiStruct):
    """Which objects a quota counts; all conditions must hold."""

    schema_extensions: ClassVar[Mapping[str, object]] = {"x-kubernetes-map-type": "atomic"}

    match_expressions: Annotated[
        tuple[ScopedResourceSelectorRequirement, ...], Meta(description="The conditions.", extra=ATOMIC)
    ] = ()


class ResourceQuotaSpec(ApiStruct):
    """The limits of a quota and what they count."""

    hard: Annotated[
        Mapping[str, Quantity],
        Meta(
            description="Limits by name, such as pods, requests.cpu or "
            "gpu.deviceclass.resource.k8s.io/devices for devices of the class gpu."
        ),
    ] = {}
    scopes: Annotated[
        tuple[str, ...],
        Meta(description="Objects must be in all these scopes to be counted.", extra=ATOMIC | {"enum": SCOPES}),
    ] = ()
    scope_selector: Annotated[ScopeSelector | None, Meta(description="Further conditions on objects.")] = None


class ResourceQuotaStatus(ApiStruct):
    """What admission counts against."""

    hard: Annotated[Mapping[str, Quantity], Meta(description="The limits that are enforced.")] = {}
    used: Annotated[Mapping[str, Quantity], Meta(description="What is in use.")] = {}


class ResourceQuota(ApiObject):
    """How much the objects of a namespace may ask for together."""

    spec: Annotated[ResourceQuotaSpec, Meta(description="The limits.")] = always(ResourceQuotaSpec)
    status: Annotated[ResourceQuotaStatus, Meta(description="Limits and use as last counted.")] = always(
        ResourceQuotaStatus
    )
