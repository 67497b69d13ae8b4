"""The kinds of the core group: where they are served, and what belongs to each.

The one place that puts types, defaults, checks and columns together.
"""

from collections.abc import Callable

from dray.api.columns import CREATED_AT, NAME
from dray.api.core import columns, defaults, prepare
from dray.api.core.binding import Binding
from dray.api.core.checks.bindings import check_binding
from dray.api.core.checks.configuration import (
    check_config_map,
    check_config_map_update,
    check_secret,
    check_secret_update,
)
from dray.api.core.checks.events import check_event
from dray.api.core.checks.namespaces import check_namespace, check_namespace_status
from dray.api.core.checks.nodes import check_node, check_node_update
from dray.api.core.checks.pod import check_pod, check_pod_create, check_pod_status, check_pod_update
from dray.api.core.checks.quotas import check_limit_range, check_quota, check_quota_status, check_quota_update
from dray.api.core.checks.services import check_service, check_service_update
from dray.api.core.configmap import ConfigMap
from dray.api.core.event import Event
from dray.api.core.limitrange import LimitRange
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.podcolumns import POD_COLUMNS, pod_row_conditions
from dray.api.core.poddefaults import default_pod
from dray.api.core.podwarnings import pod_warnings
from dray.api.core.references import ObjectReference
from dray.api.core.resourcequota import ResourceQuota
from dray.api.core.secret import Secret
from dray.api.core.service import Service
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.kind import STATUS, Kind, Scope, ServedVersion, Subresource
from dray.values.names import dns_1035_label_faults, dns_label_faults, path_segment_faults

__all__ = [
    "BINDING",
    "CONFIG_MAP",
    "EVENT",
    "KINDS",
    "LIMIT_RANGE",
    "NAMESPACE",
    "NODE",
    "POD",
    "RESOURCE_QUOTA",
    "SECRET",
    "SERVICE",
    "SERVICE_ACCOUNT",
    "reference_selectors",
]

_V1 = (ServedVersion("v1"),)
_V1_GONE = (ServedVersion("v1", delete_returns_object=False),)
"""For kinds whose deletion is answered with a Status."""
_STREAM = ("create", "get")
_PROXY = ("create", "delete", "get", "patch", "update")
_NO_COLLECTION = ("create", "delete", "get", "list", "patch", "update", "watch")


def _pod_address(pod: Pod) -> str:
    return pod.status.pod_ips[0].ip if pod.status.pod_ips else pod.status.pod_ip


def reference_selectors(
    prefix: str, reference: Callable[[Event], ObjectReference]
) -> dict[str, Callable[[Event], str]]:
    """Field selectors for every part of a reference."""
    return {
        f"{prefix}.kind": lambda event: reference(event).kind,
        f"{prefix}.namespace": lambda event: reference(event).namespace,
        f"{prefix}.name": lambda event: reference(event).name,
        f"{prefix}.uid": lambda event: reference(event).uid,
        f"{prefix}.apiVersion": lambda event: reference(event).api_version,
        f"{prefix}.resourceVersion": lambda event: reference(event).resource_version,
        f"{prefix}.fieldPath": lambda event: reference(event).field_path,
    }


BINDING: Kind[Binding] = Kind(
    struct=Binding,
    group="",
    plural="bindings",
    singular="binding",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
    create_checks=(check_binding,),
)

CONFIG_MAP: Kind[ConfigMap] = Kind(
    struct=ConfigMap,
    group="",
    plural="configmaps",
    singular="configmap",
    scope=Scope.NAMESPACED,
    versions=_V1_GONE,
    storage_version="v1",
    short_names=("cm",),
    create_checks=(check_config_map,),
    update_checks=(check_config_map_update, check_config_map),
    columns=columns.CONFIG_MAP_COLUMNS,
)

EVENT: Kind[Event] = Kind(
    struct=Event,
    group="",
    plural="events",
    singular="event",
    scope=Scope.NAMESPACED,
    versions=_V1_GONE,
    storage_version="v1",
    short_names=("ev",),
    name_faults=path_segment_faults,
    create_checks=(check_event,),
    update_checks=(check_event,),
    columns=columns.EVENT_COLUMNS,
    field_selectors={
        **reference_selectors("involvedObject", lambda event: event.involved_object),
        "reason": lambda event: event.reason,
        "reportingComponent": lambda event: event.reporting_component,
        "source": lambda event: event.source.component or event.reporting_component,
        "type": lambda event: event.type,
    },
)

LIMIT_RANGE: Kind[LimitRange] = Kind(
    struct=LimitRange,
    group="",
    plural="limitranges",
    singular="limitrange",
    scope=Scope.NAMESPACED,
    versions=_V1_GONE,
    storage_version="v1",
    short_names=("limits",),
    default=defaults.default_limit_range,
    create_checks=(check_limit_range,),
    update_checks=(check_limit_range,),
    columns=(NAME, CREATED_AT),
)

NAMESPACE: Kind[Namespace] = Kind(
    struct=Namespace,
    group="",
    plural="namespaces",
    singular="namespace",
    scope=Scope.CLUSTER,
    versions=_V1,
    storage_version="v1",
    short_names=("ns",),
    subresources=(Subresource("finalize", verbs=("update",)), STATUS),
    verbs=_NO_COLLECTION,
    name_faults=dns_label_faults,
    default=defaults.default_namespace,
    prepare_create=prepare.prepare_namespace_create,
    prepare_update=prepare.prepare_namespace_update,
    prepare_status=prepare.prepare_namespace_status,
    create_checks=(check_namespace,),
    update_checks=(check_namespace,),
    status_checks=(check_namespace_status,),
    columns=columns.NAMESPACE_COLUMNS,
    field_selectors={"status.phase": lambda namespace: namespace.status.phase},
)

