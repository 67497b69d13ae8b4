"""What node agents may write, seen with the object in hand: their own node, lease, slices and pods, and no more.

`nodes` decides by the address of a request; here the content is looked at, at admission. Everything is a pure function
that answers with the reason of a refusal, or None.

Drivers do not act as their node but as a service account whose token is bound to a pod, and so to a node. They are
confined to the slices of that node, unless they are allowed the verb `arbitrary-node:<operation>` on resourceslices, as
Kubernetes words the same distinction in the status of claims.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from dray.api.authentication.tokenrequest import TokenRequest
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.kind import Operation
from dray.api.meta import ApiObject, OwnerReference
from dray.api.resource.slice import ResourceSlice
from dray.server.permission.nodes import LEASE_NAMESPACE, find_node
from dray.server.permission.references import (
    MIRROR_ANNOTATION,
    claim_names,
    config_map_names,
    secret_names,
    volume_claim_names,
)
from dray.server.ports import AccessAttributes, Authorizer, User, View
from dray.values.names import dns_subdomain_faults
from dray.values.quoting import quote

__all__ = ["NODE_NAME_EXTRA", "NodeWrite", "find_bound_node", "refuse_driver_write", "refuse_node_write"]

NODE_NAME_EXTRA: Final = "authentication.kubernetes.io/node-name"
"""Where a user's extra names the node of the pod that the token is bound to."""

_OWN_LABELS = frozenset({
    "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "beta.kubernetes.io/arch",
    "beta.kubernetes.io/os", "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type",
    "failure-domain.beta.kubernetes.io/region", "failure-domain.beta.kubernetes.io/zone",
    "topology.kubernetes.io/region", "topology.kubernetes.io/zone", "node.kubernetes.io/windows-build",
})  # fmt: skip
"""Labels under kubernetes.io and k8s.io that an agent sets on its node."""
_OWN_LABEL_PLACES = ("kubelet.kubernetes.io", "node.kubernetes.io")
_RESTRICTED = "node-restriction.kubernetes.io"


class NodeWrite(Struct, frozen=True):
    """A write as admission sees it. `verb` is that of the request: create, update, patch or delete.

    `new` is None for deletions, `old` for creations; for the subresources token and eviction `new` is the body.
    """

    verb: str
    group: str
    resource: str
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    new: ApiObject | None = None
    old: ApiObject | None = None

    @property
    def operation(self) -> str:
        """What is done, whatever the way: a patch is an update."""
        return Operation.UPDATE if self.verb == "patch" else self.verb


_Rule = Callable[[str, NodeWrite, View], str | None]


def refuse_node_write(user: User, write: NodeWrite, view: View) -> str | None:
    """Why a node agent may not write this. Others may, as far as this goes."""
    node = find_node(user)
    if node is None:
        return None
    if not node:
        return f"could not determine node from user {quote(user.name)}"
    rule = _RULES.get((write.group, write.resource))
    return None if rule is None else rule(node, write, view)


def refuse_driver_write(user: User, write: NodeWrite, authorizer: Authorizer) -> str | None:
    """Why a service account that is bound to a node may not write this slice: it is another node's, or nobody's."""
    if (write.group, write.resource) != ("resource.k8s.io", "resourceslices"):
        return None
    node = find_bound_node(user)
    if node is None:
        return None
    foreign = [slice_.spec.node_name or "" for slice_ in (write.old, write.new) if isinstance(slice_, ResourceSlice)]
    foreign = [name for name in foreign if name != node]
    if not foreign:
        return None
    beyond = AccessAttributes(
        verb=f"arbitrary-node:{write.operation}",
        group=write.group,
        version="*",
        resource=write.resource,
        name=write.name,
    )
    if authorizer.decide(user, beyond).is_allowed:
        return None
    what = f"resourceslices on node '{foreign[0]}'" if foreign[0] else "cluster resourceslices"
    return f"this user running on node '{node}' may not modify {what}"


