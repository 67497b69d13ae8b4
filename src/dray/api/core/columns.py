"""The columns of nodes, namespaces, events, services, and of what pods refer to."""

from collections.abc import Mapping
from typing import Final

from dray.api.columns import AGE, NAME, Column, render_age
from dray.api.core.configmap import ConfigMap
from dray.api.core.event import Event
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.resourcequota import ResourceQuota
from dray.api.core.secret import Secret
from dray.api.core.service import Service
from dray.api.core.servicespec import ServicePort
from dray.values.times import Time

__all__ = [
    "CONFIG_MAP_COLUMNS",
    "EVENT_COLUMNS",
    "NAMESPACE_COLUMNS",
    "NODE_COLUMNS",
    "RESOURCE_QUOTA_COLUMNS",
    "SECRET_COLUMNS",
    "SERVICE_COLUMNS",
    "render_labels",
]

_NONE: Final = "<none>"
_UNKNOWN: Final = "<unknown>"
_ROLE_PREFIX: Final = "node-role.kubernetes.io/"
_ROLE_LABEL: Final = "kubernetes.io/role"
_BALANCER_WIDTH: Final = 16


def render_labels(labels: Mapping[str, str]) -> str:
    """`a=b,c=d`, or `<none>`."""
    return ",".join(f"{name}={labels[name]}" for name in sorted(labels)) or _NONE


def _node_status(node: Node, now: Time) -> str:
    ready = next((each.status for each in node.status.conditions if each.type == "Ready"), None)
    word = "Unknown" if ready is None else "Ready" if ready == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if node.spec.unschedulable else word


def _node_roles(node: Node, now: Time) -> str:
    roles = {name.removeprefix(_ROLE_PREFIX) for name in node.metadata.labels if name.startswith(_ROLE_PREFIX)}
    roles.add(node.metadata.labels.get(_ROLE_LABEL, ""))
    return ",".join(sorted(roles - {""})) or _NONE


def _node_address(node: Node, kind: str) -> str:
    return next((each.address for each in node.status.addresses if each.type == kind), _NONE)


def _node_kernel(node: Node, now: Time) -> str:
    about = node.status.node_info
    if not about.kernel_version:
        return _UNKNOWN
    return f"{about.kernel_version} ({about.architecture})" if about.architecture else about.kernel_version


NODE_COLUMNS: tuple[Column[Node], ...] = (
    NAME,
    Column("Status", _node_status, description="Whether the node is ready, and closed to new pods."),
    Column("Roles", _node_roles, description="Roles that the labels of the node give it."),
    AGE,
    Column(
        "Version", lambda node, now: node.status.node_info.kubelet_version, description="Version of the node agent."
    ),
    Column(
        "Internal-IP",
        lambda node, now: _node_address(node, "InternalIP"),
        description="Address inside the cluster.",
        priority=1,
    ),
    Column(
        "External-IP",
        lambda node, now: _node_address(node, "ExternalIP"),
        description="Address outside the cluster.",
        priority=1,
    ),
    Column(
        "OS-Image",
        lambda node, now: node.status.node_info.os_image or _UNKNOWN,
        description="Name of the operating system image.",
        priority=1,
    ),
    Column("Kernel-Version", _node_kernel, description="Version of the kernel.", priority=1),
    Column(
        "Container-Runtime",
        lambda node, now: node.status.node_info.container_runtime_version or _UNKNOWN,
        description="Runtime and its version.",
        priority=1,
    ),
)

NAMESPACE_COLUMNS: tuple[Column[Namespace], ...] = (
    NAME,
    Column("Status", lambda namespace, now: namespace.status.phase, description="Where the namespace is in its life."),
    AGE,
)


def _first_seen(event: Event) -> Time | None:
    if event.first_timestamp is not None:
        return event.first_timestamp
    return event.event_time.to_time() if event.event_time is not None else None


def _last_seen(event: Event) -> Time | None:
    if event.series is not None and event.series.last_observed_time is not None:
        return event.series.last_observed_time.to_time()
    return event.last_timestamp or _first_seen(event)


def _event_count(event: Event, now: Time) -> int:
    return event.series.count if event.series is not None else event.count or 1


