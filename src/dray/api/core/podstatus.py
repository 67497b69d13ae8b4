"""What is known about a pod.

Written by tools/generate_core_types.py; change its table, not this.
"""

from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta, field

from dray.api.core.containerstatus import ContainerStatus
from dray.api.core.resources import ResourceRequirements
from dray.api.struct import ATOMIC, REQUIRED, SET, ApiStruct, Int64, always, always_null, list_map
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = [
    "ContainerExtendedResourceRequest",
    "HostIP",
    "NodeAllocatableMappedResources",
    "NodeAllocatableOverheadResources",
    "NodeAllocatableResourceClaimStatus",
    "PodCondition",
    "PodExtendedResourceClaimStatus",
    "PodIP",
    "PodResourceClaimStatus",
    "PodStatus",
    "PodVolumeHealth",
    "VolumeHealthCondition",
]


class PodCondition(ApiStruct):
    """One aspect of the state of a pod."""

    type: Annotated[str, Meta(description="Which aspect.", extra=REQUIRED)] = always(str)
    status: Annotated[str, Meta(description="True, False or Unknown.", extra=REQUIRED)] = always(str)
    last_probe_time: Annotated[Time | None, Meta(description="When this was last looked at.")] = always_null()
    last_transition_time: Annotated[Time | None, Meta(description="When the status last changed.")] = always_null()
    reason: Annotated[str, Meta(description="Why, as one word.")] = ""
    message: Annotated[str, Meta(description="Why, in a sentence.")] = ""
    observed_generation: Annotated[Int64, Meta(description="Generation of the pod this was said about.")] = 0


class PodIP(ApiStruct):
    """An address of the pod."""

    ip: Annotated[str, Meta(description="The address.", extra=REQUIRED)] = always(str)


class HostIP(ApiStruct):
    """An address of the node."""

    ip: Annotated[str, Meta(description="The address.", extra=REQUIRED)] = always(str)


class PodResourceClaimStatus(ApiStruct):
    """The claim that was made for one entry of spec.resourceClaims."""

    name: Annotated[str, Meta(description="Name of the entry.", extra=REQUIRED)] = always(str)
    resource_claim_name: Annotated[
        str | None, Meta(description="ResourceClaim made for the pod; absent if none was needed.")
    ] = None


class ContainerExtendedResourceRequest(ApiStruct):
    """Which request of the special claim stands for an extended resource of a container."""

    container_name: Annotated[str, Meta(description="Container that asked.", extra=REQUIRED)] = always(str)
    resource_name: Annotated[str, Meta(description="Extended resource it asked for.", extra=REQUIRED)] = always(str)
    request_name: Annotated[str, Meta(description="Request in the claim.", extra=REQUIRED)] = always(str)


class PodExtendedResourceClaimStatus(ApiStruct):
    """The claim the scheduler made for extended resources that devices back."""

    request_mappings: Annotated[
        tuple[ContainerExtendedResourceRequest, ...],
        Meta(description="What each request of the claim stands for.", extra=REQUIRED | ATOMIC),
    ] = always(lambda: ())
    resource_claim_name: Annotated[str, Meta(description="The claim.", extra=REQUIRED)] = always(str)


class NodeAllocatableMappedResources(ApiStruct):
    """An amount of a node resource that devices of the claim stand for."""

    name: Annotated[str, Meta(description="The resource, such as memory.", extra=REQUIRED)] = always(str)
    quantity: Annotated[Quantity | None, Meta(description="The amount.", extra=REQUIRED)] = None


class NodeAllocatableOverheadResources(ApiStruct):
    """An amount of a node resource that using the claim costs."""

    name: Annotated[str, Meta(description="The resource, such as memory.", extra=REQUIRED)] = always(str)
    per_pod: Annotated[Quantity | None, Meta(description="Amount for every pod.")] = None
    per_container: Annotated[Quantity | None, Meta(description="Amount for every container.")] = None


class NodeAllocatableResourceClaimStatus(ApiStruct):
    """What a claim takes from the node's own resources."""

    resource_claim_name: Annotated[str, Meta(description="The claim.", extra=REQUIRED)] = always(str)
    containers: Annotated[tuple[str, ...], Meta(description="Containers that use the claim.", extra=SET)] = ()
    mapping: Annotated[
        tuple[NodeAllocatableMappedResources, ...],
        Meta(description="What its devices stand for.", extra=list_map("name")),
    ] = ()
    overhead: Annotated[
        tuple[NodeAllocatableOverheadResources, ...], Meta(description="What using it costs.", extra=list_map("name"))
    ] = ()


