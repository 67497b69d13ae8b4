"""What happens in histories of a cluster: what users, drivers and nodes do, and how processes and connections end."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.coordination.kinds import LEASE
from dray.api.coordination.lease import Lease, LeaseSpec
from dray.api.core.kinds import NODE, POD
from dray.api.core.pod import Pod
from dray.api.meta import Condition, DeleteOptions, ObjectMeta
from dray.api.registry import AnyKind
from dray.api.resource.allocation import AllocatedDeviceStatus, DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.client.port import ObjectName, Patch, PatchType, Unreachable
from tests.cases.scheduling.terse import KINDS, NAMESPACE_NAME, store
from tests.unit.controllers.cluster import Call
from tests.unit.scheduler.rig import Rig

__all__ = ["CONTROLLERS", "HISTORIES", "START", "Action", "Fate", "act", "end_well", "find", "rest"]

Json = dict[str, Any]
Action = tuple[str, Any]

CONTROLLERS = (
    "resourceclaim-controller",
    "device-taint-eviction-controller",
    "garbage-collector-controller",
    "pod-garbage-collector-controller",
    "podgroup-protection-controller",
    "node-lifecycle-controller",
    "taint-eviction-controller",
)
NODES = ("a", "b")
SINGLE_PODS = ("p0", "p1", "p2", "p3")
GANG_PODS = ("g0", "g1", "g2")
PODS_BY_NAME = (*SINGLE_PODS, *GANG_PODS)
SORTS = ("pod", "group", "claim", "class", "template", "rule", "devices", "node")
STEP_SECONDS = 20
"""How long nodes wait at most until they say again that they live."""

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
BROKEN = {"key": "x.io/broken", "effect": "NoExecute"}


def ask(**terms: Any) -> Json:
    """A claim of one request."""
    return {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu", **terms}}]}}


START: Sequence[Json] = (
    {"node": "a", "status": READY},
    {"node": "b", "status": READY},
    {"class": "gpu", "extended": "x.io/gpu"},
    {"template": "one", "ask": "gpu"},
    {"template": "two", "ask": "2 gpu"},
    {"template": "all", "ask": ask(allocationMode="All")},
    {"template": "watched", "ask": ask(allocationMode="All", adminAccess=True)},
    {"template": "part", "ask": ask(capacity={"requests": {"memory": "2Gi"}})},
    {"template": "patient", "ask": ask(tolerations=[{**BROKEN, "operator": "Exists", "tolerationSeconds": 30}])},
    {
        "template": "either",
        "ask": {
            "devices": {
                "requests": [
                    {
                        "name": "r",
                        "firstAvailable": [
                            {"name": "two", "deviceClassName": "gpu", "count": 2},
                            {"name": "one", "deviceClassName": "gpu", "count": 1},
                        ],
                    }
                ]
            }
        },
    },
    {"claim": "shared", "ask": "gpu"},
    {"group": "g", "gang": 2},
    {"devices": ["gpu-0", "gpu-1"], "at": "a"},
)


# Things to put


def preparing(count: int) -> Json:
    """Devices that have to get ready for whoever is to use them."""
    conditions = {"bindingConditions": ["x.io/ready"], "bindingFailureConditions": ["x.io/failed"]}
    return {f"gpu-{number}": conditions for number in range(count)}


def partitions() -> Json:
    """A card, and the two halves that it can be divided into."""

    def draws(units: int) -> Json:
        return {"consumesCounters": [{"counterSet": "card", "counters": {"units": {"value": str(units)}}}]}

    return {"card": draws(2), "half-0": draws(1), "half-1": draws(1)}


WIDE: Json = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "4Gi"}}}
"""A device of which several may have a part each."""

OFFERS: Sequence[Json] = (
    {"devices": ["gpu-0"]},
    {"devices": ["gpu-0", "gpu-1", "gpu-2"]},
    {"devices": {"gpu-0": {"taints": [BROKEN]}, "gpu-1": {}}},
    {"devices": preparing(1)},
    {"devices": {**preparing(2), "gpu-2": {}}},
    *[{"devices": partitions(), "card": 2, "of": 2}] * 2,
    {"devices": ["gpu-0", "gpu-1"], "of": 2},
    *[{"devices": {"wide": WIDE, "gpu-0": {}}}] * 2,
)
USES: Sequence[Json] = (
    {"gpu": "template one"},
    {"gpu": "template two"},
    {"gpu": "template all"},
    {"gpu": "template watched"},
    {"gpu": "template patient"},
    {"gpu": "template either"},
    {"gpu": "template part"},
    {"gpu": "claim shared"},
    {"gpu": "claim shared"},
    {"gpu": "claim shared"},
    {"gpu": "claim shared", "more": "template one"},
    {"gpu": "template one", "more": "template one"},
)
SINGLES = st.builds(
    lambda name, uses, more: {"pod": name, **uses, **more},
    st.sampled_from(SINGLE_PODS),
    st.one_of(
        st.sampled_from(USES).map(lambda uses: {"uses": uses}),
        st.just({"resources": {"x.io/gpu": 1}}),
        st.just({}),
    ),
    st.fixed_dictionaries(
        {},
        optional={
            "cpu": st.sampled_from([1, 6]),
            "priority_class": st.just("system-cluster-critical"),
            "tolerates": st.just(60),
        },
    ),
)
PLACED = st.builds(
    lambda name, node, uses: {"pod": name, "node_name": node, "uses": uses},
    st.sampled_from(SINGLE_PODS),
    st.sampled_from(NODES),
    st.sampled_from(USES),
)
MEMBERS = st.builds(
    lambda name, uses: {"pod": name, "group": "g", "uses": uses},
    st.sampled_from(GANG_PODS),
    st.sampled_from([{"gpu": "template one"}, {"gpu": "template one"}, {"gpu": "claim shared"}]),
)
GROUPS = st.sampled_from([{"group": "g", "gang": 2}, {"group": "g", "gang": 2, "uses": {"gpu": "template one"}}])
DEVICES = st.builds(lambda offer, node: {**offer, "at": node}, st.sampled_from(OFFERS), st.sampled_from(NODES))
CORDONED = st.builds(
    lambda node, is_cordoned: {"node": node, "unschedulable": is_cordoned, "status": READY},
    st.sampled_from(NODES),
    st.booleans(),
)
RULES = st.sampled_from(["NoSchedule", "NoExecute"]).map(
    lambda effect: {"rule": "broken", "device": "gpu-0", "effect": effect}
)
KNOWN = st.sampled_from([thing for thing in START if {"class", "template", "claim"} & thing.keys()])


def mixed(weights: Sequence[tuple[int, st.SearchStrategy[Any]]]) -> st.SearchStrategy[Any]:
    """One of several, each as often as its weight says."""
    numbers = [number for number, (weight, _) in enumerate(weights) for _ in range(weight)]
    return st.sampled_from(numbers).flatmap(lambda number: weights[number][1])


THINGS = mixed(
    [
        (8, SINGLES),
        (6, MEMBERS),
        (4, DEVICES),
        (1, GROUPS),
        (1, CORDONED),
        (1, RULES),
        (1, PLACED),
        (1, KNOWN),
    ]
)
TAKES = (
    *(f"pod {name}" for name in PODS_BY_NAME),
    *(f"{sort} {name}" for sort in ("devices", "node") for name in NODES),
    "claim shared",
    "class gpu",
    "template one",
    "rule broken",
    "group g",
)
ACTIONS = mixed(
    [
        (10, THINGS.map(lambda thing: ("put", thing))),
        (3, st.sampled_from(TAKES).map(lambda text: ("delete", text))),
        (1, st.sampled_from(PODS_BY_NAME).map(lambda name: ("finish", name))),
        (1, st.sampled_from(PODS_BY_NAME).map(lambda name: ("unclaim", name))),
        (3, st.integers(0, 5).map(lambda write: ("crash", write))),
        (1, st.integers(0, 5).map(lambda write: ("lose", write))),
        (1, st.integers(0, 5).map(lambda write: ("miss", write))),
        (1, st.sampled_from(["x.io/ready", "x.io/ready", "x.io/failed"]).map(lambda state: ("report", state))),
        (1, st.sampled_from(NODES).map(lambda node: ("silence", node))),
        (1, st.sampled_from([1, 20, 400]).map(lambda seconds: ("wait", seconds))),
    ]
)
HISTORIES = st.lists(ACTIONS, min_size=16, max_size=64)


# How processes and connections end


class Crashed(asyncio.CancelledError):
    """The process ended here."""


class Fate:
    """Ends the process that makes one of the next writes, or loses the write, or the answer to it."""

    def __init__(self, rig: Rig) -> None:
        self.due: dict[str, int] = {}
        """What is to happen, and after how many more writes."""
        self.silent: set[str] = set()
        """Nodes that say nothing any more."""
        self._rig = rig

    def begin(self, call: Call) -> None:
        """A request is about to be made."""
        if call.process in self._rig.crashed:
            raise Crashed
        if call.verb in ("get", "list", "watch"):
            return
        if self._comes("crash"):
            self._rig.crash(call.process)
            raise Crashed
        if self._comes("lose"):
            raise Unreachable("the connection broke off")

    def end(self, call: Call) -> None:
        """A write is made, and about to be answered."""
        if self._comes("miss"):
            raise Unreachable("the connection broke off before the answer")

    def _comes(self, what: str) -> bool:
        if what not in self.due:
            return False
        self.due[what] -= 1
        if self.due[what] >= 0:
            return False
        del self.due[what]
        return True


# What happens


async def act(rig: Rig, fate: Fate, action: Action) -> None:
    """Let one thing happen, and everybody come to rest."""
    match action:
        case ("put", thing):
            fate.silent.discard(thing.get("node", ""))
            await put(rig, thing)
        case ("delete", text):
            await delete(rig, text)
        case ("finish", name):
            await finish(rig, name)
        case ("unclaim", name):
            await unclaim(rig, name)
        case ("report", condition):
            await report(rig, condition)
        case ("silence", node):
            fate.silent.add(node)
            return
        case ("crash" | "lose" | "miss" as what, write):
            fate.due[what] = write
            return
        case ("wait", seconds):
            await wait(rig, fate, seconds)
    await rest(rig, fate)


async def end_well(rig: Rig, fate: Fate) -> None:
    """Nothing breaks any more, devices get ready, and time passes.

    Until nobody backs off, what nodes left behind is collected, and what crashes left is swept up; not so long that
    pods are tried again for no reason but that they waited long.
    """
    fate.due.clear()
    await rest(rig, fate)
    for seconds in (20, 20, 20, 60, 60):
        await report(rig, "x.io/ready")
        await wait(rig, fate, seconds)
        await rest(rig, fate)


async def rest(rig: Rig, fate: Fate) -> None:
    """Let everybody work; who ends on the way starts again, and nodes let go of what is to leave."""
    while True:
        await rig.settle()
        if rig.crashed:
            await rig.restart()
        elif not await let_go(rig):
            return


async def wait(rig: Rig, fate: Fate, seconds: int) -> None:
    """Let time pass, in which nodes say that they live."""
    while seconds > 0:
        for node in (await rig.client.list(NODE)).items:
            if node.metadata.name not in fate.silent:
                spec = LeaseSpec(renew_time=rig.cluster.clock.now())
                lease = Lease(metadata=ObjectMeta(name=node.metadata.name, namespace="kube-node-lease"), spec=spec)
                rig.cluster.put(LEASE, lease, uid=f"lease-of-{node.metadata.name}")
        await rig.settle()
        await rig.pass_time(min(seconds, STEP_SECONDS))
        await rest(rig, fate)
        seconds -= STEP_SECONDS


async def let_go(rig: Rig) -> bool:
    """End the pods on nodes that are asked to leave. Whether there were any."""
    pods: Sequence[Pod] = (await rig.client.list(POD)).items
    leaving = [pod for pod in pods if pod.metadata.deletion_timestamp is not None]
    now = DeleteOptions(grace_period_seconds=0)
    for pod in leaving:
        await rig.client.delete(POD, ObjectName(pod.metadata.name, NAMESPACE_NAME), now)
    return bool(leaving)


async def find(rig: Rig, kind: AnyKind, name: str) -> Any:
    """What is stored."""
    things: Sequence[Any] = (await rig.client.list(kind)).items
    return next((thing for thing in things if thing.metadata.name == name), None)


async def put(rig: Rig, thing: Json) -> None:
    """Create something that is not there. Nodes are replaced, and drivers publish their devices anew."""
    sort = next(name for name in SORTS if name in thing)
    if sort == "devices":
        await publish(rig, thing)
    elif sort == "node" or await find(rig, KINDS[sort], thing[sort]) is None:
        await store(rig.client, described(thing))


def described(thing: Json) -> Json:
    """What pods say of themselves besides, as in a manifest."""
    spec: Json = {}
    if "node_name" in thing:
        spec["nodeName"] = thing["node_name"]
    if "tolerates" in thing:
        seconds = thing["tolerates"]
        unreachable = {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute"}
        spec["tolerations"] = [{**unreachable, "tolerationSeconds": seconds}]
    return {**thing, "spec": spec} if spec else thing


def slice_names(pool: str) -> tuple[str, str]:
    """The slices that a pool may have: of its devices, and of the counters that they share."""
    return f"{pool}-gpu.x.io", f"{pool}-gpu.x.io-counters"


async def publish(rig: Rig, offer: Json) -> None:
    """Publish the next generation of a pool."""
    devices_name, counters_name = slice_names(offer["at"])
    known = [await find(rig, RESOURCE_SLICE, name) for name in (devices_name, counters_name)]
    generation = 1 + max((each.spec.pool.generation for each in known if each is not None), default=0)
    if "card" in offer:
        units = [{"name": "card", "counters": {"units": {"value": str(offer["card"])}}}]
        shared: Json = {"slice": counters_name, "devices": [], "spec": {"devices": None, "sharedCounters": units}}
        await store(rig.client, {**offer, **shared, "generation": generation})
    await store(rig.client, {**offer, "generation": generation})


async def delete(rig: Rig, text: str) -> None:
    """Have something deleted, if it is there."""
    sort, _, name = text.partition(" ")
    kind = KINDS[sort]
    for each in slice_names(name) if sort == "devices" else (name,):
        if await find(rig, kind, each) is not None:
            await rig.client.delete(kind, ObjectName(each, NAMESPACE_NAME if kind.is_namespaced else ""))


async def finish(rig: Rig, name: str) -> None:
    """Let a pod come to its end."""
    if await find(rig, POD, name) is not None:
        patch = Patch(PatchType.MERGE, b'{"status": {"phase": "Succeeded"}}')
        await rig.client.patch(POD, ObjectName(name, NAMESPACE_NAME), patch, subresource="status")


async def unclaim(rig: Rig, name: str) -> None:
    """Have the claims deleted that were made for a pod."""
    pod: Pod | None = await find(rig, POD, name)
    for status in () if pod is None else pod.status.resource_claim_statuses:
        if status.resource_claim_name and await find(rig, RESOURCE_CLAIM, status.resource_claim_name) is not None:
            await rig.client.delete(RESOURCE_CLAIM, ObjectName(status.resource_claim_name, NAMESPACE_NAME))


async def report(rig: Rig, condition: str) -> None:
    """Drivers say of all devices that have to get ready that they are, or that they failed."""
    now = rig.cluster.clock.now().to_time()
    state = Condition(type=condition, status="True", reason="Seen", message="", last_transition_time=now)
    claims: Iterable[ResourceClaim] = (await rig.client.list(RESOURCE_CLAIM)).items
    for claim in claims:
        allocation = claim.status.allocation
        results = () if allocation is None else allocation.devices.results
        devices = tuple(describe_device(result, state) for result in results if result.binding_conditions)
        if devices and devices != claim.status.devices:
            status = replace(claim.status, devices=devices)
            await rig.client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")


def describe_device(result: DeviceRequestAllocationResult, state: Condition) -> AllocatedDeviceStatus:
    """What a driver says of a device."""
    return AllocatedDeviceStatus(driver=result.driver, pool=result.pool, device=result.device, conditions=(state,))
