"""What node agents may do: user `system:node:<name>` in the group `system:nodes`.

An agent reads what the pods bound to its node refer to, and writes its own node, lease and slices and the status of its
pods. For what is the same for all agents, the rules of the cluster role `system:node` count, which is bound to nobody.
Where only the object to be written tells, this allows and `noderestriction` refuses.

Relations are looked up among the pods of the namespace, which takes some microseconds for each hundred of them.
"""

from collections.abc import Callable, Iterable, Sequence

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.rbac.role import PolicyRule
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.server.permission.references import (
    MIRROR_ANNOTATION,
    claim_names,
    config_map_names,
    secret_names,
    uses_account,
    volume_claim_names,
)
from dray.server.permission.rules import compile_rule, is_allowed
from dray.server.ports import AccessAttributes, Decision, User, View
from dray.values.fieldselectors import parse_field_selector
from dray.values.quoting import quote
from dray.values.selectors import SelectorError

__all__ = ["LEASE_NAMESPACE", "NODES", "NODE_PREFIX", "NodeAuthorizer", "find_node"]

NODES = "system:nodes"
NODE_PREFIX = "system:node:"
LEASE_NAMESPACE = "kube-node-lease"

_ALLOWED = Decision(is_allowed=True)
_NO_OPINION = Decision(is_allowed=False)

_NAMES: dict[tuple[str, str], Callable[[Pod], Iterable[str]]] = {
    ("", "secrets"): secret_names,
    ("", "configmaps"): config_map_names,
    ("", "persistentvolumeclaims"): volume_claim_names,
    ("resource.k8s.io", "resourceclaims"): claim_names,
}
_WRITTEN_BY_AGENTS = frozenset({
    ("nodes", "", "create"), ("nodes", "", "update"), ("nodes", "", "patch"),
    ("nodes", "status", "update"), ("nodes", "status", "patch"),
    ("pods", "", "create"), ("pods", "", "delete"),
    ("pods", "status", "update"), ("pods", "status", "patch"),
    ("pods", "eviction", "create"),
})  # fmt: skip
"""Resource, subresource and verb of the core group that `noderestriction` confines to the node's own."""


def find_node(user: User) -> str | None:
    """The node an agent speaks for, or None if the user is no agent. The name is empty if the agent keeps it back."""
    if not user.name.startswith(NODE_PREFIX) or NODES not in user.groups:
        return None
    return user.name.removeprefix(NODE_PREFIX)


