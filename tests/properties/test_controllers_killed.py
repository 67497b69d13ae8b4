"""Controllers may be killed between any two writes: those that come after them bring the cluster to the same end.

Random histories of pods, groups, claims and taints are played twice: undisturbed, and with controllers that die before
some of their writes, or with two sets of them at once. What is there once nobody has anything to do is the same.
"""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.meta import DeleteOptions
from dray.api.registry import AnyKind
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimConsumerReference,
)
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.podclaims import FINALIZER, POD_CLAIM_ANNOTATION, find_choice, find_controller, is_finished
from dray.api.scheduling.kinds import POD_GROUP
from dray.client.port import Client, ObjectName
from dray.errors import NotFound
from tests.cases.controllers.showing import show_claims, show_groups, show_names, show_pods
from tests.cases.controllers.world import put
from tests.unit.controllers.cluster import Cluster, Meddled
from tests.unit.controllers.crew import Crew

CONTROLLERS = (
    "resourceclaim-controller",
    "podgroup-protection-controller",
    "garbage-collector-controller",
    "device-taint-eviction-controller",
)
WRITES = {"create", "update", "patch", "delete"}
PODS = ("p", "q")


class Killed(BaseException):
    """The end of a process."""


class Doomed(Meddled):
    """A client whose process dies before some of its writes, by their number."""

    def __init__(self, cluster: Cluster, deaths: set[int]) -> None:
        super().__init__(cluster)
        self._deaths = deaths
        self.written = 0

    def _begin(self, verb: str, kind: AnyKind, name: str = "", options: object = None) -> Client:
        if verb in WRITES:
            self.written += 1
            if self.written in self._deaths:
                self._deaths.discard(self.written)
                raise Killed
        return super()._begin(verb, kind, name, options)


class Step(NamedTuple):
    """Something that users, schedulers or nodes do."""

    act: str
    name: str = ""
    other: str = ""


OFTEN = ("place", "run", "end", "delete", "vanish")
ACTS = st.one_of(
    st.builds(Step, st.just("pod"), st.sampled_from(PODS), st.sampled_from(["own", "shared", "group", "both"])),
    st.builds(Step, st.sampled_from(OFTEN), st.sampled_from(PODS)),
    st.builds(Step, st.sampled_from([*OFTEN, "unclaim", "taint", "untaint"]), st.sampled_from(PODS)),
    st.builds(Step, st.sampled_from(["template", "group", "delete group", "shared", "delete shared"])),
)
USES: dict[str, dict[str, str]] = {
    "own": {"gpu": "template gpus"},
    "shared": {"gpu": "claim shared"},
    "group": {"gpu": "template grouped"},
    "both": {"a": "template gpus", "b": "claim shared"},
}


class History:
    """One play of a history, with the controllers that are alive."""

    def __init__(self, cluster: Cluster, deaths: Sequence[int], crews: int) -> None:
        self._cluster = cluster
        self._client = Doomed(cluster, set(deaths))
        self._crews = [Crew(cluster, CONTROLLERS, self._client) for _ in range(crews)]

    async def settle(self) -> None:
        """Let everybody work; whoever died is replaced."""
        await self._settle_once()
        while any(crew.task.done() for crew in self._crews):
            for number, crew in enumerate(self._crews):
                if crew.task.done():
                    await asyncio.gather(crew.task, return_exceptions=True)
                    self._crews[number] = Crew(self._cluster, CONTROLLERS, self._client)
            await self._settle_once()
        for _ in range(3):
            await self._pass_time(1.0)

    async def _settle_once(self) -> None:
        # What one does is news to the others.
        for crew in (*self._crews, *self._crews[:-1]):
            await crew.settle()

    async def _pass_time(self, seconds: float) -> None:
        await self._cluster.clock.advance(seconds)
        await self._settle_once()

    async def wait(self, seconds: float) -> None:
        """Let so much time pass, for what is looked at from time to time."""
        for _ in range(4):
            await self._pass_time(seconds / 4)
        await self.settle()

    async def stop(self) -> None:
        for crew in self._crews:
            await crew.stop()

    async def play(self, step: Step) -> None:
        cluster = self._cluster
        match step.act:
            case "pod" if cluster.find(POD, step.name) is None:
                group = {"group": "g"} if step.other == "group" else {}
                put(cluster, {"pod": step.name, "uses": USES[step.other], "uid": "", **group})
            case "template":
                put(cluster, {"template": "gpus"})
                put(cluster, {"template": "grouped"})
            case "group" if cluster.find(POD_GROUP, "g") is None:
                put(cluster, {"group": "g", "uses": USES["group"], "protected": True, "uid": ""})
            case "shared" if cluster.find(RESOURCE_CLAIM, "shared") is None:
                put(cluster, {"claim": "shared", "uid": ""})
            case "delete group":
                await self._delete(POD_GROUP, "g")
            case "delete shared":
                await self._delete(RESOURCE_CLAIM, "shared")
            case "taint":
                put(cluster, {"rule": step.name, "device": f"device-of-{step.name}", "effect": "NoExecute"})
            case "untaint":
                put(cluster, {"rule": step.name, "device": "none", "effect": "NoExecute"})
            case _:
                pod = cluster.find(POD, step.name)
                if pod is not None:
                    await self._play_pod(step.act, pod)
        await self.settle()

    async def _play_pod(self, act: str, pod: Pod) -> None:
        match act:
            case "place" if pod.metadata.deletion_timestamp is None and not is_finished(pod):
                if self._allocate(pod):
                    self._cluster.put(POD, replace(pod, spec=replace(pod.spec, node_name="n")))
            case "run" | "end" if pod.spec.node_name:
                phase = "Running" if act == "run" and not is_finished(pod) else "Succeeded"
                self._cluster.put(POD, replace(pod, status=replace(pod.status, phase=phase)))
            case "delete":
                await self._delete(POD, pod.metadata.name)
            case "vanish":
                await self._delete(POD, pod.metadata.name, grace_seconds=0)
            case "unclaim":
                for status in pod.status.resource_claim_statuses:
                    await self._delete(RESOURCE_CLAIM, status.resource_claim_name or "")

    async def _delete(self, kind: AnyKind, name: str, grace_seconds: int | None = None) -> None:
        options = DeleteOptions(grace_period_seconds=grace_seconds)
        try:
            await self._cluster.client.delete(kind, ObjectName(name, "ml"), options)
        except NotFound:
            return

    def _allocate(self, pod: Pod) -> bool:
        """Do what a scheduler does for a pod; whether all of its claims could be had."""
        choices = [find_choice(pod, entry) for entry in pod.spec.resource_claims]
        found = [self._cluster.find(RESOURCE_CLAIM, choice.name) if choice is not None else None for choice in choices]
        claims = [claim for claim in found if claim is not None and claim.metadata.deletion_timestamp is None]
        if len(claims) < len(choices):
            return False
        for claim in claims:
            self._cluster.put(RESOURCE_CLAIM, _reserve(claim, pod))
        return True


