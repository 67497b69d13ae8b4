"""What is wanted of a service and what is known about it.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from dray.api.meta import Condition
from dray.api.struct import ATOMIC, REQUIRED, ApiStruct, Int32, IntOrString, always, list_map

__all__ = [
    "ClientIPConfig",
    "LoadBalancerIngress",
    "LoadBalancerStatus",
    "PortStatus",
    "ServicePort",
    "ServiceSpec",
    "ServiceStatus",
    "SessionAffinityConfig",
]


class ServicePort(ApiStruct):
    """One port of a service."""

    name: Annotated[str, Meta(description="Name of the port, unique in the service.")] = ""
    protocol: Annotated[
        str,
        Meta(
            description="Protocol of the port; absent is TCP.",
            extra={
                "enum": (
                    "SCTP",
                    "TCP",
                    "UDP",
                )
            }
            | {"default": "TCP"},
        ),
    ] = ""
    port: Annotated[Int32, Meta(description="Number of the port.", extra=REQUIRED)] = always(int)
    target_port: Annotated[
        IntOrString | None, Meta(description="Number or name of the port of the pods; absent is the same number.")
    ] = None
    node_port: Annotated[Int32, Meta(description="Port on every node; absent is a free one.")] = 0
    app_protocol: Annotated[str | None, Meta(description="Protocol spoken above it.")] = None


class ClientIPConfig(ApiStruct):
    """Affinity by client address."""

    timeout_seconds: Annotated[Int32 | None, Meta(description="How long a client keeps its pod.")] = None


class SessionAffinityConfig(ApiStruct):
    """Settings of the affinity of clients to pods."""

    client_ip: Annotated[ClientIPConfig | None, Meta(description="By client address.")] = field(
        default=None, name="clientIP"
    )


class ServiceSpec(ApiStruct):
    """What is wanted of a service."""

    ports: Annotated[
        tuple[ServicePort, ...], Meta(description="Ports of the service.", extra=list_map("port", "protocol"))
    ] = ()
    selector: Annotated[
        Mapping[str, str], Meta(description="Labels of the pods behind it.", extra={"map": "atomic"})
    ] = {}
    cluster_ip: Annotated[str, Meta(description="First address inside the cluster; None is a service without one.")] = (
        field(default="", name="clusterIP")
    )
    type: Annotated[
        str,
        Meta(
            description="How far it is reachable: ClusterIP, NodePort, LoadBalancer or ExternalName.",
            extra={
                "enum": (
                    "ClusterIP",
                    "ExternalName",
                    "LoadBalancer",
                    "NodePort",
                )
            },
        ),
    ] = ""
    external_ips: Annotated[tuple[str, ...], Meta(description="Addresses of nodes that lead to it.", extra=ATOMIC)] = (
        field(default=(), name="externalIPs")
    )
    session_affinity: Annotated[
        str,
        Meta(
            description="Whether a client keeps its pod.",
            extra={
                "enum": (
                    "ClientIP",
                    "None",
                )
            },
        ),
    ] = ""
    load_balancer_ip: Annotated[str, Meta(description="Wanted address of the load balancer.")] = field(
        default="", name="loadBalancerIP"
    )
    load_balancer_source_ranges: Annotated[
        tuple[str, ...], Meta(description="Client addresses the load balancer lets in.", extra=ATOMIC)
    ] = ()
    external_name: Annotated[str, Meta(description="Name the service stands for, with type ExternalName.")] = ""
    external_traffic_policy: Annotated[
        str,
        Meta(
            description="Whether traffic from outside stays on the node it reached.",
            extra={
                "enum": (
                    "Cluster",
                    "Local",
                )
            },
        ),
    ] = ""
    health_check_node_port: Annotated[Int32, Meta(description="Port for health checks of the load balancer.")] = 0
    publish_not_ready_addresses: Annotated[bool, Meta(description="Whether pods count before they are ready.")] = False
    session_affinity_config: Annotated[
        SessionAffinityConfig | None, Meta(description="Settings of the session affinity.")
    ] = None
    ip_family_policy: Annotated[
        str | None,
        Meta(
            description="Whether it has addresses of one or both IP families.",
            extra={
                "enum": (
                    "PreferDualStack",
                    "RequireDualStack",
                    "SingleStack",
                )
            },
        ),
    ] = None
    cluster_ips: Annotated[tuple[str, ...], Meta(description="Addresses inside the cluster.", extra=ATOMIC)] = field(
        default=(), name="clusterIPs"
    )
    ip_families: Annotated[
        tuple[str, ...],
        Meta(
            description="IP families in order of preference.",
            extra=ATOMIC
            | {
                "enum": (
                    "",
                    "IPv4",
                    "IPv6",
                )
            },
        ),
    ] = ()
    allocate_load_balancer_node_ports: Annotated[
        bool | None, Meta(description="Whether a load balancer gets node ports.")
    ] = None
    load_balancer_class: Annotated[str | None, Meta(description="Implementation of the load balancer.")] = None
    internal_traffic_policy: Annotated[
        str | None,
        Meta(
            description="Whether traffic from inside stays on its node.",
            extra={
                "enum": (
                    "Cluster",
                    "Local",
                )
            },
        ),
    ] = None
    traffic_distribution: Annotated[str | None, Meta(description="Which pods are preferred.")] = None


class PortStatus(ApiStruct):
    """State of a port of the load balancer."""

    port: Annotated[Int32, Meta(description="Number of the port.", extra=REQUIRED)] = always(int)
    protocol: Annotated[
        str,
        Meta(
            description="Protocol of the port.",
            extra=REQUIRED
            | {
                "enum": (
                    "SCTP",
                    "TCP",
                    "UDP",
                )
            },
        ),
    ] = always(str)
    error: Annotated[str | None, Meta(description="What is wrong, as one word.")] = None


class LoadBalancerIngress(ApiStruct):
    """One way into the load balancer."""

    ip: Annotated[str, Meta(description="Its address.")] = ""
    hostname: Annotated[str, Meta(description="Its name.")] = ""
    ip_mode: Annotated[str | None, Meta(description="Whether traffic keeps the address as destination.")] = None
    ports: Annotated[tuple[PortStatus, ...], Meta(description="State of its ports.", extra=ATOMIC)] = ()


class LoadBalancerStatus(ApiStruct):
    """State of the load balancer."""

    ingress: Annotated[tuple[LoadBalancerIngress, ...], Meta(description="Ways in.", extra=ATOMIC)] = ()


class ServiceStatus(ApiStruct):
    """What is known about a service."""

    load_balancer: Annotated[LoadBalancerStatus, Meta(description="State of the load balancer.")] = always(
        LoadBalancerStatus
    )
    conditions: Annotated[tuple[Condition, ...], Meta(description="Aspects of its state.", extra=list_map("type"))] = ()
