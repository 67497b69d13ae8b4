"""The classic API, v1alpha1 and v1alpha2: what a request was lay in objects of the driver, behind parametersRef.

The driver, or with structured parameters the scheduler, decided by them. Only the shapes are left, to tell unknown
fields from known ones.
"""

from typing import Annotated

import msgspec
from msgspec import Meta, field

from dray.api.core.nodeselector import NodeSelector
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.struct import NO_JSON, ApiStruct
from dray.values.quantity import Quantity

__all__ = [
    "CLASSIC_SHAPES",
    "ClassicClaim",
    "ClassicClaimTemplate",
    "ClassicSlice",
    "PodSchedulingContext",
    "ResourceClaimParameters",
    "ResourceClass",
    "ResourceClassParameters",
]

_Boolean = bool
_Integer = int
"""Types by names that no field has."""

_Json = Annotated[msgspec.Raw, Meta(description="Anything.")]


class ParametersReference(ApiStruct):
    """An object with parameters for the driver."""

    api_group: Annotated[str, Meta(description="API group of the object.")] = ""
    kind: Annotated[str, Meta(description="Kind of the object.")] = ""
    name: Annotated[str, Meta(description="Name of the object.")] = ""
    namespace: Annotated[str, Meta(description="Namespace of the object; for classes only.")] = ""


class ResourceClass(ApiObject):
    """What administrators offered: a driver, and parameters for it."""

    driver_name: Annotated[str, Meta(description="Driver that allocated.")] = ""
    parameters_ref: Annotated[ParametersReference | None, Meta(description="Parameters for the driver.")] = None
    suitable_nodes: Annotated[NodeSelector | None, Meta(description="Nodes that had a chance.")] = None
    structured_parameters: Annotated[bool | None, Meta(description="Whether the scheduler allocated.")] = None


class ClassicClaimSpec(ApiStruct):
    """A claim was for whatever the parameters said."""

    resource_class_name: Annotated[str, Meta(description="The ResourceClass.")] = ""
    parameters_ref: Annotated[ParametersReference | None, Meta(description="Parameters for the driver.")] = None
    allocation_mode: Annotated[str, Meta(description="Immediate or WaitForFirstConsumer.")] = ""


class ClassicClaim(ApiObject):
    """ResourceClaim before requests."""

    spec: Annotated[ClassicClaimSpec, Meta(description="What was wanted.")] = field(default_factory=ClassicClaimSpec)
    status: _Json = NO_JSON


class ClassicClaimTemplateSpec(ApiStruct):
    """A claim to be made."""

    metadata: Annotated[ObjectMeta | None, Meta(description="Labels and annotations of the claim.")] = None
    spec: Annotated[ClassicClaimSpec, Meta(description="The claim.")] = field(default_factory=ClassicClaimSpec)


class ClassicClaimTemplate(ApiObject):
    """ResourceClaimTemplate before requests."""

    spec: Annotated[ClassicClaimTemplateSpec, Meta(description="The claim to be made.")] = field(
        default_factory=ClassicClaimTemplateSpec
    )


class PodSchedulingContext(ApiObject):
    """How scheduler and drivers agreed on a node."""

    spec: _Json = NO_JSON
    status: _Json = NO_JSON


class IntSlice(ApiStruct):
    """A list of numbers."""

    ints: Annotated[tuple[int, ...], Meta(description="The numbers.")] = ()


class StringSlice(ApiStruct):
    """A list of texts."""

    strings: Annotated[tuple[str, ...], Meta(description="The texts.")] = ()


class NamedResourcesAttribute(ApiStruct):
    """A property of an instance."""

    name: Annotated[str, Meta(description="Its name.")] = ""
    quantity: Annotated[Quantity | None, Meta(description="An amount.")] = None
    bool: Annotated[_Boolean | None, Meta(description="True or false.")] = None
    int: Annotated[_Integer | None, Meta(description="A number.")] = None
    int_slice: Annotated[IntSlice | None, Meta(description="Numbers.")] = None
    string: Annotated[str | None, Meta(description="A text.")] = None
    string_slice: Annotated[StringSlice | None, Meta(description="Texts.")] = None
    version: Annotated[str | None, Meta(description="A semantic version.")] = None


class NamedResourcesInstance(ApiStruct):
    """A device."""

    name: Annotated[str, Meta(description="Its name.")] = ""
    attributes: Annotated[tuple[NamedResourcesAttribute, ...], Meta(description="Its properties.")] = ()


class NamedResources(ApiStruct):
    """Devices by name."""

    instances: Annotated[tuple[NamedResourcesInstance, ...], Meta(description="The devices.")] = ()


class ClassicSlice(ApiObject):
    """ResourceSlice of v1alpha2."""

    node_name: Annotated[str, Meta(description="The node that has the devices.")] = ""
    driver_name: Annotated[str, Meta(description="The driver of the devices.")] = ""
    named_resources: Annotated[NamedResources | None, Meta(description="The devices.")] = None


class NamedSelector(ApiStruct):
    """A condition on the attributes of an instance."""

    selector: Annotated[str, Meta(description="The condition, over `attributes`.")] = ""


class ResourceRequest(ApiStruct):
    """A wish for one instance."""

    vendor_parameters: _Json = NO_JSON
    named_resources: Annotated[NamedSelector | None, Meta(description="Which instances will do.")] = None


class DriverRequests(ApiStruct):
    """What was wanted of one driver."""

    driver_name: Annotated[str, Meta(description="The driver.")] = ""
    vendor_parameters: _Json = NO_JSON
    requests: Annotated[tuple[ResourceRequest, ...], Meta(description="An instance for each.")] = ()


class ResourceClaimParameters(ApiObject):
    """Parameters of a claim that the scheduler understood."""

    generated_from: Annotated[ParametersReference | None, Meta(description="The driver's own object.")] = None
    shareable: Annotated[bool, Meta(description="Whether several pods could use the claim.")] = False
    driver_requests: Annotated[tuple[DriverRequests, ...], Meta(description="What was wanted.")] = ()


class ResourceFilter(ApiStruct):
    """Which instances of a driver a class was for."""

    driver_name: Annotated[str, Meta(description="The driver.")] = ""
    named_resources: Annotated[NamedSelector | None, Meta(description="The condition.")] = None


class VendorParameters(ApiStruct):
    """Configuration for a driver."""

    driver_name: Annotated[str, Meta(description="The driver.")] = ""
    parameters: _Json = NO_JSON


class ResourceClassParameters(ApiObject):
    """Parameters of a class that the scheduler understood."""

    generated_from: Annotated[ParametersReference | None, Meta(description="The driver's own object.")] = None
    vendor_parameters: Annotated[tuple[VendorParameters, ...], Meta(description="Configuration.")] = ()
    filters: Annotated[tuple[ResourceFilter, ...], Meta(description="Conditions.")] = ()


CLASSIC_SHAPES: dict[str, type[ApiObject]] = {
    "ResourceClass": ResourceClass,
    "ResourceClaim": ClassicClaim,
    "ResourceClaimTemplate": ClassicClaimTemplate,
    "PodScheduling": PodSchedulingContext,
    "PodSchedulingContext": PodSchedulingContext,
    "ResourceSlice": ClassicSlice,
    "ResourceClaimParameters": ResourceClaimParameters,
    "ResourceClassParameters": ResourceClassParameters,
}
"""The shape of each kind of the classic API."""
