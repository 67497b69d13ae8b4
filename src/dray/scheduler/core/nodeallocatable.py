"""What devices take of a node's own resources: cpu or memory that a device stands for, and what using it costs.

Only clusters with such devices pay for this: there, nodes are tried one by one, since what a pod takes depends on the
devices it would get.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from msgspec.structs import replace

from dray.allocator.bits import bits
from dray.allocator.ids import DeviceId, claim_ref
from dray.allocator.policy import Policy
from dray.allocator.results import ShareIds
from dray.api.core.pod import Pod
from dray.api.core.podresources import add_amounts, sum_container_limits, sum_container_requests
from dray.api.core.podstatus import (
    NodeAllocatableMappedResources,
    NodeAllocatableOverheadResources,
    NodeAllocatableResourceClaimStatus,
)
from dray.api.resource.allocation import AllocationResult, DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device, NodeAllocatableMapping
from dray.scheduler.core.devices import PLUGIN, Allocation, DeviceFailure, DeviceWish, DeviceWorld, allocate_devices
from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, footprint_of
from dray.scheduler.core.verdicts import Code, Refusal
from dray.values.quantity import ZERO, Quantity

__all__ = ["ChargedNodes", "charge_claims", "charge_nodes"]

_MOST_NODES: Final = 100
"""Fitting nodes after which no more are tried: as many as Kubernetes finds at least before it looks at scores."""
_HUGEPAGES: Final = "hugepages-"
_UNIT: Final = 10**9
"""Billionths in one, the exact form of quantities."""

Charges = tuple[NodeAllocatableResourceClaimStatus, ...]


@dataclass(slots=True)
class ChargedNodes:
    """Nodes on which the pod still fits, with the devices it would get there and what these take of the node."""

    fitting: int
    refusals: list[Refusal] = field(default_factory=list)
    allocations: dict[int, Allocation] = field(default_factory=dict)
    charges: dict[int, Charges] = field(default_factory=dict)


class _Misfit(Exception):
    """Why a node does not do."""

    def __init__(self, reasons: Iterable[str], code: Code) -> None:
        super().__init__()
        self.reasons = tuple(reasons)
        self.code = code


class _Fault(Exception):
    """What makes no sense."""


def charge_nodes(
    wish: DeviceWish, world: DeviceWorld, candidates: int, policy: Policy, share_ids: ShareIds
) -> ChargedNodes | DeviceFailure:
    """Of the candidates, those that have what the devices take besides. Not more than are needed to choose from."""
    found = ChargedNodes(0)
    for number in bits(candidates):
        allocation = allocate_devices(wish, world, number, policy, share_ids)
        if isinstance(allocation, DeviceFailure):
            return allocation
        if allocation is None:
            found.refusals.append(Refusal(PLUGIN, "cannot allocate all claims", Code.UNRESOLVABLE, 1 << number))
            continue
        try:
            charges = charge_claims(wish, allocation, _devices_seen(world, number))
            _check_sharing(wish, world, charges)
            if charges:
                _check(wish.pod, charges, world.snapshot.node(number))
        except _Misfit as misfit:
            found.refusals += [Refusal(PLUGIN, reason, misfit.code, 1 << number) for reason in misfit.reasons]
            continue
        except _Fault as fault:
            return DeviceFailure(str(fault))
        found.fitting |= 1 << number
        found.allocations[number] = allocation
        found.charges[number] = charges
        if len(found.allocations) >= _MOST_NODES:
            break
    return found


def _devices_seen(world: DeviceWorld, number: int) -> dict[DeviceId, Device]:
    view = world.cluster.view_number(number)
    return {view.device_id(place): device for place, device in enumerate(view.devices)}


def charge_claims(wish: DeviceWish, allocation: Allocation, devices: Mapping[DeviceId, Device]) -> Charges:
    """What the claims take, by name of the claim. Claims whose devices take nothing are left out.

    Raises what says why the pod cannot be where these devices are.
    """
    entries = {each.claim.metadata.uid: each.entry for each in wish.claims}
    statuses = [
        _charge(claim, result, devices, _users(wish.pod, entries.get(claim.metadata.uid)))
        for claim, result in (*wish.settled, *allocation.results)
    ]
    charged = [status for status in statuses if status is not None]
    return tuple(sorted(charged, key=lambda status: status.resource_claim_name))


def _check_sharing(wish: DeviceWish, world: DeviceWorld, charges: Charges) -> None:
    """What stands for a resource of the node is for one pod alone, whether others use it or are about to."""
    mapped = {status.resource_claim_name for status in charges if status.mapping}
    for claim, _ in wish.settled:
        promise = world.claims.find_promise(claim)
        users = {each.uid for each in claim.status.reserved_for} | (promise.users if promise is not None else set())
        if claim.metadata.name in mapped and users - {wish.pod.metadata.uid}:
            text = "has a mapped device and cannot be shared across pods"
            reason = f"node allocatable resource claim {claim.metadata.name} {text}"
            raise _Misfit([reason], Code.UNRESOLVABLE)


def _users(pod: Pod, entry: str | None) -> tuple[str, ...]:
    """The containers that name an entry of the pod's claims."""
    containers = (*pod.spec.init_containers, *pod.spec.containers)
    return tuple(each.name for each in containers if any(claim.name == entry for claim in each.resources.claims))


