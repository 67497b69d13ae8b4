"""Access reviews: ask whether somebody may do something. They are answered, never stored."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from dray.api.meta import ApiObject, LabelSelectorRequirement
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always

__all__ = [
    "FieldSelectorAttributes",
    "FieldSelectorRequirement",
    "LabelSelectorAttributes",
    "LocalSubjectAccessReview",
    "NonResourceAttributes",
    "ResourceAttributes",
    "SelfSubjectAccessReview",
    "SelfSubjectAccessReviewSpec",
    "SubjectAccessReview",
    "SubjectAccessReviewSpec",
    "SubjectAccessReviewStatus",
]


class FieldSelectorRequirement(ApiStruct):
    """One condition on one field."""

    key: Annotated[str, Meta(description="Field the condition looks at.", extra=REQUIRED)] = always(str)
    operator: Annotated[str, Meta(description="In, NotIn, Exists or DoesNotExist.", extra=REQUIRED)] = always(str)
    values: Annotated[
        tuple[str, ...], Meta(description="What In and NotIn compare with; empty for the others.", extra=ATOMIC)
    ] = ()


class FieldSelectorAttributes(ApiStruct):
    """The field selector of the act in question."""

    raw_selector: Annotated[str, Meta(description="As text; it is not looked at.")] = ""
    requirements: Annotated[tuple[FieldSelectorRequirement, ...], Meta(description="Taken apart.", extra=ATOMIC)] = ()


class LabelSelectorAttributes(ApiStruct):
    """The label selector of the act in question."""

    raw_selector: Annotated[str, Meta(description="As text; it is not looked at.")] = ""
    requirements: Annotated[tuple[LabelSelectorRequirement, ...], Meta(description="Taken apart.", extra=ATOMIC)] = ()


class ResourceAttributes(ApiStruct):
    """An act on a resource. `*` stands for all."""

    namespace: Annotated[str, Meta(description="Namespace; empty is the whole cluster.")] = ""
    verb: Annotated[str, Meta(description="What is to be done.")] = ""
    group: Annotated[str, Meta(description="API group of the resource.")] = ""
    version: Annotated[str, Meta(description="API version of the resource.")] = ""
    resource: Annotated[str, Meta(description="The resource, in the plural.")] = ""
    subresource: Annotated[str, Meta(description="Subresource.")] = ""
    name: Annotated[str, Meta(description="Name of the object; empty is every name.")] = ""
    field_selector: Annotated[
        FieldSelectorAttributes | None, Meta(description="Field selector that narrows the act.")
    ] = None
    label_selector: Annotated[
        LabelSelectorAttributes | None, Meta(description="Label selector that narrows the act.")
    ] = None


class NonResourceAttributes(ApiStruct):
    """An act on a path outside the resources."""

    path: Annotated[str, Meta(description="The path.")] = ""
    verb: Annotated[str, Meta(description="HTTP method in lower case.")] = ""


class SubjectAccessReviewSpec(ApiStruct):
    """Who, and what; exactly one of the two attributes is set."""

    resource_attributes: Annotated[ResourceAttributes | None, Meta(description="An act on a resource.")] = None
    non_resource_attributes: Annotated[NonResourceAttributes | None, Meta(description="An act on a path.")] = None
    user: Annotated[str, Meta(description="The user.")] = ""
    groups: Annotated[tuple[str, ...], Meta(description="The groups.", extra=ATOMIC)] = ()
    extra: Annotated[Mapping[str, tuple[str, ...]], Meta(description="What else is known about the user, by key.")] = {}
    uid: Annotated[str, Meta(description="Uid of the user.")] = ""


class SelfSubjectAccessReviewSpec(ApiStruct):
    """What the caller wants to do; exactly one of the two attributes is set."""

    resource_attributes: Annotated[ResourceAttributes | None, Meta(description="An act on a resource.")] = None
    non_resource_attributes: Annotated[NonResourceAttributes | None, Meta(description="An act on a path.")] = None


class SubjectAccessReviewStatus(ApiStruct):
    """The answer. Neither allowed nor denied is still no."""

    allowed: Annotated[bool, Meta(description="Whether it is allowed.", extra=REQUIRED)] = always(bool)
    denied: Annotated[bool, Meta(description="Whether nobody else may allow it.")] = False
    reason: Annotated[str, Meta(description="Why.")] = ""
    evaluation_error: Annotated[str, Meta(description="What went wrong on the way to the answer.")] = ""


class SubjectAccessReview(ApiObject):
    """Asks whether a user or group may do something."""

    spec: Annotated[SubjectAccessReviewSpec, Meta(description="The question.", extra=REQUIRED)] = always(
        SubjectAccessReviewSpec
    )
    status: Annotated[SubjectAccessReviewStatus, Meta(description="The answer.")] = always(SubjectAccessReviewStatus)


class LocalSubjectAccessReview(ApiObject):
    """Asks whether a user or group may do something in the namespace it is sent to."""

    spec: Annotated[SubjectAccessReviewSpec, Meta(description="The question.", extra=REQUIRED)] = always(
        SubjectAccessReviewSpec
    )
    status: Annotated[SubjectAccessReviewStatus, Meta(description="The answer.")] = always(SubjectAccessReviewStatus)


class SelfSubjectAccessReview(ApiObject):
    """Asks whether the caller may do something."""

    spec: Annotated[SelfSubjectAccessReviewSpec, Meta(description="The question.", extra=REQUIRED)] = always(
        SelfSubjectAccessReviewSpec
    )
    status: Annotated[SubjectAccessReviewStatus, Meta(description="The answer.")] = always(SubjectAccessReviewStatus)
