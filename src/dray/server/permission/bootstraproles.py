"""The roles every cluster begins with, as Kubernetes names them, for what is served here.

`view` also names the kinds of apps, batch and networking that are not: a role is what people compare and bind, and it
is the same here as there.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.meta import LabelSelector, ObjectMeta
from dray.api.rbac.aggregation import aggregate_rules
from dray.api.rbac.kinds import GROUP
from dray.api.rbac.role import AggregationRule, ClusterRole, PolicyRule
from dray.server.permission.controllerroles import CONTROLLER_RULES
from dray.server.permission.ruletext import EVENTS, READ, WRITE, paths, rule

__all__ = ["BOOTSTRAP_ANNOTATIONS", "BOOTSTRAP_LABELS", "NODE_RULES", "bootstrap_roles"]

BOOTSTRAP_LABELS: Final[Mapping[str, str]] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
BOOTSTRAP_ANNOTATIONS: Final[Mapping[str, str]] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}

_SCALES = "daemonsets daemonsets/status deployments deployments/scale deployments/status"
_REPLICAS = "replicasets replicasets/scale replicasets/status"
_SCALED = "deployments/rollback deployments/scale"

_VIEW = (
    rule(
        READ,
        "",
        "configmaps endpoints persistentvolumeclaims persistentvolumeclaims/status pods replicationcontrollers "
        "replicationcontrollers/scale serviceaccounts services services/status",
    ),
    rule(
        READ,
        "",
        "bindings limitranges namespaces/status pods/log pods/status replicationcontrollers/status resourcequotas "
        "resourcequotas/status",
    ),
    rule(READ, "", "namespaces"),
    rule(READ, ("", "events.k8s.io"), "events"),
    rule(READ, "discovery.k8s.io", "endpointslices"),
    rule(
        READ,
        "apps",
        f"controllerrevisions {_SCALES} {_REPLICAS} statefulsets statefulsets/scale statefulsets/status",
    ),
    rule(READ, "autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status"),
    rule(READ, "batch", "cronjobs cronjobs/status jobs jobs/status"),
    rule(
        READ,
        "extensions",
        f"{_SCALES} ingresses ingresses/status networkpolicies {_REPLICAS} replicationcontrollers/scale",
    ),
    rule(READ, "policy", "poddisruptionbudgets poddisruptionbudgets/status"),
    rule(READ, "networking.k8s.io", "ingresses ingresses/status networkpolicies"),
    rule(READ, "resource.k8s.io", "resourceclaims resourceclaims/status resourceclaimtemplates"),
    rule(READ, "scheduling.k8s.io", "podgroups workloads"),
)

_EDIT = (
    rule(READ, "", "pods/attach pods/exec pods/portforward pods/proxy secrets services/proxy"),
    rule("impersonate", "", "serviceaccounts"),
    rule(WRITE, "", "pods pods/attach pods/exec pods/portforward pods/proxy"),
    rule("create", "", "pods/eviction"),
    rule(
        WRITE,
        "",
        "configmaps persistentvolumeclaims replicationcontrollers replicationcontrollers/scale secrets "
        "serviceaccounts services services/proxy",
    ),
    rule(WRITE, ("", "events.k8s.io"), "events"),
    rule("create", "", "serviceaccounts/token"),
    rule(
        WRITE,
        "apps",
        f"daemonsets deployments {_SCALED} replicasets replicasets/scale statefulsets statefulsets/scale",
    ),
    rule(WRITE, "autoscaling", "horizontalpodautoscalers"),
    rule(WRITE, "batch", "cronjobs jobs"),
    rule(
        WRITE,
        "extensions",
        f"daemonsets deployments {_SCALED} ingresses networkpolicies replicasets replicasets/scale "
        "replicationcontrollers/scale",
    ),
    rule(WRITE, "policy", "poddisruptionbudgets"),
    rule(WRITE, "networking.k8s.io", "ingresses networkpolicies"),
    rule(f"{WRITE} {READ}", "coordination.k8s.io", "leases"),
    rule(WRITE, "resource.k8s.io", "resourceclaims resourceclaimtemplates"),
    rule(WRITE, "scheduling.k8s.io", "podgroups workloads"),
)

_ADMIN = (
    rule("create", "authorization.k8s.io", "localsubjectaccessreviews"),
    rule(f"{WRITE} {READ}", GROUP, "rolebindings roles"),
)

NODE_RULES: Final = (
    rule("create", "authentication.k8s.io", "tokenreviews"),
    rule("create", "authorization.k8s.io", "localsubjectaccessreviews subjectaccessreviews"),
    rule(READ, "", "services"),
    rule("create get list watch", "", "nodes"),
    rule("patch update", "", "nodes/status"),
    rule("patch update", "", "nodes"),
    *EVENTS,
    rule(READ, "", "pods"),
    rule("create delete", "", "pods"),
    rule("patch update", "", "pods/status"),
    rule("create", "", "pods/eviction"),
    rule(READ, "", "configmaps secrets"),
    rule("get", "", "persistentvolumeclaims persistentvolumes"),
    rule("create delete get patch update", "coordination.k8s.io", "leases"),
    rule("create", "", "serviceaccounts/token"),
    rule("get", "resource.k8s.io", "resourceclaims"),
    rule("deletecollection", "resource.k8s.io", "resourceslices"),
)
"""What node agents may, as far as one rule for all can say; `nodes` confines each to its own."""

_HEALTH = "/healthz /livez /readyz"
_DISCOVERY = "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/"

_SYSTEM: Mapping[str, Sequence[PolicyRule]] = {
    "cluster-admin": (rule("*", "*", "*"), paths("*", verbs="*")),
    "system:auth-delegator": (
        rule("create", "authentication.k8s.io", "tokenreviews"),
        rule("create", "authorization.k8s.io", "subjectaccessreviews"),
    ),
    "system:basic-user": (
        rule("create", "authorization.k8s.io", "selfsubjectaccessreviews selfsubjectrulesreviews"),
        rule("create", "authentication.k8s.io", "selfsubjectreviews"),
    ),
    "system:discovery": (
        paths("/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/"),
    ),
    "system:kube-controller-manager": (
        *EVENTS,
        rule("create", "coordination.k8s.io", "leases"),
        rule("get update", "coordination.k8s.io", "leases", names="kube-controller-manager"),
        rule("create", "", "secrets serviceaccounts"),
        rule("delete", "", "secrets"),
        rule("get", "", "configmaps namespaces secrets serviceaccounts"),
        rule("update", "", "secrets serviceaccounts"),
        rule("create", "authentication.k8s.io", "tokenreviews"),
        rule("create", "authorization.k8s.io", "subjectaccessreviews"),
        rule("list watch", "*", "*"),
        rule("create", "", "serviceaccounts/token"),
    ),
    "system:kube-scheduler": (
        *EVENTS,
        rule("create", "coordination.k8s.io", "leases"),
        rule("get list update watch", "coordination.k8s.io", "leases", names="kube-scheduler"),
        rule(READ, "", "nodes"),
        rule("delete get list watch", "", "pods"),
        rule("create", "", "bindings pods/binding"),
        rule("patch update", "", "pods/status"),
        rule("update", "", "pods/finalizers"),
        rule(READ, "", "replicationcontrollers services"),
        rule(READ, ("apps", "extensions"), "replicasets"),
        rule(READ, "apps", "statefulsets"),
        rule(READ, "policy", "poddisruptionbudgets"),
        rule(READ, "", "persistentvolumeclaims persistentvolumes"),
        rule("create", "authentication.k8s.io", "tokenreviews"),
        rule("create", "authorization.k8s.io", "subjectaccessreviews"),
        rule(READ, "", "namespaces"),
        rule(READ, "resource.k8s.io", "deviceclasses devicetaintrules resourceslices"),
        rule("get list patch update watch", "resource.k8s.io", "resourceclaims resourceclaims/status"),
        rule("create delete", "resource.k8s.io", "resourceclaims"),
        rule("patch update", "resource.k8s.io", "resourceclaims/binding"),
        rule(READ, "scheduling.k8s.io", "podgroups"),
        rule("patch update", "scheduling.k8s.io", "podgroups/status"),
    ),
    "system:monitoring": (paths("/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*"),),
    "system:node": NODE_RULES,
    "system:public-info-viewer": (paths(f"{_HEALTH} /version /version/"),),
    "system:service-account-issuer-discovery": (paths(_DISCOVERY),),
}


def bootstrap_roles() -> tuple[ClusterRole, ...]:
    """Every cluster role, ordered by name, aggregated ones filled."""
    roles = [
        *(_role(name, rules) for name, rules in {**_SYSTEM, **CONTROLLER_RULES}.items()),
        _part("system:aggregate-to-view", _VIEW, "view"),
        _part("system:aggregate-to-edit", _EDIT, "edit"),
        _part("system:aggregate-to-admin", _ADMIN, "admin"),
        _whole("view", part_of="edit"),
        _whole("edit", part_of="admin"),
        _whole("admin"),
    ]
    for name in ("view", "edit", "admin"):  # each is a part of the next
        roles = [replace(role, rules=aggregate_rules(role, roles)) if _is(role, name) else role for role in roles]
    return tuple(sorted(roles, key=lambda role: role.metadata.name))


def _is(role: ClusterRole, name: str) -> bool:
    return role.metadata.name == name


def _role(name: str, rules: Iterable[PolicyRule], labels: Mapping[str, str] | None = None) -> ClusterRole:
    metadata = ObjectMeta(name=name, labels={**BOOTSTRAP_LABELS, **(labels or {})}, annotations=BOOTSTRAP_ANNOTATIONS)
    return ClusterRole(kind="ClusterRole", api_version=f"{GROUP}/v1", metadata=metadata, rules=tuple(rules))


def _part(name: str, rules: Iterable[PolicyRule], whole: str) -> ClusterRole:
    return _role(name, rules, _mark(whole))


def _whole(name: str, *, part_of: str = "") -> ClusterRole:
    selectors = (LabelSelector(match_labels=_mark(name)),)
    role = _role(name, (), _mark(part_of) if part_of else None)
    return replace(role, aggregation_rule=AggregationRule(cluster_role_selectors=selectors))


def _mark(whole: str) -> dict[str, str]:
    return {f"{GROUP}/aggregate-to-{whole}": "true"}
