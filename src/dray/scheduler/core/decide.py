"""Where one pod goes, or why it goes nowhere: filters, devices, scores, in Kubernetes' order. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from msgspec.structs import replace

from dray.allocator.policy import Policy, parse_policy
from dray.allocator.results import ShareIds
from dray.api.core.pod import Pod
from dray.api.core.podstatus import NodeAllocatableResourceClaimStatus
from dray.scheduler.core.devices import (
    PLUGIN,
    Allocation,
    DeviceFailure,
    DeviceRejection,
    DeviceVerdict,
    DeviceWish,
    DeviceWorld,
    allocate_devices,
    examine_devices,
    normalize,
    plan_wish,
)
from dray.scheduler.core.nodeallocatable import ChargedNodes, charge_nodes
from dray.scheduler.core.placement import Examined, Placement
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.verdicts import Code, Refusal
from dray.values.times import MicroTime

__all__ = [
    "ALLOCATION_POLICY",
    "Attempt",
    "Chosen",
    "Decision",
    "Erred",
    "Refused",
    "decide_pod",
    "on_node",
    "read_policy",
]

ALLOCATION_POLICY = "dray.dev/allocation-policy"
"""Annotation of a pod, or of one of its claims, that says how to choose among devices that would all do."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What a decision goes by: the profile, everything known, the time, and what makes names for shares of devices."""

    profile: Profile
    placement: Placement
    world: DeviceWorld
    now: MicroTime
    share_ids: ShareIds
    siblings: frozenset[str] = frozenset()
    """Pods of the same group that are placed in the same decision."""
    nodes: int | None = None
    """The nodes to choose from, if not all: then the others do not count as refused either."""

    def seen(self, nodes: int) -> int:
        """Those of some nodes that are there to choose from."""
        return nodes if self.nodes is None else nodes & self.nodes


_ROOM: Final = "NodeResourcesFit"


class Chosen(NamedTuple):
    """The pod goes to a node, with these devices. `charges` are what its claims take of the node's own resources."""

    number: int
    wish: DeviceWish
    allocation: Allocation
    charges: tuple[NodeAllocatableResourceClaimStatus, ...]
    feasible: int


class Refused(NamedTuple):
    """No node takes the pod. With `rejection` none was looked at; otherwise `refusals` has a reason for each."""

    nodes: int
    plugins: frozenset[str]
    refusals: tuple[Refusal, ...]
    rejection: tuple[str, ...]
    examined: Examined
    wish: DeviceWish | None = None
    verdict: DeviceVerdict | None = None


class Erred(NamedTuple):
    """The attempt failed. `message` is Kubernetes' text."""

    message: str


Decision: TypeAlias = Chosen | Refused | Erred


def decide_pod(pod: Pod, attempt: Attempt) -> Decision:
    """Decide on one pod."""
    uses_devices = attempt.profile.has(PLUGIN)
    wish = plan_wish(pod, attempt.world, attempt.siblings) if uses_devices else _no_wish(pod)
    mapped = frozenset(wish.served) if isinstance(wish, DeviceWish) else frozenset[str]()
    examined = attempt.placement.examine(pod, mapped)
    count = attempt.seen(examined.nodes).bit_count()
    if examined.rejected is not None:
        rejected = examined.rejected
        return Refused(count, frozenset({rejected.plugin}), (), rejected.reasons, examined)
    if isinstance(wish, DeviceFailure):
        return Erred(f'running PreFilter plugin "{PLUGIN}": {wish.message}')
    if isinstance(wish, DeviceRejection):
        return Refused(count, frozenset({PLUGIN}), (), (wish.reason,), examined)
    candidates = attempt.seen(examined.fitting)
    verdict = DeviceVerdict(candidates)
    if not wish.is_empty and candidates:
        judged = examine_devices(wish, attempt.world, candidates, attempt.now, attempt.profile.binding_timeout_seconds)
        if isinstance(judged, DeviceFailure):
            return Erred(f'running "{PLUGIN}" filter plugin: {judged.message}')
        verdict = judged
    if not verdict.fitting:
        return _refuse(attempt, examined, wish, verdict)
    return _choose(attempt, examined, wish, verdict)