def find_bound_node(user: User) -> str | None:
    """The node that a service account's token is bound to, by way of its pod; `CheckContext.caller_node`."""
    nodes = user.extra.get(NODE_NAME_EXTRA, ())
    if len(nodes) != 1 or not user.name.startswith("system:serviceaccount:") or dns_subdomain_faults(nodes[0]):
        return None
    return nodes[0]


def _refuse_pod(node: str, write: NodeWrite, view: View) -> str | None:
    match write.subresource:
        case "status":
            return _refuse_pod_status(node, write)
        case "eviction":
            pod = view.find(POD, write.namespace, write.name)
            if pod is None or pod.spec.node_name == node:
                return None
            return f"node {node} can only evict pods with spec.nodeName set to itself"
        case "":
            return _refuse_whole_pod(node, write, view)
        case other:
            return f"unexpected pod subresource {quote(other)}, only 'status' and 'eviction' are allowed"


def _refuse_whole_pod(node: str, write: NodeWrite, view: View) -> str | None:
    if isinstance(write.new, Pod) and write.operation == "create":
        return _refuse_mirror(node, write.new) or _refuse_owners(node, write.new, view) or _refuse_uses(node, write.new)
    if write.operation == "delete":
        if isinstance(write.old, Pod) and write.old.spec.node_name != node:
            return f"node {quote(node)} can only delete pods with spec.nodeName set to itself"
        return None
    shown = quote(write.operation.upper())
    return f"unexpected operation {shown}, node {quote(node)} can only create and delete mirror pods"


def _refuse_mirror(node: str, pod: Pod) -> str | None:
    if MIRROR_ANNOTATION not in pod.metadata.annotations:
        shown = quote(MIRROR_ANNOTATION)
        return f"pod does not have {shown} annotation, node {quote(node)} can only create mirror pods"
    if pod.spec.node_name != node:
        return f"node {quote(node)} can only create pods with spec.nodeName set to itself"
    return None


def _refuse_owners(node: str, pod: Pod, view: View) -> str | None:
    can_only = f"node {quote(node)} can only create pods with"
    owners = pod.metadata.owner_references
    if len(owners) > 1:
        return f"{can_only} a single owner reference set to itself"
    if not owners or not _is_node(owners[0], node):
        return f"{can_only} an owner reference set to itself"
    if not owners[0].controller:
        return f"{can_only} a controller owner reference set to itself"
    if owners[0].block_owner_deletion:
        return f"node {quote(node)} must not set blockOwnerDeletion on an owner reference"
    known = view.find(NODE, "", node)
    if known is not None and known.metadata.uid != owners[0].uid:
        return f"node {node} UID mismatch: expected {owners[0].uid} got {known.metadata.uid}"
    return None


def _is_node(owner: OwnerReference, node: str) -> bool:
    return (owner.api_version, owner.kind, owner.name) == ("v1", "Node", node)


def _refuse_uses(node: str, pod: Pod) -> str | None:
    """A mirror pod refers to nothing: the agent could otherwise give itself access to whatever it likes."""
    projected = [source for volume in pod.spec.volumes if volume.projected for source in volume.projected.sources]
    used = {
        "a service account": bool(pod.spec.service_account_name),
        "secrets": any(True for _ in secret_names(pod)),
        "configmaps": any(True for _ in config_map_names(pod)),
        "clustertrustbundles": any(source.cluster_trust_bundle for source in projected),
        "persistentvolumeclaims": any(True for _ in volume_claim_names(pod)),
        "resourceclaims": bool(pod.spec.resource_claims) or any(True for _ in claim_names(pod)),
    }
    first = next((what for what, is_used in used.items() if is_used), None)
    return first and f"node {quote(node)} can not create pods that reference {first}"


def _refuse_pod_status(node: str, write: NodeWrite) -> str | None:
    if write.operation != Operation.UPDATE or not isinstance(write.old, Pod) or not isinstance(write.new, Pod):
        return f"unexpected operation {quote(write.operation.upper())}"
    if write.old.spec.node_name != node:
        return f"node {quote(node)} can only update pod status for pods with spec.nodeName set to itself"
    if write.old.metadata.labels != write.new.metadata.labels:
        return f"node {quote(node)} cannot update labels through pod status"
    old, new = write.old.status, write.new.status
    if old.resource_claim_statuses != new.resource_claim_statuses:
        return f"node {quote(node)} cannot update resource claim statues"
    if old.extended_resource_claim_status != new.extended_resource_claim_status:
        return f"node {quote(node)} cannot update extended resource claim status"
    if old.node_allocatable_resource_claim_statuses != new.node_allocatable_resource_claim_statuses:
        return f"node {quote(node)} cannot update node allocatable resource claim statuses"
    return None