def _charge(
    claim: ResourceClaim, allocation: AllocationResult, devices: Mapping[DeviceId, Device], users: tuple[str, ...]
) -> NodeAllocatableResourceClaimStatus | None:
    mapped: dict[str, Quantity] = {}
    per_pod: dict[str, Quantity] = {}
    per_container: dict[str, Quantity] = {}
    for result in allocation.devices.results:
        device = devices.get(DeviceId(result.driver, result.pool, result.device))
        for name, each in (device.node_allocatable_resources if device is not None else {}).items():
            if each.mapping is not None:
                amount = _mapped_amount(claim, result, name, each.mapping)
                mapped[name] = mapped.get(name, ZERO) + amount
            if each.overhead is not None:
                per_pod[name] = per_pod.get(name, ZERO) + (each.overhead.per_pod or ZERO)
                per_container[name] = per_container.get(name, ZERO) + (each.overhead.per_container or ZERO)
    if not mapped and not per_pod:
        return None
    return NodeAllocatableResourceClaimStatus(
        resource_claim_name=claim.metadata.name,
        containers=users,
        mapping=tuple(
            NodeAllocatableMappedResources(name=name, quantity=amount) for name, amount in sorted(mapped.items())
        ),
        overhead=tuple(
            NodeAllocatableOverheadResources(name=name, per_pod=_some(amount), per_container=_some(per_container[name]))
            for name, amount in sorted(per_pod.items())
        ),
    )


def _some(amount: Quantity) -> Quantity | None:
    return None if amount.is_zero else amount


def _mapped_amount(
    claim: ResourceClaim, result: DeviceRequestAllocationResult, resource: str, mapping: NodeAllocatableMapping
) -> Quantity:
    if not mapping.capacity_key:
        return mapping.device_multiplier or ZERO
    if not result.consumed_capacity:
        text = f"ConsumedCapacity is nil, but Capacity key '{mapping.capacity_key}' is set"
        where = f"claim {claim_ref(claim)}, device {result.device}"
        raise _Fault(f"{where}: {text} in NodeAllocatableResources for resource {resource}")
    consumed = result.consumed_capacity.get(mapping.capacity_key, ZERO)
    if mapping.capacity_multiplier is None:
        return consumed
    return Quantity(consumed.nanos * mapping.capacity_multiplier.nanos // _UNIT, consumed.family)


# Whether there is room


def _check(pod: Pod, charges: Charges, node: NodeInfo) -> None:
    charged = replace(pod, status=replace(pod.status, node_allocatable_resource_claim_statuses=charges))
    _check_pod_level(pod, charges)
    wanted = footprint_of(charged).requests
    short = [name for name in sorted(wanted) if _is_own(name) and wanted[name] > _free(node, name)]
    if short:
        is_hopeless = any(wanted[name] > node.allocatable.get(name, 0) for name in short)
        code = Code.UNRESOLVABLE if is_hopeless else Code.UNSCHEDULABLE
        raise _Misfit([f"Insufficient {name}" for name in short], code)


def _is_own(resource: str) -> bool:
    return resource in (CPU, MEMORY, EPHEMERAL_STORAGE) or resource.startswith(_HUGEPAGES)


def _free(node: NodeInfo, resource: str) -> int:
    return node.allocatable.get(resource, 0) - node.requested.get(resource, 0)


def _check_pod_level(pod: Pod, charges: Charges) -> None:
    """Amounts given for the pod as a whole must cover what its containers and claims take together."""
    whole = pod.spec.resources
    if whole is None:
        return
    taken = dict(_amounts(charges))
    aggregate = add_amounts(sum_container_requests(pod.spec), taken)
    for name, amount in sorted(whole.requests.items()):
        if name in taken and amount < aggregate.get(name, ZERO):
            text = "is insufficient to cover the aggregated container and node-allocatable DRA requests"
            raise _Misfit([f"pod level request for {name} {text}"], Code.UNRESOLVABLE)
    limits = add_amounts(sum_container_limits(pod.spec), taken)
    for name, amount in sorted(whole.limits.items()):
        if name in taken and name.startswith(_HUGEPAGES) and amount < limits.get(name, ZERO):
            text = "is insufficient to cover the aggregated container and node-allocatable DRA limits"
            raise _Misfit([f"pod level limit for {name} {text}"], Code.UNRESOLVABLE)
    for container in (*pod.spec.init_containers, *pod.spec.containers):
        own = add_amounts(container.resources.limits, dict(_amounts(charges, container.name)))
        for name, amount in sorted(whole.limits.items()):
            if name in taken and own.get(name, ZERO) > amount:
                text = f"is insufficient to cover the limit and DRA overhead for container {container.name}"
                raise _Misfit([f"pod level limit for {name} {text}"], Code.UNRESOLVABLE)


def _amounts(charges: Charges, container: str | None = None) -> Iterator[tuple[str, Quantity]]:
    """What claims take by resource: all of it, or what falls on one container."""
    total: dict[str, Quantity] = {}
    for status in charges:
        if container is not None and container not in status.containers:
            continue
        for mapped in status.mapping:
            total[mapped.name] = total.get(mapped.name, ZERO) + (mapped.quantity or ZERO)
        for cost in status.overhead:
            for _ in status.containers if container is None else (container,):
                total[cost.name] = total.get(cost.name, ZERO) + (cost.per_container or ZERO)
            total[cost.name] = total.get(cost.name, ZERO) + (cost.per_pod or ZERO)
    yield from total.items()