class VolumeHealthCondition(ApiStruct):
    """A fault of a volume."""

    status: Annotated[
        str,
        Meta(
            description="How bad it is.",
            extra=REQUIRED
            | {
                "enum": (
                    "DataLoss",
                    "Degraded",
                    "Inaccessible",
                )
            },
        ),
    ] = always(str)
    reason: Annotated[str, Meta(description="Why, as one word.", extra=REQUIRED)] = always(str)
    message: Annotated[str, Meta(description="Why, in a sentence.")] = ""


class PodVolumeHealth(ApiStruct):
    """Faults of one volume of the pod."""

    name: Annotated[str, Meta(description="Name of the volume.", extra=REQUIRED)] = always(str)
    health_conditions: Annotated[
        tuple[VolumeHealthCondition, ...], Meta(description="The faults.", extra=list_map("status", "reason"))
    ] = ()
    last_transition_time: Annotated[Time | None, Meta(description="When this last changed.")] = always_null()


class PodStatus(ApiStruct):
    """What is known about a pod. Scheduler, controllers and the node agent write it, each its own fields."""

    phase: Annotated[
        str,
        Meta(
            description="Where the pod is in its life: Pending, Running, Succeeded, Failed or Unknown.",
            extra={
                "enum": (
                    "Failed",
                    "Pending",
                    "Running",
                    "Succeeded",
                    "Unknown",
                )
            },
        ),
    ] = ""
    conditions: Annotated[
        tuple[PodCondition, ...], Meta(description="Aspects of its state.", extra=list_map("type"))
    ] = ()
    message: Annotated[str, Meta(description="Why it is in this phase, in a sentence.")] = ""
    reason: Annotated[str, Meta(description="Why it is in this phase, as one word.")] = ""
    host_ip: Annotated[str, Meta(description="Address of the node.")] = field(default="", name="hostIP")
    pod_ip: Annotated[str, Meta(description="First address of the pod.")] = field(default="", name="podIP")
    start_time: Annotated[Time | None, Meta(description="When the node agent took it over.")] = None
    container_statuses: Annotated[
        tuple[ContainerStatus, ...], Meta(description="What is known about the containers.", extra=ATOMIC)
    ] = ()
    qos_class: Annotated[
        str,
        Meta(
            description="Quality of service, from requests and limits.",
            extra={
                "enum": (
                    "BestEffort",
                    "Burstable",
                    "Guaranteed",
                )
            },
        ),
    ] = ""
    init_container_statuses: Annotated[
        tuple[ContainerStatus, ...], Meta(description="What is known about the init containers.", extra=ATOMIC)
    ] = ()
    nominated_node_name: Annotated[str, Meta(description="Node that is being cleared for the pod.")] = ""
    pod_ips: Annotated[tuple[PodIP, ...], Meta(description="Addresses of the pod.", extra=list_map("ip"))] = field(
        default=(), name="podIPs"
    )
    ephemeral_container_statuses: Annotated[
        tuple[ContainerStatus, ...], Meta(description="What is known about the ephemeral containers.", extra=ATOMIC)
    ] = ()
    resize: Annotated[str, Meta(description="State of a resize; replaced by conditions.")] = ""
    resource_claim_statuses: Annotated[
        tuple[PodResourceClaimStatus, ...],
        Meta(description="Claims made from templates for the pod.", extra=list_map("name", patch="merge,retainKeys")),
    ] = ()
    host_ips: Annotated[
        tuple[HostIP, ...],
        Meta(description="Addresses of the node.", extra=ATOMIC | {"patch": "merge", "merge_key": "ip"}),
    ] = field(default=(), name="hostIPs")
    observed_generation: Annotated[Int64, Meta(description="Generation of the pod this status was made from.")] = 0
    extended_resource_claim_status: Annotated[
        PodExtendedResourceClaimStatus | None, Meta(description="The claim made for extended resources.")
    ] = None
    allocated_resources: Annotated[
        Mapping[str, Quantity], Meta(description="Amounts the node has set aside for the pod.")
    ] = {}
    resources: Annotated[ResourceRequirements | None, Meta(description="Amounts the pod really runs with.")] = None
    node_allocatable_resource_claim_statuses: Annotated[
        tuple[NodeAllocatableResourceClaimStatus, ...],
        Meta(description="What claims take from the node's own resources.", extra=list_map("resourceClaimName")),
    ] = ()
    volume_health: Annotated[
        tuple[PodVolumeHealth, ...], Meta(description="Faults of volumes.", extra=list_map("name", patch=""))
    ] = ()
