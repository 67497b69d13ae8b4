from typing import Any

import pytest

from dray.errors import Forbidden, NotFound
from dray.server.permission.authorizer import Permissions
from dray.server.permission.escalation import RbacWriter, refuse_binding, refuse_role
from dray.server.ports import User
from tests.unit.server.permission.still import StillView, read_manifest

GROUP = "rbac.authorization.k8s.io"
PODS = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}
SECRETS = {"apiGroups": [""], "resources": ["secrets", "pods"], "verbs": ["get", "watch"]}
ADA = User("ada", groups=("team", "system:authenticated"))


def make(kind: str, name: str, **fields: Any) -> Any:
    namespace = "" if kind.startswith("Cluster") else "ml"
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return read_manifest({"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": metadata, **fields})


def bind(kind: str, role_kind: str, role: str, *users: str) -> Any:
    subjects = [{"kind": "User", "apiGroup": GROUP, "name": user} for user in users]
    return make(kind, f"{role}-for", roleRef={"apiGroup": GROUP, "kind": role_kind, "name": role}, subjects=subjects)


def writer(*held: Any, user: User = ADA, role: str = "Role") -> RbacWriter:
    """A user who holds these rules, in the namespace or everywhere."""
    view = StillView([make(role, "held", rules=list(held)), bind(f"{role}Binding", role, "held", user.name)])
    view.put(make("ClusterRole", "reader", rules=[PODS]))
    view.put(make("ClusterRole", "spy", rules=[SECRETS]))
    return RbacWriter(user, Permissions(view))


def test_what_one_has_can_be_given() -> None:
    assert refuse_role(writer(PODS), make("Role", "r", rules=[PODS]), None) is None


def test_what_one_lacks_is_named() -> None:
    refused = refuse_role(writer(PODS), make("Role", "r", rules=[SECRETS]), None)
    assert isinstance(refused, Forbidden)
    assert str(refused) == (
        'roles.rbac.authorization.k8s.io "r" is forbidden: user "ada" (groups=["team" "system:authenticated"]) is '
        "attempting to grant RBAC permissions not currently held:\n"
        '{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}\n'
        '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "watch"]}'
    )


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (
            {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]},
            {"apiGroups": ["a"], "resources": ["b"], "verbs": ["*"]},
        ),
        (
            {"apiGroups": [""], "resources": ["*/log"], "verbs": ["get"]},
            {**PODS, "resources": ["pods/log"], "verbs": ["get"]},
        ),
        (PODS, {**PODS, "resourceNames": ["p"]}),
        ({**PODS, "resourceNames": ["p", "q"]}, {**PODS, "resourceNames": ["q"]}),
    ],
)
def test_part_of_what_one_has_can_be_given(held: Any, wanted: Any) -> None:
    assert refuse_role(writer(held), make("Role", "r", rules=[wanted]), None) is None


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        ({**PODS, "resourceNames": ["p"]}, PODS),
        ({**PODS, "resourceNames": ["p"]}, {**PODS, "resourceNames": ["q"]}),
        (PODS, {**PODS, "apiGroups": ["*"]}),
        (PODS, {**PODS, "resources": ["pods/log"]}),
        (PODS, {**PODS, "verbs": ["*"]}),
    ],
)
def test_more_than_one_has_cannot(held: Any, wanted: Any) -> None:
    assert refuse_role(writer(held), make("Role", "r", rules=[wanted]), None) is not None


def test_what_one_has_in_a_namespace_cannot_be_given_everywhere() -> None:
    assert refuse_role(writer(PODS), make("ClusterRole", "r", rules=[PODS]), None) is not None
    assert refuse_role(writer(PODS, role="ClusterRole"), make("ClusterRole", "r", rules=[PODS]), None) is None