def _reserve(claim: ResourceClaim, pod: Pod) -> ResourceClaim:
    """The claim as a scheduler leaves it: protected, with devices, reserved for the pod or its group."""
    owner = find_controller(claim.metadata)
    if owner is not None and owner.kind == "PodGroup":
        consumer = ResourceClaimConsumerReference(
            api_group=POD_GROUP.group, resource="podgroups", name=owner.name, uid=owner.uid
        )
    else:
        consumer = ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
    result = DeviceRequestAllocationResult(
        request="r", driver="gpu.x.io", pool="n", device=f"device-of-{pod.metadata.name}"
    )
    status, meta = claim.status, claim.metadata
    return replace(
        claim,
        metadata=replace(meta, finalizers=tuple({*meta.finalizers, FINALIZER})),
        status=replace(
            status,
            allocation=status.allocation or AllocationResult(devices=DeviceAllocationResult(results=(result,))),
            reserved_for=tuple({each.uid: each for each in (*status.reserved_for, consumer)}.values()),
        ),
    )


class End(NamedTuple):
    """What is there in the end."""

    claims: dict[str, str]
    names: dict[str, dict[str, str | None]]
    pods: dict[str, str]
    groups: list[str]


def describe(cluster: Cluster) -> End:
    """What is there. Names that chance has made up are shown as owner and entry; those of claims that are gone, not."""
    claims = show_claims(cluster)
    names: dict[str, dict[str, str | None]] = {
        thing: {entry: name if name in claims else "gone" for entry, name in entries.items()}
        for thing, entries in show_names(cluster).items()
    }
    return End(claims, names, show_pods(cluster), show_groups(cluster))


async def play(steps: Sequence[Step], deaths: Sequence[int], crews: int) -> End:
    cluster = Cluster()
    async with cluster.serving():
        history = History(cluster, deaths, crews)
        try:
            for step in steps:
                await history.play(step)
            await history.settle()
            await history.wait(200.0)
            check(cluster)
            return describe(cluster)
        finally:
            await history.stop()


def check(cluster: Cluster) -> None:
    """What must hold whenever nobody has anything to do."""
    claims = [cluster.find(RESOURCE_CLAIM, name) for name in cluster.names(RESOURCE_CLAIM)]
    pods = {pod.metadata.uid: pod for name in cluster.names(POD) if (pod := cluster.find(POD, name)) is not None}
    made: Counter[tuple[str, str]] = Counter()
    for claim in claims:
        assert claim is not None
        for each in claim.status.reserved_for:
            assert each.resource != "pods" or (each.uid in pods and not is_finished(pods[each.uid]))
        if claim.status.allocation is None:
            assert claim.status.reserved_for == ()
            assert FINALIZER not in claim.metadata.finalizers
        owner = find_controller(claim.metadata)
        if owner is not None:
            assert owner.kind != "Pod" or owner.uid in pods
            if claim.metadata.deletion_timestamp is None:
                made[owner.uid, claim.metadata.annotations[POD_CLAIM_ANNOTATION]] += 1
    assert [key for key, count in made.items() if count > 1] == []


HISTORIES = st.lists(ACTS, min_size=3, max_size=12)
DEATHS = st.lists(st.integers(1, 12), min_size=1, max_size=4, unique=True)


def compare(steps: Sequence[Step], deaths: Sequence[int], crews: int = 1) -> None:
    # Something to begin with, so that most histories have claims in use.
    begun = [
        Step("template"),
        Step("shared"),
        Step("group"),
        Step("pod", "p", "both"),
        Step("pod", "q", "group"),
        *steps,
    ]
    assert asyncio.run(play(begun, deaths, crews)) == asyncio.run(play(begun, (), 1))


@settings(max_examples=25)
@given(HISTORIES, DEATHS)
def test_killed_controllers_come_to_the_same_end(steps: list[Step], deaths: list[int]) -> None:
    compare(steps, deaths)


@settings(max_examples=25)
@given(HISTORIES, st.one_of(st.just([]), DEATHS))
def test_two_sets_of_controllers_come_to_the_same_end_as_one(steps: list[Step], deaths: list[int]) -> None:
    compare(steps, deaths, crews=2)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(st.lists(ACTS, min_size=3, max_size=40), st.lists(st.integers(1, 60), min_size=1, max_size=15, unique=True))
def test_killed_controllers_come_to_the_same_end_after_long_histories(steps: list[Step], deaths: list[int]) -> None:
    compare(steps, deaths)
