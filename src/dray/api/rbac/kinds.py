"""The kinds of `rbac.authorization.k8s.io`, and what belongs to each."""

from collections.abc import Iterator

from dray.api.columns import AGE, CREATED_AT, NAME, Column
from dray.api.kind import Kind, Scope, ServedVersion
from dray.api.rbac.checks import (
    GROUP,
    check_cluster_role,
    check_cluster_role_binding,
    check_role,
    check_role_binding,
    check_role_ref_unchanged,
)
from dray.api.rbac.defaults import default_binding
from dray.api.rbac.role import ClusterRole, Role
from dray.api.rbac.rolebinding import ClusterRoleBinding, RoleBinding
from dray.values.names import path_segment_faults

__all__ = ["CLUSTER_ROLE", "CLUSTER_ROLE_BINDING", "GROUP", "KINDS", "ROLE", "ROLE_BINDING"]

AnyBinding = RoleBinding | ClusterRoleBinding

_V1 = (ServedVersion("v1", delete_returns_object=False),)


def _names_of(binding: AnyBinding, kind: str) -> str:
    def names() -> Iterator[str]:
        for subject in binding.subjects:
            if subject.kind == kind:
                yield f"{subject.namespace}/{subject.name}" if kind == "ServiceAccount" else subject.name

    return ", ".join(names())


_BINDING_COLUMNS: tuple[Column[AnyBinding], ...] = (
    NAME,
    Column(
        "Role",
        lambda binding, now: f"{binding.role_ref.kind}/{binding.role_ref.name}",
        description="The role that is given.",
    ),
    AGE,
    Column("Users", lambda binding, now: _names_of(binding, "User"), description="Users who get it.", priority=1),
    Column("Groups", lambda binding, now: _names_of(binding, "Group"), description="Groups that get it.", priority=1),
    Column(
        "ServiceAccounts",
        lambda binding, now: _names_of(binding, "ServiceAccount"),
        description="Service accounts that get it.",
        priority=1,
    ),
)

CLUSTER_ROLE: Kind[ClusterRole] = Kind(
    struct=ClusterRole,
    group=GROUP,
    plural="clusterroles",
    singular="clusterrole",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    name_faults=path_segment_faults,
    create_checks=(check_cluster_role,),
    update_checks=(check_cluster_role,),
    columns=(NAME, CREATED_AT),
)

CLUSTER_ROLE_BINDING: Kind[ClusterRoleBinding] = Kind(
    struct=ClusterRoleBinding,
    group=GROUP,
    plural="clusterrolebindings",
    singular="clusterrolebinding",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    name_faults=path_segment_faults,
    default=default_binding,
    create_checks=(check_cluster_role_binding,),
    update_checks=(check_cluster_role_binding, check_role_ref_unchanged),
    columns=_BINDING_COLUMNS,
)

ROLE: Kind[Role] = Kind(
    struct=Role,
    group=GROUP,
    plural="roles",
    singular="role",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    name_faults=path_segment_faults,
    create_checks=(check_role,),
    update_checks=(check_role,),
    columns=(NAME, CREATED_AT),
)

ROLE_BINDING: Kind[RoleBinding] = Kind(
    struct=RoleBinding,
    group=GROUP,
    plural="rolebindings",
    singular="rolebinding",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    name_faults=path_segment_faults,
    default=default_binding,
    create_checks=(check_role_binding,),
    update_checks=(check_role_binding, check_role_ref_unchanged),
    columns=_BINDING_COLUMNS,
)

KINDS = (CLUSTER_ROLE_BINDING, CLUSTER_ROLE, ROLE_BINDING, ROLE)
"""All kinds of the group, in the order in which discovery lists them."""