class NodeAuthorizer:
    """Decides for node agents, and has no opinion on anybody else."""

    def __init__(self, view: View, rules: Sequence[PolicyRule]) -> None:
        self._view = view
        self._rules = tuple(map(compile_rule, rules))

    def decide(self, user: User, attributes: AccessAttributes) -> Decision:
        """Whether the agent may do it."""
        node = find_node(user)
        if node is None:
            return _NO_OPINION
        if not node:
            return _denied(f"unknown node for user {quote(user.name)}")
        return self._decide_for(node, attributes)

    def _decide_for(self, node: str, act: AccessAttributes) -> Decision:
        match (act.group, act.resource):
            case ("", "secrets" | "configmaps"):
                return self._reads_in_namespace(node, act)
            case ("", "persistentvolumeclaims") | ("resource.k8s.io", "resourceclaims"):
                return self._gets(node, act)
            case ("", "serviceaccounts"):
                return self._decide_account(node, act)
            case ("coordination.k8s.io", "leases"):
                return _decide_lease(node, act)
            case ("resource.k8s.io", "resourceslices"):
                return self._decide_slice(node, act)
            case ("", "nodes"):
                return _decide_node(node, act)
            case ("", "pods"):
                return self._decide_pod(node, act)
            case _:
                return _ALLOWED if is_allowed(self._rules, act) else _NO_OPINION

    def _gets(self, node: str, act: AccessAttributes) -> Decision:
        if act.verb != "get":
            return _denied("can only get individual resources of this type")
        if act.subresource:
            return _denied("cannot get subresource")
        return self._if_related(node, act)

    def _reads_in_namespace(self, node: str, act: AccessAttributes) -> Decision:
        if act.verb not in ("get", "list", "watch"):
            return _denied("can only read resources of this type")
        if act.subresource:
            return _denied("cannot read subresource")
        if not act.namespace:
            return _denied("can only read namespaced object of this type")
        return self._if_related(node, act)

    def _decide_account(self, node: str, act: AccessAttributes) -> Decision:
        if act.verb == "get" and not act.subresource:
            return self._if_related(node, act)
        if act.verb != "create" or not act.name:
            return _denied("can only create tokens for individual service accounts")
        if act.subresource != "token":
            return _denied("can only create token subresource of serviceaccount")
        return self._if_related(node, act)

    def _decide_slice(self, node: str, act: AccessAttributes) -> Decision:
        if act.subresource:
            return _denied("cannot authorize ResourceSlice subresources")
        match act.verb:
            case "create":
                return _ALLOWED
            case "get" | "update" | "patch" | "delete":
                return self._if_related(node, act)
            case "list" | "watch" | "deletecollection":
                if _selects(act, "spec.nodeName", node):
                    return _ALLOWED
                return _denied("can only list/watch/deletecollection resourceslices with nodeName field selector")
            case _:
                verbs = "get, watch, list, create, update, patch, delete, deletecollection"
                return _denied(f"only the following verbs are allowed for a ResourceSlice: {verbs}")

    def _decide_pod(self, node: str, act: AccessAttributes) -> Decision:
        if ("pods", act.subresource, act.verb) in _WRITTEN_BY_AGENTS:
            return _ALLOWED
        if act.subresource or act.verb not in ("get", "list", "watch"):
            return _NO_OPINION
        if act.verb == "get" or act.name:
            return self._if_related(node, act)
        if _selects(act, "spec.nodeName", node):
            return _ALLOWED
        return _denied("can only list/watch pods with spec.nodeName field selector")

    def _if_related(self, node: str, act: AccessAttributes) -> Decision:
        if not act.name:
            return _denied("No Object name found")
        if self._is_related(node, act):
            return _ALLOWED
        return _denied(f"no relationship found between node '{node}' and this object")

    def _is_related(self, node: str, act: AccessAttributes) -> bool:
        if act.resource == "pods":
            pod = self._view.find(POD, act.namespace, act.name)
            return pod is not None and pod.spec.node_name == node
        if act.resource == "resourceslices":
            published = self._view.find(RESOURCE_SLICE, "", act.name)
            return published is not None and published.spec.node_name == node
        pods = (pod for pod in self._view.list(POD, act.namespace) if pod.spec.node_name == node)
        if act.resource == "serviceaccounts":
            return any(uses_account(pod, act.name) and not _is_mirror(pod) for pod in pods)
        names = _NAMES[act.group, act.resource]
        return any(act.name in names(pod) and not _is_mirror(pod) for pod in pods)


def _denied(reason: str) -> Decision:
    return Decision(is_allowed=False, reason=reason)


def _is_mirror(pod: Pod) -> bool:
    return MIRROR_ANNOTATION in pod.metadata.annotations


def _decide_lease(node: str, act: AccessAttributes) -> Decision:
    if act.verb not in ("get", "create", "update", "patch", "delete"):
        return _denied("can only get, create, update, patch, or delete a node lease")
    if act.namespace != LEASE_NAMESPACE:
        return _denied(f"can only access leases in the {quote(LEASE_NAMESPACE)} system namespace")
    if act.verb != "create" and act.name != node:
        return _denied("can only access node lease with the same name as the requesting node")
    return _ALLOWED


def _decide_node(node: str, act: AccessAttributes) -> Decision:
    if ("nodes", act.subresource, act.verb) in _WRITTEN_BY_AGENTS:
        return _ALLOWED
    if act.subresource or act.verb not in ("get", "list", "watch"):
        return _NO_OPINION
    if act.name == node:
        return _ALLOWED
    if not act.name:
        return _denied(f"node '{node}' cannot read all nodes, only its own Node object")
    return _denied(f"node '{node}' cannot read '{act.name}', only its own Node object")


def _selects(act: AccessAttributes, field: str, value: str) -> bool:
    try:
        selector = parse_field_selector(act.field_selector)
    except SelectorError:
        return False
    return selector.find_exact_value(field) == value
