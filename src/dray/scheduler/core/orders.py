"""What the scheduler wants done. Each order is carried out once, beside others; how it ended comes back as news."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from dray.api.core.pod import Pod
from dray.api.core.podstatus import ContainerExtendedResourceRequest, NodeAllocatableResourceClaimStatus
from dray.api.resource.allocation import AllocationResult, ResourceClaimConsumerReference
from dray.api.resource.claim import ResourceClaim
from dray.api.scheduling.podgroup import PodGroup

__all__ = [
    "AbandonBinding",
    "Bind",
    "ClaimWrite",
    "Deallocate",
    "DeleteClaim",
    "Evict",
    "FinishBinding",
    "GroupReport",
    "Order",
    "Report",
    "Tell",
    "Unreserve",
]


class ClaimWrite(NamedTuple):
    """Reserve a claim for a consumer; with an `allocation`, give it devices first."""

    claim: ResourceClaim
    allocation: AllocationResult | None
    consumer: ResourceClaimConsumerReference


class Bind(NamedTuple):
    """Write what was decided for a pod: its claims in order, what its status tells of them, then the binding.

    `mappings` go with the claim for extended resources. If it `waits` for devices, the binding is left for
    `FinishBinding`, after `ClaimsReserved` came back.
    """

    pod: Pod
    node_name: str
    writes: tuple[ClaimWrite, ...] = ()
    mappings: tuple[ContainerExtendedResourceRequest, ...] = ()
    charges: tuple[NodeAllocatableResourceClaimStatus, ...] = ()
    waits: bool = False


class FinishBinding(NamedTuple):
    """Devices are ready: make the binding that an order left. `claims` are cleaned up if that fails."""

    bind: Bind
    claims: tuple[ResourceClaim, ...]


class AbandonBinding(NamedTuple):
    """Waiting was in vain: take back what an order did, and report the failure."""

    bind: Bind
    claims: tuple[ResourceClaim, ...]
    message: str


class Deallocate(NamedTuple):
    """Take the devices from a claim that nobody uses and that keeps a pod from where it could run."""

    claim: ResourceClaim


class Unreserve(NamedTuple):
    """Take the reservation of a group from one of its claims."""

    claim: ResourceClaim
    consumer: ResourceClaimConsumerReference


class DeleteClaim(NamedTuple):
    """Delete a claim that an earlier attempt made for extended resources."""

    claim: ResourceClaim


class Evict(NamedTuple):
    """Delete pods of less priority so that a pod gets their room."""

    pod: Pod
    node_name: str
    victims: tuple[Pod, ...]


class Report(NamedTuple):
    """Say why a pod is not on a node: in its condition, and in an event with `note`.

    `nominated` is the node that is being cleared for the pod, empty if none is; None leaves it as it is.
    """

    pod: Pod
    reason: str
    message: str
    note: str
    nominated: str | None = None


class GroupReport(NamedTuple):
    """Say in a group's condition whether enough of its pods found nodes."""

    group: PodGroup
    status: str
    reason: str
    message: str


class Tell(NamedTuple):
    """Say something else about a pod, in an event."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str


Order: TypeAlias = (
    Bind | FinishBinding | AbandonBinding | Deallocate | Unreserve | DeleteClaim | Evict | Report | GroupReport | Tell
)
