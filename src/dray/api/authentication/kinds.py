"""The kinds of `authentication.k8s.io`: questions that are answered and forgotten."""

from msgspec.structs import replace

from dray.api.authentication.checks import DEFAULT_TOKEN_SECONDS, check_token_request
from dray.api.authentication.selfreview import SelfSubjectReview
from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.authentication.tokenreview import TokenReview
from dray.api.kind import Kind, Scope, ServedVersion
from dray.values.times import Time

__all__ = ["BODIES", "GROUP", "KINDS", "SELF_SUBJECT_REVIEW", "TOKEN_REQUEST", "TOKEN_REVIEW"]

GROUP = "authentication.k8s.io"
_V1 = (ServedVersion("v1"),)


def _default_token_request(new: TokenRequest, now: Time) -> TokenRequest:
    if new.spec.expiration_seconds is not None:
        return new
    return replace(new, spec=replace(new.spec, expiration_seconds=DEFAULT_TOKEN_SECONDS))


SELF_SUBJECT_REVIEW: Kind[SelfSubjectReview] = Kind(
    struct=SelfSubjectReview,
    group=GROUP,
    plural="selfsubjectreviews",
    singular="selfsubjectreview",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
)

TOKEN_REVIEW: Kind[TokenReview] = Kind(
    struct=TokenReview,
    group=GROUP,
    plural="tokenreviews",
    singular="tokenreview",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
)

TOKEN_REQUEST: Kind[TokenRequest] = Kind(
    struct=TokenRequest,
    group=GROUP,
    plural="tokenrequests",
    singular="tokenrequest",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
    default=_default_token_request,
    create_checks=(check_token_request,),
)

KINDS = (SELF_SUBJECT_REVIEW, TOKEN_REVIEW)
"""All kinds of the group, in the order in which discovery lists them."""

BODIES = (TOKEN_REQUEST,)
"""Kinds that are only sent to a subresource and have no path of their own."""
