"""What a pod wants of devices, and which nodes can give it: Kubernetes' DynamicResources plugin, for all nodes at once.

Three steps: `plan_wish` finds the claims and what is still to be allocated, or why the pod must wait whatever the node;
`examine_devices` judges nodes; `allocate_devices` takes devices on the one that was chosen. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.feasibility import feasible_nodes
from dray.allocator.ids import claim_ref
from dray.allocator.nodematch import NodeSelectorError, selects
from dray.allocator.outcome import Allocated, BudgetExhausted, Failed, Feasible, Unschedulable, UnschedulableReason
from dray.allocator.policy import Policy
from dray.allocator.results import ShareIds
from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.core.pod import Pod
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.scheduler.core.bindingconditions import ReadyState, judge_readiness
from dray.scheduler.core.claimbook import ClaimBook
from dray.scheduler.core.extended import ClassNames, DeviceServed, plan_claim, served_resources
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.podclaims import PodClaim, Unresolved, resolve_claims
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.verdicts import Code, Refusal
from dray.values.times import MicroTime

__all__ = [
    "NOT_AVAILABLE",
    "PLUGIN",
    "Allocation",
    "DeviceFailure",
    "DeviceRejection",
    "DeviceVerdict",
    "DeviceWish",
    "DeviceWorld",
    "allocate_devices",
    "examine_devices",
    "normalize",
    "plan_wish",
    "variants",
]

PLUGIN: Final = "DynamicResources"
NOT_AVAILABLE: Final = "resourceclaim not available on the node"
_LEFT_OVER: Final = "cannot schedule extended resource claim"
_OPTIONAL_OPERATIONS: Final = "DRAOptionalNodeOperations"
_MOST_POINTS: Final = 100
_ALTERNATIVES: Final = 8


@dataclass(frozen=True, slots=True)
class DeviceWorld:
    """What there is to know: nodes, devices and what is taken of them, claims, classes by resource."""

    snapshot: Snapshot
    cluster: Cluster
    claims: ClaimBook
    class_names: ClassNames
    indexes: Indexes
    charging_slices: set[str]
    """Slices with devices that take something of a node's own resources."""

    @property
    def has_charges(self) -> bool:
        """Whether there are such devices at all."""
        return bool(self.charging_slices)


class DeviceRejection(NamedTuple):
    """The pod must wait, whatever the node."""

    reason: str


class DeviceFailure(NamedTuple):
    """The attempt makes no sense: what is wrong, in Kubernetes' words."""

    message: str


@dataclass(frozen=True, slots=True)
class DeviceWish:
    """What one pod needs of devices at one moment.

    `settled` are claims with devices, written or promised to others of its group; `open` those that need some. `served`
    are the extended resources that a class serves, and `leftover` is the claim an earlier attempt made for them.
    """

    pod: Pod
    claims: tuple[PodClaim, ...]
    settled: tuple[tuple[ResourceClaim, AllocationResult], ...]
    open: tuple[ResourceClaim, ...]
    served: Mapping[str, str]
    leftover: ResourceClaim | None

    @property
    def is_empty(self) -> bool:
        """Whether the pod has nothing to do with devices."""
        return not (self.settled or self.open or self.served or self.leftover)


class DeviceVerdict(NamedTuple):
    """Which of the candidates can serve a wish. `points` are raw; `unavailable` counts in `settled`."""

    fitting: int
    refusals: tuple[Refusal, ...] = ()
    points: tuple[tuple[int, int], ...] = ()
    unavailable: frozenset[int] = frozenset()


def plan_wish(pod: Pod, world: DeviceWorld, siblings: frozenset[str]) -> DeviceWish | DeviceRejection | DeviceFailure:
    """Find out what a pod needs. `siblings` are the pods of its group that are being placed together with it."""
    claims = resolve_claims(pod, world.claims) if pod.spec.resource_claims else ()
    if isinstance(claims, Unresolved):
        return DeviceRejection(claims.message)
    settled: list[tuple[ResourceClaim, AllocationResult]] = []
    open_: dict[str, ResourceClaim] = {}
    for each in claims:
        claim = each.claim
        allocation = claim.status.allocation
        promise = None if allocation is not None else world.claims.find_promise(claim)
        if promise is not None:
            if not promise.users <= siblings:
                return DeviceRejection(f"resource claim {claim_ref(claim)} is in the process of being allocated")
            allocation = promise.allocation
        if allocation is not None:
            settled.append((claim, allocation))
            continue
        fault = _check_classes(claim, world.cluster)
        if fault is not None:
            return fault
        open_[claim.metadata.uid] = claim
    served = served_resources(pod, world.class_names)
    leftover = world.claims.find_made_for(pod.metadata.uid) if served else None
    return DeviceWish(pod, claims, tuple(settled), tuple(open_.values()), served, leftover)


