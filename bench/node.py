"""A thousand simulated nodes with eight devices each, their agents, drivers and API server in one process.

Pods are placed here, not by the scheduler, so that the figures are those of the agents. Each pod has a claim, which its
node prepares, and ends by itself.
"""

import asyncio
import gc
import json
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import uvloop
from msgspec.structs import replace

from dray.api.codec import get_codec
from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, POD, SERVICE_ACCOUNT
from dray.api.core.pod import Pod
from dray.api.core.references import ObjectReference
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.meta import ObjectMeta
from dray.api.registry import SERVED
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.app.wire import CelJudge
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.driver import AllocatedDevice, Claim, ContainerEdits, Device, Devices, Driver, Prepared, env
from dray.driver.cdifiles import CdiMemory
from dray.driver.local import LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.published import SharedWatch, SliceWatches
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog
from dray.node.agent import NodeParts, ResidentDriver
from dray.node.checkpoint import Checkpoint, FileCheckpoint, NoCheckpoint
from dray.node.fleet import Fleet, FleetParts, open_fleet
from dray.node.localdrivers import connect_local
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiSpecs
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.server.assembly import MASTER, ServerParts, open_api_server
from dray.server.inprocess import InProcessClient
from dray.store.sqlite import open_sqlite_store

NODES = 1_000
GPUS = 8
PODS = 10_000
SIDE_BY_SIDE = 64
PROBED_PODS = 100
RUN_SECONDS = 1.0
PATIENCE_SECONDS = 120.0
PROBED_RUN_SECONDS = 0.1

GOALS = {
    f"node: {NODES} nodes x {GPUS} devices come up": 15.0,
    "node: memory with all pods done": 700.0,
    "node: what a claim adds to the start of a pod, p50": 5.0,
}

Rows = list[tuple[str, float, str]]


class GpuDriver(Driver):
    """Eight devices that differ in their names."""

    name = "gpu.example.com"

    async def devices(self) -> Devices:
        """The same for every node."""
        return Devices.of(*(Device(name=f"gpu-{number}") for number in range(GPUS)))

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        """Name the device to the container."""
        return Prepared.of(each.prepared(ContainerEdits(env=env(GPU=each.name))) for each in devices)


class Cluster:
    """A server with a fleet of nodes."""

    def __init__(self, client: Client, fleet: Fleet, slices: SliceWatches, stack: AsyncExitStack) -> None:
        self.client = client
        self.fleet = fleet
        self._slices = slices
        self._stack = stack
        self._network = SimulatedNetwork()
        self._metrics = DriverMetrics(GpuDriver.name)

    async def add_node(self, name: str, checkpoint: Checkpoint) -> None:
        """A node with a driver of its own."""
        around = self.fleet.around
        cdi = CdiMemory()
        node = LocalNode(
            name=name,
            client=self.client,
            watches=self._slices,
            pace=around.pace,
            log=around.log,
            metrics=self._metrics,
            cdi=cdi,
        )
        driver = await self._stack.enter_async_context(open_local_driver(GpuDriver(), node))
        runtime = SimulatedRuntime(around.clock, around.timers, CdiSpecs(cdi.specs.values), self._network)
        residents = (ResidentDriver(driver.name, connect_local(name, driver)),)
        parts = NodeParts(name=name, runtime=runtime, checkpoint=checkpoint, resident_drivers=residents)
        await self.fleet.add_node(NodeFacts(name, runtime.version), parts)

    async def add_pod(self, number: int, *, has_claim: bool, run_seconds: float = RUN_SECONDS) -> Pod:
        """A pod that is yet to be placed, with a claim for a device of its node."""
        name = f"{'p' if has_claim else 'q'}-{number}"
        spec: dict[str, Any] = {"restartPolicy": "Never", "containers": [{"name": "main", "image": "example/app:1"}]}
        if has_claim:
            spec["resourceClaims"] = [{"name": "gpu", "resourceClaimName": name}]
            spec["containers"][0]["resources"] = {"claims": [{"name": "gpu"}]}
        annotations = {"sim.dray.dev/run-seconds": str(run_seconds)}
        pod: Pod = await self.client.create(POD, decode(POD, name, {"spec": spec}, annotations))
        if has_claim:
            await self._add_claim(pod, node_of(number), f"gpu-{number // NODES % GPUS}")
        return pod

    async def _add_claim(self, pod: Pod, node: str, device: str) -> None:
        name = pod.metadata.name
        request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
        claim = await self.client.create(
            RESOURCE_CLAIM, decode(RESOURCE_CLAIM, name, {"spec": {"devices": {"requests": [request]}}})
        )
        result = {"request": "gpu", "driver": GpuDriver.name, "pool": node, "device": device}
        status = {
            "allocation": {"devices": {"results": [result]}},
            "reservedFor": [{"resource": "pods", "name": name, "uid": pod.metadata.uid}],
        }
        decoded = decode(RESOURCE_CLAIM, name, {"status": status})
        await self.client.update(RESOURCE_CLAIM, replace(claim, status=decoded.status), subresource="status")

    async def bind(self, pod: Pod, node: str) -> None:
        """Place a pod."""
        meta = ObjectMeta(name=pod.metadata.name, namespace="default")
        binding = Binding(metadata=meta, target=ObjectReference(kind="Node", name=node))
        await self.client.create(BINDING, binding, subresource="binding")


def node_of(number: int) -> str:
    return f"node-{number % NODES}"


