"""What the API server fills into nodes, namespaces, services, secrets, config and limits."""

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from dray.api.core.limitrange import LimitRange, LimitRangeItem
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.poddefaults import default_quantities
from dray.api.core.secret import Secret
from dray.api.core.service import Service
from dray.api.core.servicespec import (
    ClientIPConfig,
    LoadBalancerStatus,
    ServicePort,
    ServiceSpec,
    ServiceStatus,
    SessionAffinityConfig,
)
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = [
    "NAMESPACE_LABEL",
    "default_limit_range",
    "default_namespace",
    "default_node",
    "default_secret",
    "default_service",
]

NAMESPACE_LABEL = "kubernetes.io/metadata.name"
"""The label by which a namespace can be selected by name."""

_AFFINITY_SECONDS = 3 * 60 * 60
_NO_AMOUNTS: Mapping[str, Quantity] = MappingProxyType({})


def default_namespace(new: Namespace, now: Time) -> Namespace:
    """Label the namespace with its name."""
    name, labels = new.metadata.name, new.metadata.labels
    if not name or labels.get(NAMESPACE_LABEL) == name:
        return new
    return replace(new, metadata=replace(new.metadata, labels={**labels, NAMESPACE_LABEL: name}))


def default_node(new: Node, now: Time) -> Node:
    """Pods may use everything there is, unless the node agent says otherwise."""
    capacity = default_quantities(new.status.capacity)
    allocatable = default_quantities(new.status.allocatable or capacity)
    return replace(new, status=replace(new.status, capacity=capacity, allocatable=allocatable))


def default_secret(new: Secret, now: Time) -> Secret:
    """Move the texts into the data, where they win, and give the secret a type."""
    texts = {key: text.encode() for key, text in new.string_data.items()}
    return replace(new, data={**new.data, **texts} if texts else new.data, string_data={}, type=new.type or "Opaque")


def default_limit_range(new: LimitRange, now: Time) -> LimitRange:
    """Derive the defaults of containers from the largest and the smallest amounts."""
    return replace(new, spec=replace(new.spec, limits=tuple(map(_default_limits, new.spec.limits))))


def _default_limits(item: LimitRangeItem) -> LimitRangeItem:
    if item.type != "Container":
        return item
    limits = {**item.max, **item.default}
    return replace(item, default=limits, default_request={**item.min, **limits, **item.default_request})


def default_service(new: Service, now: Time) -> Service:
    """Fill in what does not need the address pool of a cluster."""
    spec = new.spec
    kind = spec.type or "ClusterIP"
    is_reachable = kind in ("NodePort", "LoadBalancer")
    affinity = spec.session_affinity or "None"
    balances = kind == "LoadBalancer" and spec.allocate_load_balancer_node_ports is None
    internal = spec.internal_traffic_policy or (None if kind == "ExternalName" else "Cluster")
    spec = replace(
        spec,
        type=kind,
        session_affinity=affinity,
        session_affinity_config=_default_affinity(spec, affinity),
        ports=tuple(map(_default_port, spec.ports)),
        external_traffic_policy=spec.external_traffic_policy or ("Cluster" if is_reachable else ""),
        internal_traffic_policy=internal,
        allocate_load_balancer_node_ports=True if balances else spec.allocate_load_balancer_node_ports,
    )
    return replace(new, spec=spec, status=_default_balancer(new.status))


def _default_affinity(spec: ServiceSpec, affinity: str) -> SessionAffinityConfig | None:
    if affinity != "ClientIP":
        return None if affinity == "None" else spec.session_affinity_config
    given = spec.session_affinity_config
    seconds = given.client_ip.timeout_seconds if given is not None and given.client_ip is not None else None
    return SessionAffinityConfig(
        client_ip=ClientIPConfig(timeout_seconds=_AFFINITY_SECONDS if seconds is None else seconds)
    )


def _default_port(port: ServicePort) -> ServicePort:
    return replace(port, protocol=port.protocol or "TCP", target_port=port.target_port or port.port)


def _default_balancer(status: ServiceStatus) -> ServiceStatus:
    if all(not way.ip or way.ip_mode is not None for way in status.load_balancer.ingress):
        return status
    ingress = tuple(
        replace(way, ip_mode="VIP") if way.ip and way.ip_mode is None else way for way in status.load_balancer.ingress
    )
    return replace(status, load_balancer=LoadBalancerStatus(ingress=ingress))
