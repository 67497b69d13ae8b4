"""Nobody gives away what they do not have.

Writing a role, or binding one, is refused if that would grant more than the writer holds in the same place. Members of
system:masters may; so may who is allowed the verb `escalate` on the role, or `bind` on the role that is bound.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from dray.api.rbac.kinds import CLUSTER_ROLE, CLUSTER_ROLE_BINDING, GROUP, ROLE, ROLE_BINDING
from dray.api.rbac.role import ClusterRole, PolicyRule, Role
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleBinding
from dray.errors import ApiError, NotFound, ObjectRef
from dray.server.permission.denial import forbid
from dray.server.permission.rbac import HeldRules, RbacIndex, join_faults
from dray.server.permission.rules import compact_rules, find_uncovered, format_rule
from dray.server.ports import AccessAttributes, Authorizer, User
from dray.values.quoting import quote

__all__ = ["MASTERS", "RbacWriter", "refuse_binding", "refuse_role"]

MASTERS = "system:masters"
"""The group that may do everything."""

_EVERYTHING = (
    PolicyRule(verbs=("*",), api_groups=("*",), resources=("*",)),
    PolicyRule(verbs=("*",), non_resource_urls=("*",)),
)
"""What an aggregation rule may gather, today or later."""


class _Permissions(Authorizer, Protocol):
    def index(self) -> RbacIndex: ...


class RbacWriter(NamedTuple):
    """Who writes, and what that rests on."""

    user: User
    permissions: _Permissions

    def may(self, verb: str, role: ObjectRef) -> bool:
        """Whether the writer is allowed a verb of its own on a role."""
        act = AccessAttributes(
            verb=verb, group=GROUP, version="v1", resource=role.resource, namespace=role.namespace, name=role.name
        )
        return self.permissions.decide(self.user, act).is_allowed


def refuse_role(writer: RbacWriter, new: Role | ClusterRole, old: Role | ClusterRole | None) -> ApiError | None:
    """Why the writer may not store this role: it allows what the writer is not allowed.

    A change that leaves the rules alone is always fine.
    """
    if MASTERS in writer.user.groups or (old is not None and _same_rules(new, old)):
        return None
    kind = CLUSTER_ROLE if isinstance(new, ClusterRole) else ROLE
    about = ObjectRef(GROUP, "", kind.plural, new.metadata.namespace, new.metadata.name)
    if writer.may("escalate", about if old is not None else ObjectRef(GROUP, "", kind.plural, about.namespace)):
        return None
    return _refuse_grant(writer, _rules_given(new), about)


def _same_rules(new: Role | ClusterRole, old: Role | ClusterRole) -> bool:
    gathered = [each.aggregation_rule if isinstance(each, ClusterRole) else None for each in (new, old)]
    return new.rules == old.rules and gathered[0] == gathered[1]


def _rules_given(role: Role | ClusterRole) -> tuple[PolicyRule, ...]:
    if isinstance(role, ClusterRole) and role.aggregation_rule is not None:
        return (*role.rules, *_EVERYTHING)
    return role.rules


def refuse_binding(
    writer: RbacWriter, new: RoleBinding | ClusterRoleBinding, old: RoleBinding | ClusterRoleBinding | None
) -> ApiError | None:
    """Why the writer may not bind this role: it allows what the writer is not allowed, or does not exist.

    A change that leaves subjects and role alone is always fine.
    """
    if MASTERS in writer.user.groups or (old is not None and _same_grants(new, old)):
        return None
    namespace, role = new.metadata.namespace, new.role_ref
    resource = (CLUSTER_ROLE if role.kind == "ClusterRole" else ROLE).plural
    bound = ObjectRef(GROUP, "", resource, namespace, role.name)
    if writer.may("bind", bound):
        return None
    rules = writer.permissions.index().find_rules(role, namespace)
    if rules is None:
        return NotFound(f"{bound.qualified_resource} {quote(role.name)} not found", bound)
    kind = CLUSTER_ROLE_BINDING if isinstance(new, ClusterRoleBinding) else ROLE_BINDING
    return _refuse_grant(writer, rules, ObjectRef(GROUP, "", kind.plural, namespace, new.metadata.name))


def _same_grants(new: RoleBinding | ClusterRoleBinding, old: RoleBinding | ClusterRoleBinding) -> bool:
    return new.role_ref == old.role_ref and new.subjects == old.subjects


def _refuse_grant(writer: RbacWriter, wanted: Sequence[PolicyRule], about: ObjectRef) -> ApiError | None:
    held = writer.permissions.index().rules_for(writer.user, about.namespace)
    missing = find_uncovered(held.rules, wanted)
    return forbid(about, _render_missing(writer.user, missing, held)) if missing else None


def _render_missing(user: User, missing: Sequence[PolicyRule], held: HeldRules) -> str:
    lines = sorted(set(map(format_rule, compact_rules(missing))))
    groups = " ".join(map(quote, user.groups))
    shown = "\n".join(lines)
    text = f"user {quote(user.name)} (groups=[{groups}]) is attempting to grant RBAC permissions not currently held:"
    faults = f"; resolution errors: {join_faults(held.faults)}" if held.faults else ""
    return f"{text}\n{shown}{faults}"