def decode(kind: Any, name: str, body: dict[str, Any], annotations: dict[str, str] | None = None) -> Any:
    meta = {"name": name, "namespace": "default", "annotations": annotations or {}}
    head = {"apiVersion": kind.api_version("v1"), "kind": kind.name, "metadata": meta}
    return get_codec(kind, "v1").decode(msgspec.json.encode(head | body))


async def side_by_side(jobs: Iterable[Awaitable[Any]]) -> list[Any]:
    """Do many things, some at a time."""
    room = asyncio.Semaphore(SIDE_BY_SIDE)

    async def do(job: Awaitable[Any]) -> Any:
        async with room:
            return await job

    return list(await asyncio.gather(*map(do, jobs)))


@asynccontextmanager
async def open_cluster(folder: Path) -> AsyncIterator[Cluster]:
    clock, entropy, log = SystemClock(), SystemEntropy(), MemoryLog()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_sqlite_store(folder / "dray.db"))
        kinds = tuple(SERVED)
        parts = ServerParts(
            kinds=kinds, store=store, clock=clock, entropy=entropy, judge=CelJudge(), identity=nobody, log=log
        )
        api = await stack.enter_async_context(open_api_server(parts))
        client = InProcessClient(api.desk, MASTER, "bench")
        await client.create(SERVICE_ACCOUNT, ServiceAccount(metadata=ObjectMeta(name="default", namespace="default")))
        informers = SharedInformers(client, Pace(clock, entropy), log)
        pods, slices = informers.get(POD), informers.get(RESOURCE_SLICE)
        following = asyncio.create_task(informers.run())
        stack.callback(following.cancel)
        fleet_parts = FleetParts(client=client, clock=clock, entropy=entropy, log=log, pods=pods)
        fleet = await stack.enter_async_context(open_fleet(fleet_parts))
        yield Cluster(client, fleet, SharedWatch(slices), stack)


def nobody(view: object, authorizer: object) -> Any:
    return None, None


async def measure_fleet(folder: Path) -> Rows:
    begun = time.perf_counter()
    async with open_cluster(folder) as cluster:
        await side_by_side(cluster.add_node(node_of(number), NoCheckpoint()) for number in range(NODES))
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len((await cluster.client.list(RESOURCE_SLICE)).items) < NODES:  # noqa: ASYNC110 (of many parts)
                await asyncio.sleep(0.02)
        up = time.perf_counter() - begun
        idle = memory_mib()
        pods = await side_by_side(cluster.add_pod(number, has_claim=True) for number in range(PODS))
        begun, burnt = time.perf_counter(), time.process_time()
        await side_by_side(cluster.bind(pod, node_of(number)) for number, pod in enumerate(pods))
        await wait_done(cluster, PODS)
        took, burnt = time.perf_counter() - begun, time.process_time() - burnt
    return [
        (f"node: {NODES} nodes x {GPUS} devices come up", up, "s"),
        ("node: memory with all nodes up", idle, "MiB"),
        (f"node: {PODS} pods with claims run {RUN_SECONDS} s and finish", took, "s"),
        ("node: time of a processor for each of them", burnt / PODS * 1000, "ms"),
        ("node: memory with all pods done", memory_mib(), "MiB"),
    ]


async def wait_done(cluster: Cluster, count: int) -> None:
    agents = cluster.fleet.agents.values()
    while sum(not task.is_active for agent in agents for task in agent.pods) < count:  # noqa: ASYNC110 (of many parts)
        await asyncio.sleep(0.05)


async def measure_claims(folder: Path) -> Rows:
    """Pods one after the other on one node whose agent writes a checkpoint; half of them have a claim."""
    times: dict[bool, list[float]] = {True: [], False: []}
    async with open_cluster(folder) as cluster:
        await cluster.add_node(node_of(0), FileCheckpoint(folder / "agent"))
        for number in range(PROBED_PODS):
            for has_claim in (True, False):
                pod = await cluster.add_pod(number * NODES, has_claim=has_claim, run_seconds=PROBED_RUN_SECONDS)
                begun = time.perf_counter()
                await cluster.bind(pod, node_of(0))
                await wait_running(cluster, pod)
                times[has_claim].append(time.perf_counter() - begun)
                await wait_done(cluster, len(times[True]) + len(times[False]))
    with_claim, without = (statistics.median(times[each]) * 1000 for each in (True, False))
    return [
        ("node: start of a pod without claims, p50", without, "ms"),
        ("node: what a claim adds to the start of a pod, p50", with_claim - without, "ms"),
    ]


async def wait_running(cluster: Cluster, pod: Pod) -> None:
    agent = cluster.fleet.agents[node_of(0)]
    while (task := agent.find_pod(pod.metadata.uid)) is None or task.pod.status.phase != "Running":  # noqa: ASYNC110
        await asyncio.sleep(0)


def memory_mib() -> float:
    """What is resident now."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else 0.0


def run_part(name: str) -> None:
    gc.set_threshold(50_000, 20, 100)  # as `dray up` has it
    part: Callable[[Path], Coroutine[Any, Any, Rows]] = PARTS[name]
    with TemporaryDirectory() as folder:
        print(json.dumps(uvloop.run(part(Path(folder)))))


PARTS: dict[str, Callable[[Path], Coroutine[Any, Any, Rows]]] = {"fleet": measure_fleet, "claims": measure_claims}


def measure() -> Rows:
    rows: Rows = []
    for name in PARTS:  # each in a process of its own, so that memory is that of nothing else
        done = subprocess.run([sys.executable, "-m", "bench.node", name], stdout=subprocess.PIPE, check=True)
        rows += [tuple(row) for row in json.loads(done.stdout)]
    return rows


if __name__ == "__main__":
    run_part(sys.argv[1])