NODE: Kind[Node] = Kind(
    struct=Node,
    group="",
    plural="nodes",
    singular="node",
    scope=Scope.CLUSTER,
    versions=_V1_GONE,
    storage_version="v1",
    short_names=("no",),
    subresources=(Subresource("proxy", verbs=_PROXY, kind="NodeProxyOptions"), STATUS),
    default=defaults.default_node,
    prepare_update=prepare.prepare_node_update,
    prepare_status=prepare.prepare_node_status,
    create_checks=(check_node,),
    update_checks=(check_node, check_node_update),
    status_checks=(check_node,),
    columns=columns.NODE_COLUMNS,
    field_selectors={"spec.unschedulable": lambda node: "true" if node.spec.unschedulable else "false"},
)

POD: Kind[Pod] = Kind(
    struct=Pod,
    group="",
    plural="pods",
    singular="pod",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    short_names=("po",),
    categories=("all",),
    subresources=(
        Subresource("attach", verbs=_STREAM, kind="PodAttachOptions"),
        Subresource("binding", verbs=("create",), kind="Binding"),
        Subresource("ephemeralcontainers"),
        Subresource("eviction", verbs=("create",), kind="Eviction", group="policy", version="v1"),
        Subresource("exec", verbs=_STREAM, kind="PodExecOptions"),
        Subresource("log", verbs=("get",)),
        Subresource("portforward", verbs=_STREAM, kind="PodPortForwardOptions"),
        Subresource("proxy", verbs=_PROXY, kind="PodProxyOptions"),
        Subresource("resize"),
        STATUS,
    ),
    counts_generations=True,
    default=default_pod,
    prepare_create=prepare.prepare_pod_create,
    prepare_update=prepare.prepare_pod_update,
    prepare_status=prepare.prepare_pod_status,
    create_checks=(check_pod, check_pod_create),
    update_checks=(check_pod, check_pod_update),
    status_checks=(check_pod_status,),
    warnings=pod_warnings,
    warns_of_updates=False,
    columns=POD_COLUMNS,
    row_conditions=pod_row_conditions,
    field_selectors={
        "spec.nodeName": lambda pod: pod.spec.node_name,
        "spec.host": lambda pod: pod.spec.node_name,
        "spec.restartPolicy": lambda pod: pod.spec.restart_policy,
        "spec.schedulerName": lambda pod: pod.spec.scheduler_name,
        "spec.serviceAccountName": lambda pod: pod.spec.service_account_name,
        "spec.hostNetwork": lambda pod: "true" if pod.spec.host_network else "false",
        "status.phase": lambda pod: pod.status.phase,
        "status.podIP": _pod_address,
        "status.podIPs": _pod_address,
        "status.nominatedNodeName": lambda pod: pod.status.nominated_node_name,
    },
)

RESOURCE_QUOTA: Kind[ResourceQuota] = Kind(
    struct=ResourceQuota,
    group="",
    plural="resourcequotas",
    singular="resourcequota",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    short_names=("quota",),
    subresources=(STATUS,),
    prepare_create=prepare.prepare_quota_create,
    prepare_update=prepare.prepare_quota_update,
    prepare_status=prepare.prepare_quota_status,
    create_checks=(check_quota,),
    update_checks=(check_quota, check_quota_update),
    status_checks=(check_quota_status,),
    columns=columns.RESOURCE_QUOTA_COLUMNS,
)

SECRET: Kind[Secret] = Kind(
    struct=Secret,
    group="",
    plural="secrets",
    singular="secret",
    scope=Scope.NAMESPACED,
    versions=_V1_GONE,
    storage_version="v1",
    default=defaults.default_secret,
    create_checks=(check_secret,),
    update_checks=(check_secret_update, check_secret),
    columns=columns.SECRET_COLUMNS,
    field_selectors={"type": lambda secret: secret.type},
)

SERVICE: Kind[Service] = Kind(
    struct=Service,
    group="",
    plural="services",
    singular="service",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    short_names=("svc",),
    categories=("all",),
    subresources=(Subresource("proxy", verbs=_PROXY, kind="ServiceProxyOptions"), STATUS),
    name_faults=dns_1035_label_faults,
    default=defaults.default_service,
    prepare_create=prepare.prepare_service_create,
    prepare_update=prepare.prepare_service_update,
    prepare_status=prepare.prepare_service_status,
    create_checks=(check_service,),
    update_checks=(check_service, check_service_update),
    columns=columns.SERVICE_COLUMNS,
    field_selectors={
        "spec.clusterIP": lambda service: service.spec.cluster_ip,
        "spec.type": lambda service: service.spec.type,
    },
)

SERVICE_ACCOUNT: Kind[ServiceAccount] = Kind(
    struct=ServiceAccount,
    group="",
    plural="serviceaccounts",
    singular="serviceaccount",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    short_names=("sa",),
    subresources=(
        Subresource("token", verbs=("create",), kind="TokenRequest", group="authentication.k8s.io", version="v1"),
    ),
)

KINDS = (
    BINDING,
    CONFIG_MAP,
    EVENT,
    LIMIT_RANGE,
    NAMESPACE,
    NODE,
    POD,
    RESOURCE_QUOTA,
    SECRET,
    SERVICE,
    SERVICE_ACCOUNT,
)
"""All kinds of the group, in the order in which discovery lists them."""