def _no_wish(pod: Pod) -> DeviceWish:
    return DeviceWish(pod, (), (), (), {}, None)


def _refuse(attempt: Attempt, examined: Examined, wish: DeviceWish, verdict: DeviceVerdict) -> Refused:
    refusals = (*examined.refusals, *verdict.refusals)
    # A change for the better may as well come on nodes that are not looked at.
    plugins = frozenset(refusal.plugin for refusal in refusals)
    if any(each.plugin == PLUGIN and each.code is Code.UNSCHEDULABLE for each in refusals):
        plugins |= {_ROOM}  # devices were found, but not what they take of the node: others that go may help
    if attempt.nodes is not None:
        seen = (each._replace(nodes=attempt.seen(each.nodes)) for each in refusals)
        refusals = tuple(each for each in seen if each.nodes)
    return Refused(attempt.seen(examined.nodes).bit_count(), plugins, refusals, (), examined, wish, verdict)


def _choose(attempt: Attempt, examined: Examined, wish: DeviceWish, verdict: DeviceVerdict) -> Decision:
    policy = read_policy(wish, attempt.profile)
    if isinstance(policy, Erred):
        return policy
    charged = ChargedNodes(verdict.fitting)
    if not wish.is_empty and attempt.world.has_charges:
        found = charge_nodes(wish, attempt.world, verdict.fitting, policy, attempt.share_ids)
        if isinstance(found, DeviceFailure):
            return Erred(f'running "{PLUGIN}" filter plugin: {found.message}')
        charged = found
        verdict = verdict._replace(fitting=found.fitting, refusals=(*verdict.refusals, *found.refusals))
        if not verdict.fitting:
            return _refuse(attempt, examined, wish, verdict)
    number = _best(attempt, examined, wish, verdict)
    allocation = charged.allocations.get(number) or allocate_devices(
        wish, attempt.world, number, policy, attempt.share_ids
    )
    if isinstance(allocation, DeviceFailure):
        return Erred(f'running "{PLUGIN}" filter plugin: {allocation.message}')
    if allocation is None:
        return Erred(f'running Reserve plugin "{PLUGIN}": claim allocation not found for node')
    return Chosen(number, wish, allocation, charged.charges.get(number, ()), verdict.fitting)


def _best(attempt: Attempt, examined: Examined, wish: DeviceWish, verdict: DeviceVerdict) -> int:
    nominated = examined.pod.status.nominated_node_name
    if nominated:
        number = attempt.world.snapshot.find_number(nominated)
        if number is not None and verdict.fitting >> number & 1:
            return number
    weight = attempt.profile.weight(PLUGIN)
    points = normalize(verdict, wish, weight) if verdict.points and weight else ()
    return attempt.placement.best(examined, verdict.fitting, points)


def read_policy(wish: DeviceWish, profile: Profile) -> Policy | Erred:
    """How to choose devices: as the pod says, else as the first of its claims that says so, else as the profile."""
    for meta in (wish.pod.metadata, *(claim.metadata for claim in wish.open)):
        text = meta.annotations.get(ALLOCATION_POLICY)
        if text is not None:
            try:
                return parse_policy(text)
            except ValueError as error:
                return Erred(f"annotation {ALLOCATION_POLICY}: {error}")
    return profile.allocation_policy


def on_node(pod: Pod, node_name: str, charges: tuple[NodeAllocatableResourceClaimStatus, ...] = ()) -> Pod:
    """The pod as it will be on a node."""
    placed = replace(pod, spec=replace(pod.spec, node_name=node_name))
    if charges:
        placed = replace(placed, status=replace(placed.status, node_allocatable_resource_claim_statuses=charges))
    return placed