def _refuse_node(node: str, write: NodeWrite, view: View) -> str | None:
    name = write.name or (write.new.metadata.name if write.new is not None else "")
    if name != node:
        return f"node {quote(node)} is not allowed to modify node {quote(name)}"
    if not isinstance(write.new, Node):
        return None
    old = write.old if isinstance(write.old, Node) else None
    if old is not None and old.spec.taints != write.new.spec.taints:
        return f"node {quote(node)} is not allowed to modify taints"
    if old is not None and old.metadata.owner_references != write.new.metadata.owner_references:
        return f"node {quote(node)} is not allowed to modify ownerReferences"
    labels = ", ".join(_foreign_labels(write.new.metadata.labels, old.metadata.labels if old is not None else {}))
    if not labels:
        return None
    if old is None:
        return f"node {quote(node)} is not allowed to set the following labels: {labels}"
    return f"is not allowed to modify labels: {labels}"


def _foreign_labels(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    changed = (label for label in new.keys() | old.keys() if new.get(label) != old.get(label))
    return sorted(label for label in changed if _is_foreign(label))


def _is_foreign(label: str) -> bool:
    place, slash, _ = label.partition("/")
    if not slash or label in _OWN_LABELS:
        return False
    if _is_under(place, _RESTRICTED):
        return True
    is_kubernetes = _is_under(place, "kubernetes.io") or _is_under(place, "k8s.io")
    return is_kubernetes and not any(_is_under(place, own) for own in _OWN_LABEL_PLACES)


def _is_under(place: str, domain: str) -> bool:
    return place == domain or place.endswith(f".{domain}")


def _refuse_token(node: str, write: NodeWrite, view: View) -> str | None:
    """An agent asks for tokens on behalf of its pods alone, and each dies with the pod."""
    if write.subresource != "token" or not isinstance(write.new, TokenRequest):
        return None
    bound = write.new.spec.bound_object_ref
    if bound is None or (bound.api_version, bound.kind) != ("v1", "Pod") or not bound.name:
        return "node requested token not bound to a pod"
    if not bound.uid:
        return "node requested token with a pod binding without a uid"
    pod = view.find(POD, write.namespace, bound.name)
    if pod is not None and pod.metadata.uid != bound.uid:
        return (
            f"the UID in the bound object reference ({bound.uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
    if pod is not None and pod.spec.node_name != node:
        return "node requested token bound to a pod scheduled on a different node"
    return None


def _refuse_lease(node: str, write: NodeWrite, view: View) -> str | None:
    if write.namespace != LEASE_NAMESPACE:
        return f"can only access leases in the {quote(LEASE_NAMESPACE)} system namespace"
    name = write.name or (write.new.metadata.name if write.new is not None else "")
    return None if name == node else "can only access node lease with the same name as the requesting node"


def _refuse_slice(node: str, write: NodeWrite, view: View) -> str | None:
    if write.operation == "create" and isinstance(write.new, ResourceSlice) and write.new.spec.node_name != node:
        return "can only create ResourceSlice with the same NodeName as the requesting node"
    if write.operation == "delete" and isinstance(write.old, ResourceSlice) and write.old.spec.node_name != node:
        return "can only delete ResourceSlice with the same NodeName as the requesting node"
    return None


_RULES: dict[tuple[str, str], _Rule] = {
    ("", "pods"): _refuse_pod,
    ("", "nodes"): _refuse_node,
    ("", "serviceaccounts"): _refuse_token,
    ("coordination.k8s.io", "leases"): _refuse_lease,
    ("resource.k8s.io", "resourceslices"): _refuse_slice,
}
