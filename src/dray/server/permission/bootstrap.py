"""Roles and bindings that have to be there, and what to write so that they are."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from dray.api.meta import ObjectMeta
from dray.api.rbac.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, GROUP
from dray.api.rbac.role import ClusterRole
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleRef, Subject
from dray.server.permission.bootstraproles import BOOTSTRAP_ANNOTATIONS, BOOTSTRAP_LABELS, bootstrap_roles
from dray.server.permission.controllerroles import CONTROLLER_PREFIX, CONTROLLER_RULES
from dray.server.permission.rules import find_uncovered
from dray.server.ports import View

__all__ = ["BootstrapWrite", "bootstrap_bindings", "plan_bootstrap"]

_AUTHENTICATED = "system:authenticated"
_GROUPS: dict[str, tuple[str, ...]] = {
    "cluster-admin": ("system:masters",),
    "system:basic-user": (_AUTHENTICATED,),
    "system:discovery": (_AUTHENTICATED,),
    "system:monitoring": ("system:monitoring",),
    "system:node": (),
    "system:public-info-viewer": (_AUTHENTICATED, "system:unauthenticated"),
    "system:service-account-issuer-discovery": ("system:serviceaccounts",),
}
"""Groups that have the role of the same name."""
_USERS = ("system:kube-controller-manager", "system:kube-scheduler")
"""Users who have the role of the same name."""
_AUTO_UPDATE = next(iter(BOOTSTRAP_ANNOTATIONS))


class BootstrapWrite(NamedTuple):
    """One object to create, or to write over `old`."""

    new: ClusterRole | ClusterRoleBinding
    old: ClusterRole | ClusterRoleBinding | None


def bootstrap_bindings() -> tuple[ClusterRoleBinding, ...]:
    """Every binding, ordered by name. Each has the name of its role."""
    subjects = {name: tuple(map(_group, groups)) for name, groups in _GROUPS.items()}
    subjects |= {name: (Subject(kind="User", api_group=GROUP, name=name),) for name in _USERS}
    subjects |= {name: (_account(name.removeprefix(CONTROLLER_PREFIX)),) for name in CONTROLLER_RULES}
    return tuple(_binding(name, subjects[name]) for name in sorted(subjects))


def _group(name: str) -> Subject:
    return Subject(kind="Group", api_group=GROUP, name=name)


def _account(name: str) -> Subject:
    return Subject(kind="ServiceAccount", name=name, namespace="kube-system")


def _binding(name: str, subjects: tuple[Subject, ...]) -> ClusterRoleBinding:
    return ClusterRoleBinding(
        kind="ClusterRoleBinding",
        api_version=f"{GROUP}/v1",
        metadata=ObjectMeta(name=name, labels=BOOTSTRAP_LABELS, annotations=BOOTSTRAP_ANNOTATIONS),
        subjects=subjects,
        role_ref=RoleRef(api_group=GROUP, kind="ClusterRole", name=name),
    )


def plan_bootstrap(view: View) -> list[BootstrapWrite]:
    """What to write at start: missing objects, and what was taken away from those that are there.

    Rules and subjects that somebody added stay. An object whose annotation `autoupdate` is not true is left alone, and
    so is a binding that was made anew with another role.
    """
    return [*_plan_roles(view), *_plan_bindings(view)]


def _plan_roles(view: View) -> Iterator[BootstrapWrite]:
    for role in bootstrap_roles():
        old = view.find(CLUSTER_ROLE, "", role.metadata.name)
        if old is None:
            yield BootstrapWrite(role, None)
        elif role.aggregation_rule is None and _is_kept_up(old):
            lost = tuple(rule for rule in role.rules if find_uncovered(old.rules, (rule,)))
            if lost:
                yield BootstrapWrite(replace(old, rules=old.rules + lost), old)


def _plan_bindings(view: View) -> Iterator[BootstrapWrite]:
    for binding in bootstrap_bindings():
        old = view.find(CLUSTER_ROLE_BINDING, "", binding.metadata.name)
        if old is None:
            yield BootstrapWrite(binding, None)
        elif old.role_ref == binding.role_ref and _is_kept_up(old):
            missing = _missing(binding.subjects, old.subjects)
            if missing:
                yield BootstrapWrite(replace(old, subjects=old.subjects + missing), old)


def _missing(wanted: Sequence[Subject], present: Sequence[Subject]) -> tuple[Subject, ...]:
    return tuple(subject for subject in wanted if subject not in present)


def _is_kept_up(old: ClusterRole | ClusterRoleBinding) -> bool:
    return old.metadata.annotations.get(_AUTO_UPDATE) == "true"