def test_paths_are_compared_by_prefix() -> None:
    held = {"nonResourceURLs": ["/debug/*"], "verbs": ["get"]}
    role = make("ClusterRole", "r", rules=[{"nonResourceURLs": ["/debug/pprof"], "verbs": ["get"]}])
    assert refuse_role(writer(held, role="ClusterRole"), role, None) is None
    role = make("ClusterRole", "r", rules=[{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}])
    refused = refuse_role(writer(held, role="ClusterRole"), role, None)
    assert str(refused).endswith('{NonResourceURLs:["/metrics"], Verbs:["get"]}')


def test_masters_and_who_may_escalate_give_anything() -> None:
    role = make("Role", "r", rules=[SECRETS])
    assert refuse_role(writer(user=User("root", groups=("system:masters",))), role, None) is None
    may = {"apiGroups": [GROUP], "resources": ["roles"], "verbs": ["escalate"]}
    assert refuse_role(writer(may), role, None) is None


def test_leave_to_escalate_one_role_does_not_create_it() -> None:
    may = {"apiGroups": [GROUP], "resources": ["roles"], "verbs": ["escalate"], "resourceNames": ["r"]}
    old, new = make("Role", "r", rules=[]), make("Role", "r", rules=[SECRETS])
    assert refuse_role(writer(may), new, old) is None
    assert refuse_role(writer(may), new, None) is not None


def test_label_of_a_role_can_be_changed_by_anyone() -> None:
    old = make("Role", "r", rules=[SECRETS])
    assert refuse_role(writer(), old, old) is None


def test_aggregation_needs_everything() -> None:
    selector = {"clusterRoleSelectors": [{"matchLabels": {"a": "b"}}]}
    role = make("ClusterRole", "r", rules=[], aggregationRule=selector)
    assert refuse_role(writer(PODS, role="ClusterRole"), role, None) is not None
    other = make("ClusterRole", "r", rules=[], aggregationRule={"clusterRoleSelectors": [{"matchLabels": {"a": "c"}}]})
    assert refuse_role(writer(PODS, role="ClusterRole"), role, role) is None
    assert refuse_role(writer(PODS, role="ClusterRole"), role, other) is not None
    everything = ({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}, {"nonResourceURLs": ["*"], "verbs": ["*"]})
    assert refuse_role(writer(*everything, role="ClusterRole"), role, None) is None


def test_role_one_has_can_be_bound() -> None:
    binding = bind("RoleBinding", "ClusterRole", "reader", "bob")
    assert refuse_binding(writer(PODS), binding, None) is None
    binding = bind("RoleBinding", "ClusterRole", "spy", "bob")
    refused = refuse_binding(writer(PODS), binding, None)
    assert str(refused).startswith('rolebindings.rbac.authorization.k8s.io "spy-for" is forbidden: user "ada" ')


def test_who_may_bind_a_role_binds_it() -> None:
    may = {"apiGroups": [GROUP], "resources": ["clusterroles"], "verbs": ["bind"], "resourceNames": ["spy"]}
    assert refuse_binding(writer(may), bind("RoleBinding", "ClusterRole", "spy", "bob"), None) is None
    everywhere = bind("ClusterRoleBinding", "ClusterRole", "spy", "bob")
    assert refuse_binding(writer(may), everywhere, None) is not None
    assert refuse_binding(writer(may, role="ClusterRole"), everywhere, None) is None


def test_role_that_is_not_there_cannot_be_bound() -> None:
    refused = refuse_binding(writer(PODS), bind("RoleBinding", "Role", "gone", "bob"), None)
    assert isinstance(refused, NotFound)
    assert str(refused) == 'roles.rbac.authorization.k8s.io "gone" not found'
    master = writer(user=User("root", groups=("system:masters",)))
    assert refuse_binding(master, bind("RoleBinding", "Role", "gone", "bob"), None) is None


def test_subjects_are_part_of_what_is_given() -> None:
    old, new = bind("RoleBinding", "ClusterRole", "spy", "bob"), bind("RoleBinding", "ClusterRole", "spy", "eve")
    assert refuse_binding(writer(PODS), old, old) is None
    assert refuse_binding(writer(PODS), new, old) is not None
