"""What the API server refuses in roles and their bindings."""

from collections.abc import Iterator, Sequence

from dray.api.checks import CheckContext
from dray.api.core.checks.selectors import label_selector_faults
from dray.api.rbac.role import ClusterRole, PolicyRule, Role
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleBinding, RoleRef, Subject
from dray.errors import FieldError, forbidden, invalid, not_supported, required
from dray.values.fieldpath import ROOT, FieldPath
from dray.values.names import dns_subdomain_faults, path_segment_faults

__all__ = [
    "GROUP",
    "check_cluster_role",
    "check_cluster_role_binding",
    "check_role",
    "check_role_binding",
    "check_role_ref_unchanged",
]

GROUP = "rbac.authorization.k8s.io"
_ROLE_REF = ROOT / "roleRef"


def check_role(new: Role, old: Role | None, context: CheckContext) -> list[FieldError]:
    """Rules about resources; paths belong to no namespace."""
    return list(_rule_faults(new.rules, is_namespaced=True))


def check_cluster_role(new: ClusterRole, old: ClusterRole | None, context: CheckContext) -> list[FieldError]:
    """Rules about resources or paths."""
    return [*_rule_faults(new.rules, is_namespaced=False), *_aggregation_faults(new)]


def _aggregation_faults(role: ClusterRole) -> Iterator[FieldError]:
    if role.aggregation_rule is None:
        return
    path = ROOT / "aggregationRule" / "clusterRoleSelectors"
    if not role.aggregation_rule.cluster_role_selectors:
        yield required(path, "at least one clusterRoleSelector required if aggregationRule is non-nil")
    for index, selector in enumerate(role.aggregation_rule.cluster_role_selectors):
        yield from label_selector_faults(selector, path / index)


def _rule_faults(rules: Sequence[PolicyRule], *, is_namespaced: bool) -> Iterator[FieldError]:
    for index, rule in enumerate(rules):
        at = ROOT / "rules" / index
        if not rule.verbs:
            yield required(at / "verbs", hint='list what may be done, such as ["get", "list", "watch"]')
        if rule.non_resource_urls:
            yield from _path_rule_faults(rule, at, is_namespaced=is_namespaced)
            continue
        if not rule.api_groups:
            hint = 'the core group is the empty text: apiGroups: [""]'
            yield required(at / "apiGroups", "resource rules must supply at least one api group", hint=hint)
        if not rule.resources:
            yield required(at / "resources", "resource rules must supply at least one resource")


def _path_rule_faults(rule: PolicyRule, path: FieldPath, *, is_namespaced: bool) -> Iterator[FieldError]:
    at, shown = path / "nonResourceURLs", list(rule.non_resource_urls)
    if is_namespaced:
        yield invalid(at, shown, "namespaced rules cannot apply to non-resource URLs")
    if rule.api_groups or rule.resources or rule.resource_names:
        yield invalid(at, shown, "rules cannot apply to both regular resources and non-resource URLs")


def check_role_binding(new: RoleBinding, old: RoleBinding | None, context: CheckContext) -> list[FieldError]:
    """A role or cluster role for subjects that can be."""
    roles = _role_ref_faults(new.role_ref, ("Role", "ClusterRole"))
    return [*roles, *_subject_faults(new.subjects, namespace_is_implied=True)]


def check_cluster_role_binding(
    new: ClusterRoleBinding, old: ClusterRoleBinding | None, context: CheckContext
) -> list[FieldError]:
    """A cluster role for subjects that can be."""
    roles = _role_ref_faults(new.role_ref, ("ClusterRole",))
    return [*roles, *_subject_faults(new.subjects, namespace_is_implied=False)]


def _role_ref_faults(role: RoleRef, kinds: Sequence[str]) -> Iterator[FieldError]:
    if role.api_group != GROUP:
        yield not_supported(_ROLE_REF / "apiGroup", role.api_group, (GROUP,))
    if role.kind not in kinds:
        yield not_supported(_ROLE_REF / "kind", role.kind, kinds)
    if not role.name:
        yield required(_ROLE_REF / "name")
    for detail in path_segment_faults(role.name) if role.name else ():
        yield invalid(_ROLE_REF / "name", role.name, detail)


def _subject_faults(subjects: Sequence[Subject], *, namespace_is_implied: bool) -> Iterator[FieldError]:
    for index, subject in enumerate(subjects):
        at = ROOT / "subjects" / index
        if not subject.name:
            yield required(at / "name")
        if subject.kind == "ServiceAccount":
            yield from _account_faults(subject, at, namespace_is_implied=namespace_is_implied)
        elif subject.kind in ("User", "Group"):
            if subject.api_group != GROUP:
                yield not_supported(at / "apiGroup", subject.api_group, (GROUP,))
            if subject.namespace:
                yield forbidden(at / "namespace", f"{subject.kind}s are not in a namespace")
        else:
            yield not_supported(at / "kind", subject.kind, ("ServiceAccount", "User", "Group"))


def _account_faults(subject: Subject, path: FieldPath, *, namespace_is_implied: bool) -> Iterator[FieldError]:
    for detail in dns_subdomain_faults(subject.name) if subject.name else ():
        yield invalid(path / "name", subject.name, detail)
    if subject.api_group:
        yield not_supported(path / "apiGroup", subject.api_group, ("",))
    if not namespace_is_implied and not subject.namespace:
        yield required(path / "namespace")


def check_role_ref_unchanged(
    new: RoleBinding | ClusterRoleBinding, old: RoleBinding | ClusterRoleBinding | None, context: CheckContext
) -> list[FieldError]:
    """A binding is to one role for ever: whoever may change its subjects must not give away another role."""
    if old is None or new.role_ref == old.role_ref:
        return []
    role = new.role_ref
    shown = {"APIGroup": role.api_group, "Kind": role.kind, "Name": role.name}
    hint = "delete the binding and create it anew with the other role"
    return [invalid(_ROLE_REF, shown, "field is immutable", hint=hint)]
