"""The kinds of `authorization.k8s.io`: questions that are answered and forgotten."""

from dray.api.authorization.accessreview import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SubjectAccessReview,
)
from dray.api.authorization.checks import check_local_review, check_review, check_self_review
from dray.api.authorization.rulesreview import SelfSubjectRulesReview
from dray.api.kind import Kind, Scope, ServedVersion

__all__ = [
    "GROUP",
    "KINDS",
    "LOCAL_SUBJECT_ACCESS_REVIEW",
    "SELF_SUBJECT_ACCESS_REVIEW",
    "SELF_SUBJECT_RULES_REVIEW",
    "SUBJECT_ACCESS_REVIEW",
]

GROUP = "authorization.k8s.io"
_V1 = (ServedVersion("v1"),)

LOCAL_SUBJECT_ACCESS_REVIEW: Kind[LocalSubjectAccessReview] = Kind(
    struct=LocalSubjectAccessReview,
    group=GROUP,
    plural="localsubjectaccessreviews",
    singular="localsubjectaccessreview",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
    create_checks=(check_local_review,),
)

SELF_SUBJECT_ACCESS_REVIEW: Kind[SelfSubjectAccessReview] = Kind(
    struct=SelfSubjectAccessReview,
    group=GROUP,
    plural="selfsubjectaccessreviews",
    singular="selfsubjectaccessreview",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
    create_checks=(check_self_review,),
)

SELF_SUBJECT_RULES_REVIEW: Kind[SelfSubjectRulesReview] = Kind(
    struct=SelfSubjectRulesReview,
    group=GROUP,
    plural="selfsubjectrulesreviews",
    singular="selfsubjectrulesreview",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
)

SUBJECT_ACCESS_REVIEW: Kind[SubjectAccessReview] = Kind(
    struct=SubjectAccessReview,
    group=GROUP,
    plural="subjectaccessreviews",
    singular="subjectaccessreview",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
    create_checks=(check_review,),
)

KINDS = (
    LOCAL_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_ACCESS_REVIEW,
    SELF_SUBJECT_RULES_REVIEW,
    SUBJECT_ACCESS_REVIEW,
)
"""All kinds of the group, in the order in which discovery lists them."""
