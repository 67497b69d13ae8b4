from typing import Any

import pytest

from dray.api.authentication.tokenrequest import BoundObjectReference, TokenRequest, TokenRequestSpec
from dray.server.permission.authorizer import Permissions
from dray.server.permission.noderestriction import NodeWrite, find_bound_node, refuse_driver_write, refuse_node_write
from dray.server.ports import User
from tests.unit.server.permission.still import StillView, read_manifest

AGENT = User("system:node:a", groups=("system:nodes", "system:authenticated"))
OTHER = User("ada", groups=("system:authenticated",))
DRIVER = User("system:serviceaccount:gpu:driver", extra={"authentication.kubernetes.io/node-name": ("a",)})
MIRROR = {"annotations": {"kubernetes.io/config.mirror": "x"}}
OWNER = {"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "u-a", "controller": True}
CONTAINER = {"name": "c", "image": "i"}


def pod(node: str = "a", spec: Any = None, status: Any = None, **metadata: Any) -> Any:
    return read_manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "ml", "uid": "u-p", **metadata},
            "spec": {"nodeName": node, "containers": [CONTAINER], **(spec or {})},
            "status": status or {},
        }
    )


def mirror(spec: Any = None, owner: Any = None, **metadata: Any) -> Any:
    owners = [{**OWNER, **(owner or {})}]
    return pod(spec=spec, **{**MIRROR, "ownerReferences": owners, **metadata})


