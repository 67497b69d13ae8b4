"""What happens in histories of a cluster: what users, drivers and nodes do, and how processes and connections end."""

import asyncio
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.meta import DeleteOptions
from dray.api.registry import AnyKind
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.client.port import ObjectName, Patch, PatchType, Unreachable
from tests.cases.scheduling.terse import KINDS, NAMESPACE_NAME, store
from tests.unit.controllers.cluster import Call
from tests.unit.scheduler.rig import Rig

__all__ = ["CONTROLLERS", "HISTORIES", "START", "Action", "Fate", "act", "find", "rest"]

Json = dict[str, Any]
Action = tuple[str, Any]

CONTROLLERS = (
    "resourceclaim-controller",
    "device-taint-eviction-controller",
    "garbage-collector-controller",
    "pod-garbage-collector-controller",
)
NODES = ("a", "b")
SINGLE_PODS = ("p0", "p1", "p2", "p3")
GANG_PODS = ("g0", "g1", "g2")
PODS_BY_NAME = (*SINGLE_PODS, *GANG_PODS)

START: Sequence[Json] = (
    {"node": "a"},
    {"node": "b"},
    {"class": "gpu", "extended": "x.io/gpu"},
    {"template": "one", "ask": "gpu"},
    {"template": "two", "ask": "2 gpu"},
    {"devices": ["gpu-0", "gpu-1"], "at": "a"},
)

SINGLES = st.fixed_dictionaries(
    {"pod": st.sampled_from(SINGLE_PODS)},
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
        "priority_class": st.just("system-cluster-critical"),
    },
)
MEMBERS = st.sampled_from(GANG_PODS).map(lambda name: {"pod": name, "group": "g", "uses": {"gpu": "template one"}})
DEVICES = st.builds(
    lambda count, node: {"devices": [f"gpu-{number}" for number in range(count)], "at": node},
    st.sampled_from([1, 3]),
    st.sampled_from(NODES),
)
CORDONED = st.builds(
    lambda node, is_cordoned: {"node": node, "unschedulable": is_cordoned}, st.sampled_from(NODES), st.booleans()
)
RULES = st.sampled_from(["NoSchedule", "NoExecute"]).map(
    lambda effect: {"rule": "broken", "device": "gpu-0", "effect": effect}
)
THINGS = st.one_of(
    SINGLES,
    SINGLES,
    MEMBERS,
    st.just({"group": "g", "gang": 2}),
    st.just({"claim": "shared", "ask": "gpu"}),
    DEVICES,
    CORDONED,
    RULES,
)
TAKES = (
    *(f"pod {name}" for name in PODS_BY_NAME),
    *(f"{sort} {name}" for sort in ("devices", "node") for name in NODES),
    "claim shared",
    "rule broken",
    "group g",
)
ACTIONS = st.one_of(
    THINGS.map(lambda thing: ("put", thing)),
    THINGS.map(lambda thing: ("put", thing)),
    st.sampled_from(TAKES).map(lambda text: ("delete", text)),
    st.sampled_from(PODS_BY_NAME).map(lambda name: ("finish", name)),
    st.integers(0, 6).map(lambda write: ("crash", write)),
    st.integers(0, 4).map(lambda write: ("lose", write)),
    st.integers(0, 4).map(lambda write: ("miss", write)),
    st.sampled_from([1, 20]).map(lambda seconds: ("wait", seconds)),
)
HISTORIES = st.lists(ACTIONS, max_size=14)


class Crashed(asyncio.CancelledError):
    """The process ended here."""


class Fate:
    """Ends scheduler and controllers at one of their writes, or loses one, or the answer to one."""

    def __init__(self) -> None:
        self.due: dict[str, int] = {}
        """What is to happen, and after how many more writes."""
        self.has_crashed = False

    def begin(self, call: Call) -> None:
        """A request is about to be made."""
        if self.has_crashed:
            raise Crashed
        if call.verb in ("get", "list", "watch"):
            return
        if self._comes("crash"):
            self.has_crashed = True
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


async def act(rig: Rig, fate: Fate, action: Action) -> None:
    """Let one thing happen, and everybody come to rest."""
    match action:
        case ("put", thing):
            await put(rig, thing)
        case ("delete", text):
            await delete(rig, text)
        case ("finish", name):
            await finish(rig, name)
        case ("crash" | "lose" | "miss" as what, write):
            fate.due[what] = write
            return
        case ("wait", seconds):
            await rig.pass_time(seconds)
    await rest(rig, fate)


async def rest(rig: Rig, fate: Fate) -> None:
    """Let everybody work; who ends on the way starts again, and nodes let go of what is to leave."""
    while True:
        try:
            await rig.settle()
        except asyncio.CancelledError:
            if not fate.has_crashed:
                raise
        if fate.has_crashed:
            await rig.stop()
            fate.has_crashed = False
            rig.start()
        elif not await let_go(rig):
            return


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
    sort = next(name for name in ("pod", "group", "claim", "rule", "devices", "node") if name in thing)
    if sort == "devices":
        known = await find(rig, RESOURCE_SLICE, f"{thing['at']}-gpu.x.io")
        generation = 1 if known is None else known.spec.pool.generation + 1
        await store(rig.client, {**thing, "generation": generation})
    elif sort == "node" or await find(rig, KINDS[sort], thing[sort]) is None:
        await store(rig.client, thing)


async def delete(rig: Rig, text: str) -> None:
    """Have something deleted, if it is there."""
    sort, _, name = text.partition(" ")
    kind = KINDS[sort]
    name = f"{name}-gpu.x.io" if sort == "devices" else name
    if await find(rig, kind, name) is not None:
        await rig.client.delete(kind, ObjectName(name, NAMESPACE_NAME if kind.is_namespaced else ""))


async def finish(rig: Rig, name: str) -> None:
    """Let a pod come to its end."""
    if await find(rig, POD, name) is not None:
        patch = Patch(PatchType.MERGE, b'{"status": {"phase": "Succeeded"}}')
        await rig.client.patch(POD, ObjectName(name, NAMESPACE_NAME), patch, subresource="status")
