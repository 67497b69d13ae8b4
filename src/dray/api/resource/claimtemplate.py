"""`ResourceClaimTemplate`: the pattern of which each pod gets its own claim."""

from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, ObjectMeta
from dray.api.resource.claim import ResourceClaimSpec
from dray.api.struct import ApiStruct, always

__all__ = ["ResourceClaimTemplate", "ResourceClaimTemplateSpec"]


class ResourceClaimTemplateSpec(ApiStruct):
    """What is copied into each claim. Never changes once the template exists."""

    metadata: Annotated[
        ObjectMeta,
        Meta(description="Labels and annotations for the claims made from the template; other fields are refused."),
    ] = always(ObjectMeta)
    spec: Annotated[
        ResourceClaimSpec, Meta(description="Spec of the claims made from the template, copied as it is.")
    ] = always(ResourceClaimSpec)


class ResourceClaimTemplate(ApiObject):
    """The pattern of which each pod that refers to it gets a claim of its own, deleted with the pod."""

    spec: Annotated[
        ResourceClaimTemplateSpec, Meta(description="The claims to make. Cannot be changed after creation.")
    ] = always(ResourceClaimTemplateSpec)
