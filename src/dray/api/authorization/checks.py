"""What the API server refuses in access reviews."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dray.api.authorization.accessreview import (
    FieldSelectorAttributes,
    LabelSelectorAttributes,
    LocalSubjectAccessReview,
    NonResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
)
from dray.api.checks import CheckContext
from dray.api.meta import ObjectMeta
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import METADATA, SPEC, FieldPath
from dray.values.names import label_key_faults

__all__ = ["check_local_review", "check_review", "check_review_metadata", "check_self_review"]

_ACTS = SPEC / "resourceAttributes"

Review = SubjectAccessReview | SelfSubjectAccessReview | LocalSubjectAccessReview
_Selector = FieldSelectorAttributes | LabelSelectorAttributes


def check_review(new: SubjectAccessReview, old: SubjectAccessReview | None, context: CheckContext) -> list[FieldError]:
    """One act, and somebody who does it."""
    return [*_act_faults(new.spec), *_subject_faults(new.spec), *_selector_faults(new.spec)]


def check_self_review(
    new: SelfSubjectAccessReview, old: SelfSubjectAccessReview | None, context: CheckContext
) -> list[FieldError]:
    """One act."""
    return [*_act_faults(new.spec), *_selector_faults(new.spec)]


def check_local_review(
    new: LocalSubjectAccessReview, old: LocalSubjectAccessReview | None, context: CheckContext
) -> list[FieldError]:
    """One act on a resource of this namespace, and somebody who does it."""
    return [
        *_act_faults(new.spec),
        *_subject_faults(new.spec),
        *_selector_faults(new.spec),
        *_place_faults(new),
    ]


def _act_faults(spec: SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec) -> Iterator[FieldError]:
    if (spec.resource_attributes is None) == (spec.non_resource_attributes is None):
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid(SPEC, _show_path(spec.non_resource_attributes), detail)


def _show_path(act: NonResourceAttributes | None) -> object:
    """As the API server shows it: its own type, not that of the version."""
    return None if act is None else {"Path": act.path, "Verb": act.verb}


def _subject_faults(spec: SubjectAccessReviewSpec) -> Iterator[FieldError]:
    if not spec.user and not spec.groups:
        yield invalid(SPEC / "user", spec.user, "at least one of user or group must be specified")


def _selector_faults(spec: SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec) -> Iterator[FieldError]:
    act = spec.resource_attributes
    if act is None:
        return
    if act.field_selector is not None:
        yield from _whole_selector_faults(act.field_selector, _ACTS / "fieldSelector")
        for index, each in enumerate(act.field_selector.requirements):
            path = _ACTS / "fieldSelector" / "requirements" / index
            yield from _operand_faults(each.operator, each.values, path)
            if not each.key:
                yield required(path / "key", "must be specified")
    if act.label_selector is not None:
        yield from _whole_selector_faults(act.label_selector, _ACTS / "labelSelector")
        for index, each_label in enumerate(act.label_selector.requirements):
            path = _ACTS / "labelSelector" / "requirements" / index
            yield from _operand_faults(each_label.operator, each_label.values, path)
            for fault in label_key_faults(each_label.key):
                yield invalid(path / "key", each_label.key, fault)


def _whole_selector_faults(selector: _Selector, path: FieldPath) -> Iterator[FieldError]:
    if selector.raw_selector and selector.requirements:
        yield invalid(path / "rawSelector", selector.raw_selector, "may not specified at the same time as requirements")
    if not selector.raw_selector and not selector.requirements:
        yield required(path / "requirements", f"when {path} is specified, requirements or rawSelector is required")


def _operand_faults(operator: str, values: Sequence[str], path: FieldPath) -> Iterator[FieldError]:
    if operator in ("In", "NotIn") and not values:
        yield required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'")
    if operator in ("Exists", "DoesNotExist") and values:
        yield forbidden(path / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")


def check_review_metadata(review: Review) -> list[FieldError]:
    """A review is of nothing: its metadata says nothing but where it is asked."""
    meta = review.metadata
    said = replace(meta, namespace="", uid="", managed_fields=(), creation_timestamp=None, self_link="", generation=0)
    if said == ObjectMeta():
        return []
    is_local = isinstance(review, LocalSubjectAccessReview)
    return [invalid(METADATA, meta, "must be empty except for namespace" if is_local else "must be empty")]


def _place_faults(review: LocalSubjectAccessReview) -> Iterator[FieldError]:
    act = review.spec.resource_attributes
    if act is not None and act.namespace != review.metadata.namespace:
        yield invalid(_ACTS / "namespace", act.namespace, "must match metadata.namespace")
    if review.spec.non_resource_attributes is not None:
        detail = "disallowed on this kind of request"
        yield invalid(SPEC / "nonResourceAttributes", _show_path(review.spec.non_resource_attributes), detail)