def _check_classes(claim: ResourceClaim, cluster: Cluster) -> DeviceRejection | DeviceFailure | None:
    for request in claim.spec.devices.requests or ():
        if request.exactly is not None:
            wishes = [(request.name, request.exactly.device_class_name)]
        else:
            wishes = [(f"{request.name}/{each.name}", each.device_class_name) for each in request.first_available]
        if not wishes:
            return DeviceRejection(f"resource claim {claim_ref(claim)}, request {request.name}: unknown request type")
        for name, device_class in wishes:
            if not device_class:
                return DeviceFailure(f"request {name}: unsupported request type")
            if cluster.find_class(device_class) is None:
                return DeviceRejection(f"request {name}: device class {device_class} does not exist")
    return None


# Judging nodes


def examine_devices(
    wish: DeviceWish, world: DeviceWorld, candidates: int, now: MicroTime, binding_timeout: float
) -> DeviceVerdict | DeviceFailure:
    """Judge the candidates, a set of node numbers. One node where the input makes no sense fails the attempt."""
    if wish.leftover is not None:
        return DeviceVerdict(0, (_refuse(_LEFT_OVER, candidates),))
    usable, unavailable = candidates, set[int]()
    for index, (claim, allocation) in enumerate(wish.settled):
        try:
            reach = _reach(claim, allocation, world.snapshot, now, binding_timeout)
        except NodeSelectorError as error:
            return DeviceFailure(f"parse node selector of claim {claim_ref(claim)}: {error}")
        if candidates & ~reach:
            unavailable.add(index)
            usable &= reach
    found = _Found()
    for variant, nodes in variants(wish, world.indexes, candidates):
        claims = wish.open if variant is None else (*wish.open, variant.claim)
        if not claims:
            found.fitting |= nodes
            continue
        failure = found.add(claims, world.cluster, nodes)
        if failure is not None:
            return failure
    refusals = [_refuse(reason, nodes) for reason, nodes in found.refused.items()]
    beyond = found.fitting & ~usable
    if beyond:
        refusals.append(_refuse(NOT_AVAILABLE, beyond))
    points = found.points if _has_alternatives(wish) else []
    return DeviceVerdict(found.fitting & usable, tuple(refusals), tuple(points), frozenset(unavailable))


def _refuse(reason: str, nodes: int) -> Refusal:
    return Refusal(PLUGIN, reason, Code.UNRESOLVABLE, nodes)


class _Found:
    """What the allocator says, gathered over variants of a wish."""

    def __init__(self) -> None:
        self.fitting = 0
        self.refused: dict[str, int] = {}
        self.points: list[tuple[int, int]] = []
        self._spent = 0

    def add(self, claims: Sequence[ResourceClaim], cluster: Cluster, candidates: int) -> DeviceFailure | None:
        for group in feasible_nodes(claims, cluster).groups:
            nodes = group.nodes & candidates
            if not nodes:
                continue
            match group.verdict:
                case Feasible() as verdict:
                    self.fitting |= nodes
                    self.points.append((verdict.preference, nodes))
                case Unschedulable(reason):
                    self.refused[reason] = self.refused.get(reason, 0) | nodes
                case Failed(_, message):
                    return DeviceFailure(message)
                case BudgetExhausted():
                    self._spent |= nodes
        if self._spent and not self.fitting:
            node = cluster.names[(self._spent & -self._spent).bit_length() - 1]
            return DeviceFailure(f"node {node}: timed out trying to allocate devices")
        if self._spent:
            given_up = UnschedulableReason.NO_SOLUTION
            self.refused[given_up] = self.refused.get(given_up, 0) | self._spent
        return None


