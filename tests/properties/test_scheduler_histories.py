"""Random histories of a cluster in which scheduler and controllers end at any write, and start again knowing nothing.

Pods, gangs, claims, nodes, slices and taint rules come and go. When everybody is at rest, what is stored is consistent,
nothing is reserved for pods that are gone, nobody has two claims for one thing, and no pod or gang waits that a plain
search finds a place for.
"""

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from itertools import combinations, product
from typing import NamedTuple

import pytest
from hypothesis import given, seed, settings
from msgspec.structs import replace

from dray.allocator.taintrules import apply_taint_rules
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.resource.allocation import ResourceClaimStatus
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.podclaims import FINALIZER, POD_CLAIM_ANNOTATION, find_choice, find_controller, is_terminal
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
from dray.api.resource.slice import ResourceSlice
from dray.api.scheduling.kinds import POD_GROUP
from dray.audit.world import World
from dray.scheduler.loop import SchedulerOptions
from tests.cases.scheduling.terse import store
from tests.properties.expressions import is_true
from tests.properties.histories import CONTROLLERS, HISTORIES, START, Action, Fate, act, end_well, find
from tests.properties.oracle import Ending, Quirks, answer_plainly
from tests.unit.scheduler.quietloop import run_quietly
from tests.unit.scheduler.rig import SCHEDULER, Rig, rigged

SHORT = 12
GANG = 2
BATCHES = 100
"""Parts of the long round, which workers share: each begins with a chance of its own."""
EXTENDED = "x.io/gpu"
PROCESSES = (SCHEDULER, "controllers")
WITHDRAWN = {"StatusOfUnknownDevice", "NodeSelectorWrong"}
"""Faults that come of devices and nodes that were taken away from under pods."""


class Scene(NamedTuple):
    """All that is stored when everybody is at rest."""

    pods: Sequence[Pod]
    claims: Sequence[ResourceClaim]
    nodes: Sequence[Node]
    slices: Sequence[ResourceSlice]
    classes: Sequence[DeviceClass]

    def claims_of(self, pod: Pod) -> list[ResourceClaim]:
        """The claims that a pod names."""
        choices = [find_choice(pod, entry) for entry in pod.spec.resource_claims]
        names = {choice.name for choice in choices if choice is not None}
        return [claim for claim in self.claims if claim.metadata.name in names]

    def waiting(self) -> list[Pod]:
        """Pods that could be on a node and are on none."""
        return [pod for pod in self.pods if not pod.spec.node_name and not is_terminal(pod) and self.is_complete(pod)]

    def is_complete(self, pod: Pod) -> bool:
        """Whether the pod has all of its claims."""
        own = self.claims_of(pod)
        return len(own) == len(pod.spec.resource_claims) and not any(each.metadata.deletion_timestamp for each in own)


async def see(rig: Rig) -> Scene:
    rules = (await rig.client.list(DEVICE_TAINT_RULE)).items
    return Scene(
        (await rig.client.list(POD)).items,
        (await rig.client.list(RESOURCE_CLAIM)).items,
        (await rig.client.list(NODE)).items,
        [apply_taint_rules(each, rules) for each in (await rig.client.list(RESOURCE_SLICE)).items],
        (await rig.client.list(DEVICE_CLASS)).items,
    )


async def check(rig: Rig) -> None:
    scene = await see(rig)
    assert [each for each in await rig.audit() if each.code.value not in WITHDRAWN] == []
    live = {pod.metadata.uid for pod in scene.pods if not is_terminal(pod)}
    live |= {group.metadata.uid for group in (await rig.client.list(POD_GROUP)).items}
    for claim in scene.claims:
        assert {each.uid for each in claim.status.reserved_for} <= live, tell(claim)
        assert claim.status.allocation is not None or FINALIZER not in claim.metadata.finalizers, tell(claim)
    made = Counter(filter(None, map(purpose_of, scene.claims)))
    assert [purpose for purpose, count in made.items() if count > 1] == []
    for pod in scene.pods:
        if pod.spec.node_name and not is_terminal(pod):
            for claim in scene.claims_of(pod):
                assert is_reserved(claim, pod) or is_left_out(claim, pod), tell(pod, claim)
    for pod in scene.waiting():
        if pod.spec.scheduling_group is None and not is_given_up(scene, pod):
            assert not fits(scene, [pod]), tell(pod)
            assert not any(fits(after, [pod]) for after in evictions(scene, pod)), tell(pod)
    await check_gang(rig, scene)


