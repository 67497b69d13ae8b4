"""`SelfSubjectRulesReview`: asks for all one may do in a namespace. It is answered, never stored."""

from typing import Annotated

from msgspec import Meta, field

from dray.api.meta import ApiObject
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, always

__all__ = [
    "NonResourceRule",
    "ResourceRule",
    "SelfSubjectRulesReview",
    "SelfSubjectRulesReviewSpec",
    "SubjectRulesReviewStatus",
]


class ResourceRule(ApiStruct):
    """Acts on resources that are allowed."""

    verbs: Annotated[tuple[str, ...], Meta(description="What may be done.", extra=REQUIRED | ATOMIC)] = always(
        lambda: ()
    )
    api_groups: Annotated[tuple[str, ...], Meta(description="Groups of the resources.", extra=ATOMIC)] = ()
    resources: Annotated[tuple[str, ...], Meta(description="The resources.", extra=ATOMIC)] = ()
    resource_names: Annotated[tuple[str, ...], Meta(description="Names; absent is every name.", extra=ATOMIC)] = ()


class NonResourceRule(ApiStruct):
    """Acts on paths that are allowed."""

    verbs: Annotated[tuple[str, ...], Meta(description="What may be done.", extra=REQUIRED | ATOMIC)] = always(
        lambda: ()
    )
    non_resource_urls: Annotated[tuple[str, ...], Meta(description="The paths.", extra=ATOMIC)] = field(
        default=(), name="nonResourceURLs"
    )


class SelfSubjectRulesReviewSpec(ApiStruct):
    """The question."""

    namespace: Annotated[str, Meta(description="The namespace.")] = ""


class SubjectRulesReviewStatus(ApiStruct):
    """The answer, which may leave out what other authorizers allow."""

    resource_rules: Annotated[
        tuple[ResourceRule, ...], Meta(description="What is allowed on resources.", extra=REQUIRED | ATOMIC)
    ] = always(lambda: ())
    non_resource_rules: Annotated[
        tuple[NonResourceRule, ...], Meta(description="What is allowed on paths.", extra=REQUIRED | ATOMIC)
    ] = always(lambda: ())
    incomplete: Annotated[bool, Meta(description="Whether something may be missing.", extra=REQUIRED)] = always(bool)
    evaluation_error: Annotated[str, Meta(description="What went wrong on the way to the answer.")] = ""


class SelfSubjectRulesReview(ApiObject):
    """Asks for all the caller may do in a namespace."""

    spec: Annotated[SelfSubjectRulesReviewSpec, Meta(description="The question.", extra=REQUIRED)] = always(
        SelfSubjectRulesReviewSpec
    )
    status: Annotated[SubjectRulesReviewStatus, Meta(description="The answer.")] = always(SubjectRulesReviewStatus)