def variants(wish: DeviceWish, indexes: Indexes, candidates: int) -> Iterator[tuple[DeviceServed | None, int]]:
    """The claim for extended resources by nodes: a node that has some of a resource itself needs no devices for it."""
    if not wish.served:
        yield None, candidates
        return
    parts: dict[frozenset[str], int] = {frozenset(wish.served): candidates}
    for resource in wish.served:
        own = indexes.offers.listing(resource)
        for served, nodes in list(parts.items()):
            if nodes & own:
                rest = served - {resource}
                parts[served] = nodes & ~own
                parts[rest] = parts.get(rest, 0) | nodes & own
    for served, nodes in parts.items():
        if nodes:
            chosen = {name: wish.served[name] for name in served}
            yield (plan_claim(wish.pod, chosen) if chosen else None), nodes


def _reach(
    claim: ResourceClaim, allocation: AllocationResult, snapshot: Snapshot, now: MicroTime, binding_timeout: float
) -> int:
    """The nodes on which an allocation can be used."""
    if claim.status.allocation is not None:
        state = judge_readiness(claim, now, binding_timeout).state
        if state in (ReadyState.FAILED, ReadyState.TIMED_OUT):
            return 0
    nodes = snapshot.present if allocation.node_selector is None else _selected(allocation.node_selector, snapshot)
    if any(result.skip_node_operations for result in allocation.devices.results):
        for node in snapshot.nodes():
            if _OPTIONAL_OPERATIONS not in node.node.status.declared_features:
                nodes &= ~(1 << node.number)
    return nodes


def _selected(selector: NodeSelector, snapshot: Snapshot) -> int:
    match selector.node_selector_terms:
        case (NodeSelectorTerm(match_expressions=(), match_fields=(NodeSelectorRequirement(operator="In") as only,)),):
            numbers = [snapshot.find_number(name) for name in only.values]
            return sum(1 << number for number in numbers if number is not None)
        case _:
            return sum(1 << node.number for node in snapshot.nodes() if selects(selector, node.node))


# Points


def _has_alternatives(wish: DeviceWish) -> bool:
    claims = (*wish.open, *(claim for claim, _ in wish.settled))
    return any(request.first_available for claim in claims for request in claim.spec.devices.requests or ())


def normalize(verdict: DeviceVerdict, wish: DeviceWish, weight: int) -> tuple[tuple[int, int], ...]:
    """Points out of a hundred of the best, times the weight. Claims that have devices count the same on all nodes."""
    base = sum(_preference(claim, allocation) for claim, allocation in wish.settled)
    groups = [(points + base, nodes & verdict.fitting) for points, nodes in verdict.points if nodes & verdict.fitting]
    best = max((points for points, _ in groups), default=0)
    return tuple((points * _MOST_POINTS // best * weight, nodes) for points, nodes in groups) if best else ()


def _preference(claim: ResourceClaim, allocation: AllocationResult) -> int:
    """What the alternatives that were allocated are worth: 8 for each first one, 1 for each eighth."""
    chosen = {result.request for result in allocation.devices.results}
    total = 0
    for request in claim.spec.devices.requests or ():
        for index, each in enumerate(request.first_available):
            if f"{request.name}/{each.name}" in chosen:
                total += _ALTERNATIVES - index
                break
    return total


# Taking devices


class Allocation(NamedTuple):
    """Devices on one node: for the open claims of a wish in order, then for its extended resources if any."""

    results: tuple[tuple[ResourceClaim, AllocationResult], ...]
    served: DeviceServed | None = None
    steps: int = 0
    """Choices that the search looked at."""


def allocate_devices(
    wish: DeviceWish, world: DeviceWorld, number: int, policy: Policy, share_ids: ShareIds
) -> Allocation | DeviceFailure | None:
    """Choose devices on a node that was found to fit. None if there are none after all."""
    served, _ = next(variants(wish, world.indexes, 1 << number))
    claims = wish.open if served is None else (*wish.open, served.claim)
    if not claims:
        return Allocation(())
    node = world.cluster.names[number]
    outcome = allocate(claims, world.cluster, node, share_ids=share_ids, policy=policy)
    match outcome:
        case Allocated(allocations, steps):
            return Allocation(tuple(zip(claims, allocations, strict=True)), served, steps)
        case Failed(_, message):
            return DeviceFailure(message)
        case BudgetExhausted():
            return DeviceFailure(f"node {node}: timed out trying to allocate devices")
    return None
