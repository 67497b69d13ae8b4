"""What the API server refuses in access reviews."""

from collections.abc import Iterator

from dray.api.authorization.accessreview import (
    LocalSubjectAccessReview,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from dray.api.checks import CheckContext
from dray.errors import FieldError, invalid
from dray.values.fieldpath import SPEC

__all__ = ["check_local_review", "check_review", "check_self_review"]

_ACTS = SPEC / "resourceAttributes"


def check_review(new: SubjectAccessReview, old: SubjectAccessReview | None, context: CheckContext) -> list[FieldError]:
    """One act, and somebody who does it."""
    return [*_act_faults(new.spec), *_subject_faults(new.spec)]


def check_self_review(
    new: SelfSubjectAccessReview, old: SelfSubjectAccessReview | None, context: CheckContext
) -> list[FieldError]:
    """One act."""
    return list(_act_faults(new.spec))


def check_local_review(
    new: LocalSubjectAccessReview, old: LocalSubjectAccessReview | None, context: CheckContext
) -> list[FieldError]:
    """One act on a resource of this namespace, and somebody who does it."""
    return [*_act_faults(new.spec), *_subject_faults(new.spec), *_place_faults(new)]


def _act_faults(spec: SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec) -> Iterator[FieldError]:
    if spec.resource_attributes is not None and spec.non_resource_attributes is not None:
        shown = {"path": spec.non_resource_attributes.path, "verb": spec.non_resource_attributes.verb}
        detail = "cannot be specified in combination with resourceAttributes"
        yield invalid(SPEC / "nonResourceAttributes", shown, detail)
    if spec.resource_attributes is None and spec.non_resource_attributes is None:
        yield invalid(_ACTS, None, "exactly one of nonResourceAttributes or resourceAttributes must be specified")


def _subject_faults(spec: SubjectAccessReviewSpec) -> Iterator[FieldError]:
    if not spec.user and not spec.groups:
        yield invalid(SPEC / "user", spec.user, "at least one of user or group must be specified")


def _place_faults(review: LocalSubjectAccessReview) -> Iterator[FieldError]:
    act = review.spec.resource_attributes
    if act is not None and act.namespace != review.metadata.namespace:
        detail = f"must match metadata.namespace {review.metadata.namespace!r}".replace("'", '"')
        yield invalid(_ACTS / "namespace", act.namespace, detail)
    if review.spec.non_resource_attributes is not None:
        detail = "disallowed on this kind of request"
        yield invalid(SPEC / "nonResourceAttributes", review.spec.non_resource_attributes, detail)
