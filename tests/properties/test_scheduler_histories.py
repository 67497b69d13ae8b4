"""Random histories of a cluster in which scheduler and controllers end at any write, and start again knowing nothing.

Pods, gangs, claims, nodes, slices and taint rules come and go. When everybody is at rest, what is stored is consistent,
nothing is reserved for pods that are gone, and no pod or gang waits that a plain search finds a place for.
"""

import asyncio
from collections.abc import Sequence
from itertools import combinations, product
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings

from dray.allocator.taintrules import apply_taint_rules
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.podclaims import FINALIZER, find_choice, is_terminal
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
from dray.api.resource.slice import ResourceSlice
from dray.api.scheduling.kinds import POD_GROUP
from dray.audit.world import World
from dray.scheduler.loop import SchedulerOptions
from tests.cases.scheduling.terse import store
from tests.properties.histories import CONTROLLERS, HISTORIES, START, Action, Fate, act, find, rest
from tests.properties.oracle import Ending, answer_plainly
from tests.unit.scheduler.rig import Rig, rigged

SHORT = 12
GANG = 2
EXTENDED = "x.io/gpu"
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
    for claim in scene.claims:
        assert {each.uid for each in claim.status.reserved_for} <= live, claim
        assert claim.status.allocation is not None or FINALIZER not in claim.metadata.finalizers, claim
    for pod in scene.pods:
        if pod.spec.node_name and not is_terminal(pod):
            for claim in scene.claims_of(pod):
                assert any(each.uid == pod.metadata.uid for each in claim.status.reserved_for), (pod, claim)
    for pod in scene.waiting():
        if pod.spec.scheduling_group is None:
            assert not fits(scene, [pod]), pod
    await check_gang(rig, scene)


async def check_gang(rig: Rig, scene: Scene) -> None:
    """As many of a gang as are needed do not wait if there is a place for them."""
    members = [pod for pod in scene.pods if pod.spec.scheduling_group is not None and not is_terminal(pod)]
    waiting = [pod for pod in scene.waiting() if pod.spec.scheduling_group is not None]
    placed = sum(1 for pod in members if pod.spec.node_name)
    if await find(rig, POD_GROUP, "g") is None or placed + len(waiting) < max(GANG, len(members)):
        return
    for several in combinations(waiting, max(GANG - placed, 1)):
        assert not fits(scene, several), [pod.metadata.name for pod in several]


# A plain search


def fits(scene: Scene, pods: Sequence[Pod]) -> bool:
    """Whether there are nodes on which a plain search finds everything that these pods need together."""
    open_to_all = [node for node in scene.nodes if not node.spec.unschedulable and not node.spec.taints]
    return any(
        all(
            serves(scene, node, [pod for pod, place in zip(pods, places, strict=True) if place is node])
            for node in places
        )
        for places in product(open_to_all, repeat=len(pods))
    )


def serves(scene: Scene, node: Node, pods: Sequence[Pod]) -> bool:
    """Whether the node has room and devices for pods."""
    if not has_room(scene, node, pods):
        return False
    own = {claim.metadata.uid: claim for pod in pods for claim in (*scene.claims_of(pod), *extended_claims(pod))}
    if not all(reaches(claim, node) for claim in own.values()):
        return False
    open_ = [claim for claim in own.values() if claim.status.allocation is None]
    held = [claim for claim in scene.claims if claim.status.allocation is not None]
    world = World(node, scene.classes, scene.slices, held, open_, lambda expression, driver, device: True)
    return not open_ or answer_plainly(world).ending is Ending.ALLOCATED


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


async def live_through(history: Sequence[Action]) -> None:
    async with rigged(SchedulerOptions(self_check=True), controllers=CONTROLLERS) as rig:
        fate = Fate()
        for thing in START:
            await store(rig.client, thing)
        rig.cluster.before_call, rig.cluster.after_call = fate.begin, fate.end
        await rig.settle()
        for action in history:
            await act(rig, fate, action)
        fate.due.clear()
        # Until nobody backs off any more, what nodes left behind is collected, and what crashes left is swept up.
        for seconds in (20, 20, 20, 70, 70):
            await rig.pass_time(seconds)
            await rest(rig, fate)
        await check(rig)


@settings(max_examples=SHORT, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES)
def test_whatever_happens_ends_well(history: list[Action]) -> None:
    asyncio.run(live_through(history))


@pytest.mark.soak
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES)
def test_whatever_happens_ends_well_in_ten_thousand_histories(history: list[Action]) -> None:
    asyncio.run(live_through(history))
