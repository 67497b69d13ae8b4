"""Random histories of a cluster in which scheduler and controllers end at any write, and start again knowing nothing.

Pods, claims, slices and taint rules come and go. When everybody is at rest, what is stored is consistent, nothing is
reserved for pods that are gone, and no pod waits that a plain search finds a place for.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dray.allocator.taintrules import apply_taint_rules
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.registry import AnyKind
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.podclaims import FINALIZER, find_choice, is_terminal
from dray.audit.world import World
from dray.client.port import ObjectName, Patch, PatchType, Unreachable
from dray.scheduler.loop import SchedulerOptions
from tests.cases.scheduling.terse import KINDS, NAMESPACE_NAME, store
from tests.properties.oracle import Ending, answer_plainly
from tests.unit.controllers.cluster import Call
from tests.unit.scheduler.rig import Rig, rigged

Json = dict[str, Any]

NODES = ("a", "b")
TAKES = ("pod p0", "pod p1", "pod p2", "pod p3", "claim shared", "rule broken", "devices a", "devices b")
SHORT = 12

START: Sequence[Json] = (
    {"node": "a"},
    {"node": "b"},
    {"class": "gpu", "extended": "x.io/gpu"},
    {"template": "one", "ask": "gpu"},
    {"template": "two", "ask": "2 gpu"},
    {"devices": ["gpu-0", "gpu-1"], "at": "a"},
)

PODS = st.fixed_dictionaries(
    {"pod": st.sampled_from(["p0", "p1", "p2", "p3"])},
    optional={
        "uses": st.sampled_from(
            [
                {"gpu": "template one"},
                {"gpu": "template two"},
                {"gpu": "claim shared"},
                {"gpu": "claim shared", "more": "template one"},
                {"gpu": "template one", "more": "template one"},
            ]
        ),
        "cpu": st.sampled_from([1, 6]),
        "resources": st.just({"x.io/gpu": 1}),
    },
)
THINGS = st.one_of(
    PODS,
    st.just({"claim": "shared", "ask": "gpu"}),
    st.sampled_from([1, 3]).flatmap(
        lambda count: st.sampled_from(NODES).map(
            lambda node: {"devices": [f"gpu-{number}" for number in range(count)], "at": node}
        )
    ),
    st.just({"rule": "broken", "device": "gpu-0", "effect": "NoSchedule"}),
)
ACTIONS = st.one_of(
    THINGS.map(lambda thing: ("put", thing)),
    st.sampled_from(TAKES).map(lambda text: ("delete", text)),
    st.sampled_from(["p0", "p1", "p2", "p3"]).map(lambda name: ("finish", name)),
    st.integers(0, 6).map(lambda write: ("crash", write)),
    st.integers(0, 4).map(lambda write: ("lose", write)),
    st.sampled_from([1, 20]).map(lambda seconds: ("wait", seconds)),
)
HISTORIES = st.lists(ACTIONS, max_size=14)


class Crashed(asyncio.CancelledError):
    """The process ended here."""


class Fate:
    """Ends scheduler and controllers at one of their writes, or loses the answer to one."""

    def __init__(self) -> None:
        self.crash_in: int | None = None
        self.lose_in: int | None = None
        self.has_crashed = False

    def __call__(self, call: Call) -> None:
        if self.has_crashed:
            raise Crashed
        if call.verb in ("get", "list", "watch"):
            return
        if self.crash_in is not None:
            self.crash_in -= 1
            if self.crash_in < 0:
                self.crash_in, self.has_crashed = None, True
                raise Crashed
        if self.lose_in is not None:
            self.lose_in -= 1
            if self.lose_in < 0:
                self.lose_in = None
                raise Unreachable("the connection broke off")


async def act(rig: Rig, fate: Fate, action: tuple[str, Any]) -> None:
    match action:
        case ("put", thing):
            await put(rig, thing)
        case ("delete", text):
            await delete(rig, text)
        case ("finish", name):
            await finish(rig, name)
        case ("crash", write):
            fate.crash_in = write
            return
        case ("lose", write):
            fate.lose_in = write
            return
        case ("wait", seconds):
            await rig.pass_time(seconds)
    await rest(rig, fate)


async def rest(rig: Rig, fate: Fate) -> None:
    """Let everybody work; who ends on the way starts again."""
    while True:
        try:
            await rig.settle()
        except asyncio.CancelledError:
            if not fate.has_crashed:
                raise
        if not fate.has_crashed:
            return
        await rig.stop()
        fate.has_crashed = False
        rig.start()


async def find(rig: Rig, kind: AnyKind, name: str) -> Any:
    things: Sequence[Any] = (await rig.client.list(kind)).items
    return next((thing for thing in things if thing.metadata.name == name), None)


async def put(rig: Rig, thing: Json) -> None:
    sort = next(name for name in ("pod", "claim", "rule", "devices") if name in thing)
    if sort != "devices" and await find(rig, KINDS[sort], thing[sort]) is not None:
        return
    if sort == "devices" and await find(rig, RESOURCE_SLICE, f"{thing['at']}-gpu.x.io") is not None:
        await delete(rig, f"devices {thing['at']}")
    await store(rig.client, thing)


async def delete(rig: Rig, text: str) -> None:
    sort, _, name = text.partition(" ")
    kind = KINDS[sort]
    name = f"{name}-gpu.x.io" if sort == "devices" else name
    if await find(rig, kind, name) is not None:
        await rig.client.delete(kind, ObjectName(name, NAMESPACE_NAME if kind.is_namespaced else ""))
        # The node lets go of pods that are asked to leave; there is none here.
        left = await find(rig, kind, name)
        if isinstance(left, Pod):
            await finish(rig, name)


async def finish(rig: Rig, name: str) -> None:
    if await find(rig, POD, name) is not None:
        patch = Patch(PatchType.MERGE, b'{"status": {"phase": "Succeeded"}}')
        await rig.client.patch(POD, ObjectName(name, NAMESPACE_NAME), patch, subresource="status")


# What holds when everybody is at rest


async def check(rig: Rig) -> None:
    claims: Sequence[ResourceClaim] = (await rig.client.list(RESOURCE_CLAIM)).items
    pods: Sequence[Pod] = (await rig.client.list(POD)).items
    slices = (await rig.client.list(RESOURCE_SLICE)).items
    withdrawn = {"StatusOfUnknownDevice", "NodeSelectorWrong"}
    faults = [each for each in await rig.audit() if each.code.value not in withdrawn]
    assert faults == []
    live = {pod.metadata.uid for pod in pods if not is_terminal(pod)}
    for claim in claims:
        assert {each.uid for each in claim.status.reserved_for} <= live, claim
        assert claim.status.allocation is not None or FINALIZER not in claim.metadata.finalizers, claim
    for pod in pods:
        if pod.spec.node_name and not is_terminal(pod):
            own = [claim for claim in claims if claim.metadata.name in names_of(pod)]
            assert all(any(each.uid == pod.metadata.uid for each in claim.status.reserved_for) for claim in own), pod
    assert len(slices) <= len(NODES)
    for pod in pods:
        if not pod.spec.node_name and not is_terminal(pod) and pod.metadata.deletion_timestamp is None:
            assert not await find_place(rig, pod, claims), pod


def names_of(pod: Pod) -> set[str]:
    choices = [find_choice(pod, entry) for entry in pod.spec.resource_claims]
    return {choice.name for choice in choices if choice is not None}


async def find_place(rig: Rig, pod: Pod, claims: Sequence[ResourceClaim]) -> str:
    """A node on which a plain search finds everything that the pod needs; empty if there is none."""
    wanted = names_of(pod)
    own = [claim for claim in claims if claim.metadata.name in wanted]
    extended = pod.spec.containers[0].resources.requests.get("x.io/gpu")
    if len(own) < len(pod.spec.resource_claims) or any(claim.metadata.deletion_timestamp for claim in own):
        return ""
    if extended is not None:
        return ""  # the claim is the scheduler's to make; the tables look after these
    rules = (await rig.client.list(DEVICE_TAINT_RULE)).items
    slices = [apply_taint_rules(each, rules) for each in (await rig.client.list(RESOURCE_SLICE)).items]
    classes = (await rig.client.list(DEVICE_CLASS)).items
    for node in (await rig.client.list(NODE)).items:
        if not await has_room(rig, pod, node) or not all(reaches(claim, node) for claim in own):
            continue
        open_ = [claim for claim in own if claim.status.allocation is None]
        held = [claim for claim in claims if claim.status.allocation is not None]
        world = World(node, classes, slices, held, open_, lambda expression, driver, device: driver == "gpu.x.io")
        if answer_plainly(world).ending is Ending.ALLOCATED:
            return node.metadata.name
    return ""


def reaches(claim: ResourceClaim, node: Node) -> bool:
    allocation = claim.status.allocation
    if allocation is None or allocation.node_selector is None:
        return True
    (term,) = allocation.node_selector.node_selector_terms
    return term.match_fields[0].values == (node.metadata.name,)


async def has_room(rig: Rig, pod: Pod, node: Node) -> bool:
    def cpus(each: Pod) -> int:
        requests = each.spec.containers[0].resources.requests
        return requests["cpu"].value() if "cpu" in requests else 0

    placed = [
        each
        for each in (await rig.client.list(POD)).items
        if each.spec.node_name == node.metadata.name and not is_terminal(each)
    ]
    return sum(map(cpus, placed)) + cpus(pod) <= node.status.allocatable["cpu"].value()


async def live_through(history: Sequence[tuple[str, Any]]) -> None:
    async with rigged(SchedulerOptions()) as rig:
        fate = Fate()
        for thing in START:
            await store(rig.client, thing)
        rig.cluster.before_call = fate
        await rig.settle()
        for action in history:
            await act(rig, fate, action)
        fate.crash_in = fate.lose_in = None
        for _ in range(3):
            await rig.pass_time(20)
            await rest(rig, fate)
        await check(rig)


@settings(max_examples=SHORT, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES)
def test_whatever_happens_ends_well(history: list[tuple[str, Any]]) -> None:
    asyncio.run(live_through(history))


@pytest.mark.soak
@settings(max_examples=10_000, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(HISTORIES)
def test_whatever_happens_ends_well_in_ten_thousand_histories(history: list[tuple[str, Any]]) -> None:
    asyncio.run(live_through(history))