def _event_object(event: Event, now: Time) -> str:
    subject = event.involved_object
    return f"{subject.kind.lower()}/{subject.name}" if subject.kind else subject.name


def _event_source(event: Event, now: Time) -> str:
    component = event.source.component or event.reporting_component
    host = event.source.host or event.reporting_instance
    return f"{component}, {host}" if host else component


EVENT_COLUMNS: tuple[Column[Event], ...] = (
    Column("Last Seen", lambda event, now: render_age(_last_seen(event), now), description="Time since the last one."),
    Column("Type", lambda event, now: event.type, description="Normal or Warning."),
    Column("Reason", lambda event, now: event.reason, description="Why, as one word."),
    Column("Object", _event_object, description="What it happened to."),
    Column(
        "Subobject",
        lambda event, now: event.involved_object.field_path,
        description="Which part of the object it happened to.",
        priority=1,
    ),
    Column("Source", _event_source, description="Who tells it.", priority=1),
    Column("Message", lambda event, now: event.message.strip(), description="What happened."),
    Column(
        "First Seen",
        lambda event, now: render_age(_first_seen(event), now),
        description="Time since the first one.",
        priority=1,
    ),
    Column("Count", _event_count, description="How often it has been seen.", priority=1),
    Column("Name", lambda event, now: event.metadata.name, format="name", description="Unique name.", priority=1),
)


def _external_addresses(service: Service, now: Time) -> str:
    spec = service.spec
    if spec.type == "ExternalName":
        return spec.external_name
    if spec.type != "LoadBalancer":
        return ",".join(spec.external_ips) or _NONE
    ways = ",".join(sorted({way.ip or way.hostname for way in service.status.load_balancer.ingress} - {""}))
    if len(ways) > _BALANCER_WIDTH:
        ways = f"{ways[: _BALANCER_WIDTH - 3]}..."
    return ",".join((ways, *spec.external_ips) if ways else spec.external_ips) or "<pending>"


def _render_port(port: ServicePort) -> str:
    node_port = f":{port.node_port}" if port.node_port else ""
    return f"{port.port}{node_port}/{port.protocol}"


SERVICE_COLUMNS: tuple[Column[Service], ...] = (
    NAME,
    Column("Type", lambda service, now: service.spec.type, description="How far the service is reachable."),
    Column(
        "Cluster-IP",
        lambda service, now: next(iter(service.spec.cluster_ips), service.spec.cluster_ip) or _NONE,
        description="Address inside the cluster.",
    ),
    Column("External-IP", _external_addresses, description="Addresses outside the cluster."),
    Column(
        "Port(s)",
        lambda service, now: ",".join(map(_render_port, service.spec.ports)) or _NONE,
        description="Ports, with those of the nodes.",
    ),
    AGE,
    Column(
        "Selector",
        lambda service, now: render_labels(service.spec.selector),
        description="Labels of the pods behind it.",
        priority=1,
    ),
)

CONFIG_MAP_COLUMNS: tuple[Column[ConfigMap], ...] = (
    NAME,
    Column("Data", lambda config, now: len(config.data) + len(config.binary_data), description="How many keys it has."),
    AGE,
)

SECRET_COLUMNS: tuple[Column[Secret], ...] = (
    NAME,
    Column("Type", lambda secret, now: secret.type, description="What the data is for."),
    Column("Data", lambda secret, now: len(secret.data), description="How many keys it has."),
    AGE,
)


def _quota_part(quota: ResourceQuota, *, of_limits: bool) -> str:
    status = quota.status
    parts = [
        f"{name}: {status.used.get(name, 0)}/{status.hard[name]}"
        for name in sorted(status.hard)
        if name.startswith("limits.") is of_limits
    ]
    return ", ".join(parts)


RESOURCE_QUOTA_COLUMNS: tuple[Column[ResourceQuota], ...] = (
    NAME,
    Column(
        "Request",
        lambda quota, now: _quota_part(quota, of_limits=False),
        description="Use and limit of what can be asked for.",
    ),
    Column(
        "Limit",
        lambda quota, now: _quota_part(quota, of_limits=True),
        description="Use and limit of the limits of containers.",
    ),
    AGE,
)
