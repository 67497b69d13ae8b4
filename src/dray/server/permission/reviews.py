"""Access reviews: the question goes in, the same object comes back with the answer in its status."""

from typing import Final, Protocol, TypeVar

from msgspec.structs import replace

from dray.api.authorization.accessreview import (
    FieldSelectorAttributes,
    LabelSelectorAttributes,
    LocalSubjectAccessReview,
    NonResourceAttributes,
    ResourceAttributes,
    SelfSubjectAccessReview,
    SelfSubjectAccessReviewSpec,
    SubjectAccessReview,
    SubjectAccessReviewSpec,
    SubjectAccessReviewStatus,
)
from dray.api.authorization.rulesreview import (
    NonResourceRule,
    ResourceRule,
    SelfSubjectRulesReview,
    SelfSubjectRulesReviewSpec,
    SubjectRulesReviewStatus,
)
from dray.errors import BadRequest
from dray.server.permission.rbac import HeldRules, join_faults
from dray.server.ports import AccessAttributes, Authorizer, User
from dray.values.selectors import SelectorError, requirement_of, selector_of

__all__ = ["review_access", "review_own_access", "review_own_rules"]

_SIGNS: Final = {"In": "=", "NotIn": "!="}
_OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})

Review = TypeVar("Review", SubjectAccessReview, LocalSubjectAccessReview)


class _RuleSource(Protocol):
    def rules_for(self, user: User, namespace: str) -> HeldRules: ...


def review_own_access(user: User, review: SelfSubjectAccessReview, authorizer: Authorizer) -> SelfSubjectAccessReview:
    """Whether the caller may."""
    return replace(review, status=_answer(user, review.spec, authorizer))


def review_access(review: Review, authorizer: Authorizer) -> Review:
    """Whether the user or group in question may, in the whole cluster or in the namespace of the review."""
    spec = review.spec
    return replace(review, status=_answer(User(spec.user, spec.uid, spec.groups, spec.extra), spec, authorizer))


def review_own_rules(user: User, review: SelfSubjectRulesReview, source: _RuleSource) -> SelfSubjectRulesReview:
    """All that the caller may in a namespace. The question is not repeated, and incomplete says there may be more."""
    if not review.spec.namespace:
        raise BadRequest("no namespace on request")
    held = source.rules_for(user, review.spec.namespace)
    status = SubjectRulesReviewStatus(
        resource_rules=tuple(
            ResourceRule(
                verbs=rule.verbs,
                api_groups=rule.api_groups,
                resources=rule.resources,
                resource_names=rule.resource_names,
            )
            for rule in held.rules
            if rule.resources
        ),
        non_resource_rules=tuple(
            NonResourceRule(verbs=rule.verbs, non_resource_urls=rule.non_resource_urls)
            for rule in held.rules
            if rule.non_resource_urls
        ),
        incomplete=bool(held.faults),
        evaluation_error=join_faults(held.faults) if held.faults else "",
    )
    return replace(review, spec=SelfSubjectRulesReviewSpec(), status=status)


def _answer(
    user: User, spec: SubjectAccessReviewSpec | SelfSubjectAccessReviewSpec, authorizer: Authorizer
) -> SubjectAccessReviewStatus:
    decision = authorizer.decide(user, _act_in(spec.resource_attributes, spec.non_resource_attributes))
    ignored = _ignored_selectors(spec.resource_attributes)
    evaluation_error = join_faults(ignored) if ignored else ""
    return SubjectAccessReviewStatus(
        allowed=decision.is_allowed, reason=decision.reason, evaluation_error=evaluation_error
    )


def _ignored_selectors(act: ResourceAttributes | None) -> tuple[str, ...]:
    """What is said of selectors with a condition that makes no sense, or that a field selector cannot say."""
    if act is None:
        return ()
    fields = act.field_selector.requirements if act.field_selector else ()
    labels = act.label_selector.requirements if act.label_selector else ()
    unclear = []
    if any(each.operator not in _SIGNS or len(each.values) != 1 for each in fields):
        unclear.append("fieldSelector")
    if any(each.operator not in _OPERATORS for each in labels):
        unclear.append("labelSelector")
    return tuple(f"spec.resourceAttributes.{each} ignored due to parse error" for each in unclear)


def _act_in(resource: ResourceAttributes | None, path: NonResourceAttributes | None) -> AccessAttributes:
    if resource is None:
        return AccessAttributes(verb=path.verb if path else "", path=(path.path if path else "") or "/")
    return AccessAttributes(
        verb=resource.verb,
        group=resource.group,
        version=resource.version,
        resource=resource.resource,
        subresource=resource.subresource,
        namespace=resource.namespace,
        name=resource.name,
        label_selector=_label_text(resource.label_selector),
        field_selector=_field_text(resource.field_selector),
    )


def _label_text(selector: LabelSelectorAttributes | None) -> str:
    """The conditions as text. One that makes no sense is left out: who asks for more is told no rather than yes."""
    known = []
    for each in selector.requirements if selector else ():
        try:
            known.append(requirement_of(each.key, each.operator, each.values))
        except SelectorError:
            continue
    return str(selector_of({}, known))


def _field_text(selector: FieldSelectorAttributes | None) -> str:
    """The conditions as text, as far as a field selector can say them: that a field is, or is not, one value."""
    requirements = selector.requirements if selector else ()
    return ",".join(
        f"{each.key}{_SIGNS[each.operator]}{_escape(each.values[0])}"
        for each in requirements
        if each.operator in _SIGNS and len(each.values) == 1
    )


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