def node(name: str = "a", labels: Any = None, taints: Any = ()) -> Any:
    metadata = {"name": name, "uid": f"u-{name}", "labels": labels or {}}
    return read_manifest({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": {"taints": list(taints)}})


def published(on: str | None) -> Any:
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    where = {"nodeName": on} if on else {"allNodes": True}
    return read_manifest(
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceSlice",
            "metadata": {"name": "s"},
            "spec": {"driver": "d", "pool": pool, **where},
        }
    )


def lease(name: str) -> Any:
    metadata = {"name": name, "namespace": "kube-node-lease"}
    return read_manifest({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": metadata})


def on_pods(verb: str, new: Any = None, old: Any = None, subresource: str = "") -> NodeWrite:
    return NodeWrite(verb, "", "pods", subresource, "ml", "p", new, old)


def on_slices(verb: str, new: Any = None, old: Any = None) -> NodeWrite:
    return NodeWrite(verb, "resource.k8s.io", "resourceslices", name="s", new=new, old=old)


def on_leases(verb: str, name: str, namespace: str = "kube-node-lease", new: Any = None) -> NodeWrite:
    return NodeWrite(verb, "coordination.k8s.io", "leases", namespace=namespace, name=name, new=new)


def on_nodes(verb: str, new: Any = None, old: Any = None, name: str = "a") -> NodeWrite:
    return NodeWrite(verb, "", "nodes", name=name, new=new, old=old)


def token(**bound: str) -> NodeWrite:
    reference = BoundObjectReference(**{"kind": "Pod", "api_version": "v1", **bound}) if bound else None
    body = TokenRequest(spec=TokenRequestSpec(bound_object_ref=reference))
    return NodeWrite("create", "", "serviceaccounts", "token", "ml", "w", body)


def refuse(write: NodeWrite, user: User = AGENT) -> str | None:
    elsewhere = read_manifest(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "q", "namespace": "ml", "uid": "u-q"},
            "spec": {"nodeName": "b", "containers": [CONTAINER]},
        }
    )
    return refuse_node_write(user, write, StillView([pod(), elsewhere, node()]))


CLAIMS = {"resourceClaimStatuses": [{"name": "x", "resourceClaimName": "c"}]}
EXTENDED = {"extendedResourceClaimStatus": {"resourceClaimName": "c", "requestMappings": []}}
OWN_LABELS = {"kubernetes.io/hostname": "a", "mine": "x", "example.com/x": "y", "node.kubernetes.io/x": "y"}
RESTRICTED = "node-restriction.kubernetes.io"
TAINT = {"key": "k", "effect": "NoSchedule"}

ALLOWED = {
    "slice of its own": on_slices("create", published("a")),
    "deleting its own slice": on_slices("delete", old=published("a")),
    "status of its pod": on_pods("patch", pod(status={"phase": "Running"}), pod(), "status"),
    "status that leaves claims alone": on_pods("update", pod(status=CLAIMS), pod(status=CLAIMS), "status"),
    "mirror pod": on_pods("create", mirror()),
    "deleting its pod": on_pods("delete", old=pod()),
    "evicting its pod": on_pods("create", subresource="eviction"),
    "its node": on_nodes("create", node(labels=OWN_LABELS)),
    "its node's taints at birth": on_nodes("create", node(taints=[TAINT])),
    "its node's status": on_nodes("patch", node(), node()),
    "its lease": on_leases("create", "", new=lease("a")),
    "renewing its lease": on_leases("update", "a", new=lease("a")),
    "token for its pod": token(name="p", uid="u-p"),
    "events": NodeWrite("create", "", "events", namespace="ml"),
}

REFUSED = {
    "slice of another node": (
        on_slices("create", published("b")),
        "can only create ResourceSlice with the same NodeName as the requesting node",
    ),
    "slice of all nodes": (
        on_slices("create", published(None)),
        "can only create ResourceSlice with the same NodeName as the requesting node",
    ),
    "deleting another's slice": (
        on_slices("delete", old=published("b")),
        "can only delete ResourceSlice with the same NodeName as the requesting node",
    ),
    "claims in the status": (
        on_pods("patch", pod(status=CLAIMS), pod(), "status"),
        'node "a" cannot update resource claim statues',
    ),
    "extended claim in the status": (
        on_pods("update", pod(status=EXTENDED), pod(), "status"),
        'node "a" cannot update extended resource claim status',
    ),
    "labels by way of the status": (
        on_pods("update", pod(labels={"a": "b"}), pod(), "status"),
        'node "a" cannot update labels through pod status',
    ),
    "status of another's pod": (
        on_pods("update", pod(), pod("b"), "status"),
        'node "a" can only update pod status for pods with spec.nodeName set to itself',
    ),
    "creating a status": (on_pods("create", pod(), None, "status"), 'unexpected operation "CREATE"'),
    "pod that is no mirror": (
        on_pods("create", pod()),
        'pod does not have "kubernetes.io/config.mirror" annotation, node "a" can only create mirror pods',
    ),
    "mirror pod of another node": (
        on_pods("create", pod("b", **MIRROR)),
        'node "a" can only create pods with spec.nodeName set to itself',
    ),
    "mirror pod without an owner": (
        on_pods("create", mirror(ownerReferences=[])),
        'node "a" can only create pods with an owner reference set to itself',
    ),
    "mirror pod with two owners": (
        on_pods("create", mirror(ownerReferences=[OWNER, OWNER])),
        'node "a" can only create pods with a single owner reference set to itself',
    ),
    "mirror pod of another owner": (
        on_pods("create", mirror(owner={"name": "b"})),
        'node "a" can only create pods with an owner reference set to itself',
    ),
    "mirror pod that is not controlled": (
        on_pods("create", mirror(owner={"controller": False})),
        'node "a" can only create pods with a controller owner reference set to itself',
    ),
    "mirror pod that blocks deletion": (
        on_pods("create", mirror(owner={"blockOwnerDeletion": True})),
        'node "a" must not set blockOwnerDeletion on an owner reference',
    ),
    "mirror pod of an earlier node": (
        on_pods("create", mirror(owner={"uid": "u-old"})),
        "node a UID mismatch: expected u-old got u-a",
    ),
    "mirror pod with an account": (
        on_pods("create", mirror({"serviceAccountName": "w"})),
        'node "a" can not create pods that reference a service account',
    ),
    "mirror pod with a secret": (
        on_pods("create", mirror({"volumes": [{"name": "v", "secret": {"secretName": "s"}}]})),
        'node "a" can not create pods that reference secrets',
    ),
    "mirror pod with a config map": (
        on_pods("create", mirror({"volumes": [{"name": "v", "configMap": {"name": "s"}}]})),
        'node "a" can not create pods that reference configmaps',
    ),
    "mirror pod with a disk": (
        on_pods("create", mirror({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "s"}}]})),
        'node "a" can not create pods that reference persistentvolumeclaims',
    ),
    "mirror pod with a claim": (
        on_pods("create", mirror({"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "t"}]})),
        'node "a" can not create pods that reference resourceclaims',
    ),
    "deleting another's pod": (
        on_pods("delete", old=pod("b")),
        'node "a" can only delete pods with spec.nodeName set to itself',
    ),
    "changing a pod": (
        on_pods("patch", pod(), pod()),
        'unexpected operation "UPDATE", node "a" can only create and delete mirror pods',
    ),
    "evicting another's pod": (
        NodeWrite("create", "", "pods", "eviction", "ml", "q"),
        "node a can only evict pods with spec.nodeName set to itself",
    ),
    "binding a pod": (
        on_pods("create", subresource="binding"),
        "unexpected pod subresource \"binding\", only 'status' and 'eviction' are allowed",
    ),
    "another node": (on_nodes("create", node("b"), name=""), 'node "a" is not allowed to modify node "b"'),
    "taints": (on_nodes("update", node(), node(taints=[TAINT])), 'node "a" is not allowed to modify taints'),
    "labels that steer work": (
        on_nodes("create", node(labels={**OWN_LABELS, "node-role.kubernetes.io/x": "", f"a.{RESTRICTED}/y": "z"})),
        f'node "a" is not allowed to set the following labels: a.{RESTRICTED}/y, node-role.kubernetes.io/x',
    ),
    "a label taken away": (
        on_nodes("update", node(), node(labels={"k8s.io/x": "y"})),
        "is not allowed to modify labels: k8s.io/x",
    ),
    "another's lease": (
        on_leases("create", "", new=lease("b")),
        "can only access node lease with the same name as the requesting node",
    ),
    "renewing another's lease": (
        on_leases("update", "b", new=lease("b")),
        "can only access node lease with the same name as the requesting node",
    ),
    "lease elsewhere": (
        on_leases("update", "a", "kube-system", lease("a")),
        'can only access leases in the "kube-node-lease" system namespace',
    ),
    "token for nothing": (token(), "node requested token not bound to a pod"),
    "token for a secret": (token(kind="Secret", name="p", uid="u"), "node requested token not bound to a pod"),
    "token for any pod of the name": (token(name="p"), "node requested token with a pod binding without a uid"),
    "token for an earlier pod": (
        token(name="p", uid="u-old"),
        "the UID in the bound object reference (u-old) does not match the UID in record. "
        "The object might have been deleted and then recreated",
    ),
    "token for another's pod": (
        token(name="q", uid="u-q"),
        "node requested token bound to a pod scheduled on a different node",
    ),
}


@pytest.mark.parametrize("name", list(ALLOWED))
def test_agent_may_write_what_is_its_own(name: str) -> None:
    assert refuse(ALLOWED[name]) is None


@pytest.mark.parametrize("name", list(REFUSED))
def test_agent_may_not_write_what_is_not(name: str) -> None:
    write, want = REFUSED[name]
    assert refuse(write) == want
    assert refuse(write, OTHER) is None


def test_agent_that_keeps_its_node_back_writes_nothing() -> None:
    nameless = User("system:node:", groups=("system:nodes",))
    assert refuse(ALLOWED["events"], nameless) == 'could not determine node from user "system:node:"'


def permissions(*verbs: str) -> Permissions:
    group = "rbac.authorization.k8s.io"
    rule = {"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices"], "verbs": [*verbs, "create", "update"]}
    role = {"apiVersion": f"{group}/v1", "kind": "ClusterRole", "metadata": {"name": "d"}, "rules": [rule]}
    binding = {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "d"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "d"},
        "subjects": [{"kind": "ServiceAccount", "name": "driver", "namespace": "gpu"}],
    }
    return Permissions(StillView([read_manifest(role), read_manifest(binding)]))