def purpose_of(claim: ResourceClaim) -> tuple[str, str] | None:
    """For whom a claim was made, and for what; None if it was not made by the cluster, or goes."""
    owner = find_controller(claim.metadata)
    if owner is None or claim.metadata.deletion_timestamp is not None:
        return None
    return owner.uid, claim.metadata.annotations.get(POD_CLAIM_ANNOTATION, EXTENDED)


def is_reserved(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether a claim is reserved for a pod or for the gang."""
    return any(each.uid == pod.metadata.uid or each.resource == "podgroups" for each in claim.status.reserved_for)


def is_left_out(claim: ResourceClaim, pod: Pod) -> bool:
    """Whether the pod was placed by somebody else than the scheduler, who gave it no claim that could be reserved."""
    is_placed_by_hand = not any(each.type == "PodScheduled" for each in pod.status.conditions)
    return is_placed_by_hand and (claim.status.allocation is None or claim.metadata.deletion_timestamp is not None)


def tell(*things: ApiObject) -> str:
    """What something is about, shortly."""
    return "; ".join(f"{type(thing).__name__} {thing.metadata.name}: {thing.status}" for thing in things)  # type: ignore[attr-defined]


async def check_gang(rig: Rig, scene: Scene) -> None:
    """As many of a gang as are needed do not wait if there is a place for them."""
    members = [pod for pod in scene.pods if pod.spec.scheduling_group is not None and not is_terminal(pod)]
    waiting = [pod for pod in scene.waiting() if pod.spec.scheduling_group is not None]
    placed = sum(1 for pod in members if pod.spec.node_name)
    group = await find(rig, POD_GROUP, "g")
    if group is None or group.metadata.deletion_timestamp is not None:
        return
    if placed + len(waiting) < max(GANG, len(members)):
        return
    if any(each.spec.shared_counters for each in scene.slices):
        return  # as in Kubernetes one member chooses after the other, and what one takes may be too much
    if any(is_given_up(scene, pod) for pod in waiting):
        return
    for several in combinations(waiting, max(GANG - placed, 1)):
        assert not fits(scene, several), [pod.metadata.name for pod in several]


# A plain search


def fits(scene: Scene, pods: Sequence[Pod]) -> bool:
    """Whether there are nodes on which a plain search finds everything that these pods need together."""
    return any(serve_together(scene, pods, places) for places in product(open_nodes(scene), repeat=len(pods)))


def is_given_up(scene: Scene, pod: Pod) -> bool:
    """Whether the search fails in itself on some node: as in Kubernetes the pod is then not placed on others either."""
    return any(search(scene, node, [pod]) is Ending.ERROR for node in open_nodes(scene))


def evictions(scene: Scene, pod: Pod) -> Iterator[Scene]:
    """What would be left on each node, looked at alone, if all pods there went that are less important."""
    for node in open_nodes(scene):
        here = [each for each in scene.pods if each.spec.node_name == node.metadata.name and not is_terminal(each)]
        victims = {each.metadata.uid for each in here if (each.spec.priority or 0) < (pod.spec.priority or 0)}
        if victims:
            claims = [without_consumers(claim, victims) for claim in scene.claims]
            pods = [each for each in scene.pods if each.metadata.uid not in victims]
            yield scene._replace(nodes=[node], pods=pods, claims=claims)


def without_consumers(claim: ResourceClaim, uids: Set[str]) -> ResourceClaim:
    """The claim once pods are gone; it holds nothing if nobody else uses it."""
    left = tuple(each for each in claim.status.reserved_for if each.uid not in uids)
    if len(left) == len(claim.status.reserved_for):
        return claim
    return replace(claim, status=replace(claim.status, reserved_for=left) if left else ResourceClaimStatus())


def open_nodes(scene: Scene) -> list[Node]:
    """Nodes that take any pod."""
    return [node for node in scene.nodes if not node.spec.unschedulable and not node.spec.taints]


def serve_together(scene: Scene, pods: Sequence[Pod], places: Sequence[Node]) -> bool:
    """Whether each pod may go to its place, and they may share what they share."""
    names = {
        node.metadata.name: [pod for pod, place in zip(pods, places, strict=True) if place is node] for node in places
    }
    for one, other in combinations(names.values(), 2):
        for claim in scene.claims_of(one[0]):
            # Every device is of one node.
            if claim.status.allocation is None and any(claim in scene.claims_of(pod) for pod in other):
                return False
    return all(serves(scene, node, names[node.metadata.name]) for node in places)


def serves(scene: Scene, node: Node, pods: Sequence[Pod]) -> bool:
    """Whether the node has room and devices for pods."""
    return search(scene, node, pods) is Ending.ALLOCATED


def search(scene: Scene, node: Node, pods: Sequence[Pod]) -> Ending:
    """How a plain search on a node ends."""
    if not has_room(scene, node, pods):
        return Ending.UNSCHEDULABLE
    own = {claim.metadata.uid: claim for pod in pods for claim in (*scene.claims_of(pod), *extended_claims(pod))}
    if not all(reaches(claim, node) for claim in own.values()):
        return Ending.UNSCHEDULABLE
    open_ = [claim for claim in own.values() if claim.status.allocation is None]
    held = [claim for claim in scene.claims if claim.status.allocation is not None]
    world = World(node, scene.classes, scene.slices, held, open_, is_true)
    return answer_plainly(world, Quirks(admin_takes=False)).ending if open_ else Ending.ALLOCATED


def extended_claims(pod: Pod) -> list[ResourceClaim]:
    """The claim that the scheduler would make for the pod."""
    wanted = pod.spec.containers[0].resources.requests.get(EXTENDED)
    if wanted is None:
        return []
    exactly = ExactDeviceRequest(device_class_name="gpu", allocation_mode="ExactCount", count=wanted.value())
    spec = ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="r", exactly=exactly),)))
    meta = ObjectMeta(name=f"{pod.metadata.name}-extended", namespace="ml", uid=f"{pod.metadata.uid}-extended")
    return [ResourceClaim(metadata=meta, spec=spec)]


def reaches(claim: ResourceClaim, node: Node) -> bool:
    allocation = claim.status.allocation
    if allocation is None or allocation.node_selector is None:
        return True
    (term,) = allocation.node_selector.node_selector_terms
    return term.match_fields[0].values == (node.metadata.name,)


def has_room(scene: Scene, node: Node, pods: Sequence[Pod]) -> bool:
    def cpus(each: Pod) -> int:
        requests = each.spec.containers[0].resources.requests
        return requests["cpu"].value() if "cpu" in requests else 0

    placed = [each for each in scene.pods if each.spec.node_name == node.metadata.name and not is_terminal(each)]
    return sum(map(cpus, (*placed, *pods))) <= node.status.allocatable["cpu"].value()


# Histories


async def live_through(history: Sequence[Action], processes: Sequence[str] = PROCESSES) -> None:
    options = SchedulerOptions(self_check=True)
    async with rigged(options, controllers=CONTROLLERS, processes=processes) as rig:
        fate = Fate(rig)
        for thing in START:
            await store(rig.client, thing)
        rig.cluster.before_call, rig.cluster.after_call = fate.begin, fate.end
        await rig.settle()
        for action in history:
            await act(rig, fate, action)
        await end_well(rig, fate)
        await check(rig)


@settings(max_examples=SHORT)
@given(HISTORIES)
def test_whatever_happens_ends_well(history: list[Action]) -> None:
    run_quietly(live_through(history))


@settings(max_examples=SHORT)
@given(HISTORIES)
def test_whatever_happens_ends_well_with_two_sets_of_controllers(history: list[Action]) -> None:
    run_quietly(live_through(history, (*PROCESSES, "more controllers")))


@pytest.mark.soak
@pytest.mark.parametrize("batch", range(BATCHES))
def test_whatever_happens_ends_well_in_ten_thousand_histories(batch: int) -> None:
    @seed(batch)
    @settings(max_examples=10_000 // BATCHES, database=None, derandomize=False)
    @given(HISTORIES)
    def play(history: list[Action]) -> None:
        run_quietly(live_through(history, (*PROCESSES, "more controllers") if batch % 4 == 0 else PROCESSES))

    play()
