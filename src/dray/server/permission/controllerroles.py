"""What each controller may: one role a controller, bound to the service account of that name in kube-system."""

from collections.abc import Mapping, Sequence
from typing import Final

from dray.api.rbac.kinds import GROUP
from dray.api.rbac.role import PolicyRule
from dray.server.permission.ruletext import EVENTS, READ, rule

__all__ = ["CONTROLLER_PREFIX", "CONTROLLER_RULES"]

CONTROLLER_PREFIX: Final = "system:controller:"
_DRA = "resource.k8s.io"
_SUBRESOURCE_WRITE = "patch update"

_RULES: Mapping[str, Sequence[PolicyRule]] = {
    "clusterrole-aggregation-controller": (
        # A role is put together from what others gave it: nothing is given that was not allowed before.
        rule("escalate get list patch update watch", GROUP, "clusterroles"),
    ),
    "device-taint-eviction-controller": (
        rule(f"{READ} delete", "", "pods"),
        rule(_SUBRESOURCE_WRITE, "", "pods/status"),
        rule(READ, _DRA, "deviceclasses devicetaintrules resourceclaims resourceslices"),
        rule(_SUBRESOURCE_WRITE, _DRA, "devicetaintrules/status"),
        *EVENTS,
    ),
    "disruption-controller": (
        rule(READ, "apps", "deployments replicasets statefulsets"),
        rule(READ, "", "replicationcontrollers"),
        rule(READ, "policy", "poddisruptionbudgets"),
        rule("update", "policy", "poddisruptionbudgets/status"),
        rule(READ, "", "pods"),
        rule(_SUBRESOURCE_WRITE, "", "pods/status"),
        *EVENTS,
    ),
    "generic-garbage-collector": (
        rule("delete get list patch update watch", "*", "*"),
        *EVENTS,
    ),
    "namespace-controller": (
        rule("delete get list watch", "", "namespaces"),
        rule("update", "", "namespaces/finalize namespaces/status"),
        rule("delete deletecollection get list", "*", "*"),
        *EVENTS,
    ),
    "node-controller": (
        rule("delete get list patch update watch", "", "nodes"),
        rule(_SUBRESOURCE_WRITE, "", "nodes/status"),
        rule(_SUBRESOURCE_WRITE, "", "pods/status"),
        rule("delete get list watch", "", "pods"),
        rule(READ, "coordination.k8s.io", "leases"),
        *EVENTS,
    ),
    "pod-garbage-collector": (
        rule("delete list watch", "", "pods"),
        rule(READ, "", "nodes"),
        rule("patch", "", "pods/status"),
    ),
    "podgroup-protection-controller": (
        rule("get list update watch", "scheduling.k8s.io", "podgroups"),
        rule(READ, "", "pods"),
    ),
    "resource-claim-controller": (
        rule(READ, "", "pods"),
        rule("update", "", "pods/finalizers"),
        rule(_SUBRESOURCE_WRITE, "", "pods/status"),
        rule(f"create delete {READ} {_SUBRESOURCE_WRITE}", _DRA, "resourceclaims"),
        rule(READ, _DRA, "resourceclaimtemplates"),
        rule(_SUBRESOURCE_WRITE, _DRA, "resourceclaims/binding resourceclaims/status"),
        rule(READ, "scheduling.k8s.io", "podgroups"),
        rule(_SUBRESOURCE_WRITE, "scheduling.k8s.io", "podgroups/status"),
        *EVENTS,
    ),
    "resourcepoolstatusrequest-controller": (
        rule(f"{READ} delete", _DRA, "resourcepoolstatusrequests"),
        rule(_SUBRESOURCE_WRITE, _DRA, "resourcepoolstatusrequests/status"),
        rule(READ, _DRA, "devicetaintrules resourceclaims resourceslices"),
        *EVENTS,
    ),
    "resourcequota-controller": (
        rule("list watch", "*", "*"),
        rule("update", "", "resourcequotas/status"),
        *EVENTS,
    ),
    "root-ca-cert-publisher": (
        rule("create update", "", "configmaps"),
        rule("list watch", "", "configmaps namespaces"),
        *EVENTS,
    ),
    "service-account-controller": (
        rule("create", "", "serviceaccounts"),
        rule("list watch", "", "namespaces serviceaccounts"),
        *EVENTS,
    ),
}

CONTROLLER_RULES: Final = {CONTROLLER_PREFIX + name: rules for name, rules in _RULES.items()}
"""Rules by name of the role."""