def test_driver_writes_slices_of_its_node() -> None:
    assert refuse_driver_write(DRIVER, on_slices("create", published("a")), permissions()) is None
    assert refuse_driver_write(DRIVER, on_slices("delete", old=published("a")), permissions()) is None


@pytest.mark.parametrize(
    ("on", "what"), [("b", "resourceslices on node 'b'"), (None, "cluster resourceslices")], ids=["node", "cluster"]
)
def test_driver_may_not_write_slices_of_others(on: str | None, what: str) -> None:
    want = f"this user running on node 'a' may not modify {what}"
    assert refuse_driver_write(DRIVER, on_slices("create", published(on)), permissions()) == want
    assert refuse_driver_write(DRIVER, on_slices("delete", old=published(on)), permissions()) == want
    assert refuse_driver_write(DRIVER, on_slices("update", published("a"), published(on)), permissions()) == want


def test_driver_of_all_nodes_is_told_so_by_its_role() -> None:
    allowed = permissions("arbitrary-node:create")
    assert refuse_driver_write(DRIVER, on_slices("create", published("b")), allowed) is None
    assert refuse_driver_write(DRIVER, on_slices("update", published("b"), published("b")), allowed) is not None


def test_who_is_bound_to_no_node_is_not_confined() -> None:
    free = User("system:serviceaccount:gpu:controller")
    assert refuse_driver_write(free, on_slices("create", published("b")), permissions()) is None
    assert refuse_driver_write(DRIVER, NodeWrite("create", "", "pods"), permissions()) is None


@pytest.mark.parametrize(
    ("name", "nodes", "want"),
    [
        ("system:serviceaccount:gpu:driver", ("a",), "a"),
        ("system:serviceaccount:gpu:driver", ("a", "b"), None),
        ("system:serviceaccount:gpu:driver", ("Not a name",), None),
        ("system:serviceaccount:gpu:driver", (), None),
        ("ada", ("a",), None),
    ],
)
def test_node_of_an_account_is_that_of_its_token(name: str, nodes: tuple[str, ...], want: str | None) -> None:
    user = User(name, extra={"authentication.kubernetes.io/node-name": nodes})
    assert find_bound_node(user) == want
