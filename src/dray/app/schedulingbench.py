"""The workload `SchedulingWithResourceClaimTemplate` of Kubernetes' scheduler_perf, end to end, and where time goes.

Nodes with one slice of ten devices each, half of the devices allocated; then pods, each with a claim from a template,
created all at once through the API. Measured from the first creation to the last binding.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from threading import Event as ThreadEvent
from threading import Thread, get_ident
from types import FrameType
from typing import Any, Final, TypeVar

import msgspec
import uvloop
from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.nodestatus import NodeStatus
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim, PodSpec
from dray.api.core.resources import ResourceClaim as ContainerClaim
from dray.api.core.resources import ResourceRequirements
from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.claimtemplate import ResourceClaimTemplate, ResourceClaimTemplateSpec
from dray.api.resource.device import Device
from dray.api.resource.deviceclass import DeviceClass, DeviceClassSpec
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE
from dray.api.resource.podclaims import FINALIZER
from dray.api.resource.request import CELDeviceSelector, DeviceRequest, DeviceSelector, ExactDeviceRequest
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.app.benchcluster import NAMESPACE_NAME, BenchCluster, open_bench_cluster
from dray.app.process import settle_memory
from dray.app.wire import wire_clock
from dray.client.changes import Change
from dray.client.port import Client
from dray.values.quantity import Quantity

__all__ = ["SchedulingFigures", "measure_scheduling", "measure_single_pods"]

T = TypeVar("T")

_CLOCK: Final = wire_clock()

DRIVER: Final = "test-driver.cdi.k8s.io"
CLASS: Final = "test-class"
TEMPLATE: Final = "test-claim-template"
DEVICES_A_NODE: Final = 10
_AT_ONCE: Final = 64
"""Requests that a user makes at once."""
_SAMPLE_SECONDS: Final = 0.005
_SETTLE_SECONDS: Final = 0.25


class SchedulingFigures(msgspec.Struct, frozen=True):
    """What one row of the workload gave. Latencies run from the creation of a pod to its binding being seen."""

    nodes: int
    pods: int
    seconds: float
    pods_per_second: float
    latency_p50_ms: float
    latency_p90_ms: float
    latency_p99_ms: float
    latency_max_ms: float
    longest_stall_ms: float
    cpu_seconds: float
    """Of this process, all threads."""
    spent: dict[str, float]
    """Share of the time by part of dray, sampled."""

    def to_facts(self) -> dict[str, Any]:
        """The figures by name, for printing."""
        return msgspec.structs.asdict(self)


def measure_scheduling(nodes: int, pods: int) -> SchedulingFigures:
    """Run the workload once in this process."""
    return uvloop.run(_measure(nodes, pods))


def measure_single_pods(nodes: int, count: int) -> list[float]:
    """Seconds from the creation of a single pod to its binding, on an idle cluster, `count` times one after another."""
    return uvloop.run(_measure_single(nodes, count))


async def _measure(nodes: int, pods: int) -> SchedulingFigures:
    with tempfile.TemporaryDirectory() as folder:
        async with open_bench_cluster(Path(folder)) as cluster:
            await _prepare(cluster.client, nodes, taken=DEVICES_A_NODE // 2)
            await _settle(cluster)
            stopwatch = _Stopwatch(pods)
            cluster.informers.get(POD).add_handler(stopwatch.note)
            with _Sampler() as sampler:
                stopwatch.begin()
                await _create_all(cluster.client, (_pod(number) for number in range(pods)), stopwatch)
                await stopwatch.done.wait()
            return stopwatch.figures(nodes, sampler.shares())


async def _measure_single(nodes: int, count: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        async with open_bench_cluster(Path(folder)) as cluster:
            await _prepare(cluster.client, nodes, taken=0)
            await _settle(cluster)
            taken: list[float] = []
            for number in range(count):
                stopwatch = _Stopwatch(1)
                cluster.informers.get(POD).add_handler(stopwatch.note)
                stopwatch.begin()
                await _create_all(cluster.client, [_pod(number)], stopwatch)
                await stopwatch.done.wait()
                taken.append(stopwatch.latencies()[0])
                await asyncio.sleep(0.02)
            return taken


async def _settle(cluster: BenchCluster) -> None:
    """Wait until nobody has anything to do for what was prepared."""
    await asyncio.sleep(_SETTLE_SECONDS)
    while not cluster.scheduler.is_idle:  # noqa: ASYNC110 - who measures must not be woken by what is measured
        await asyncio.sleep(_SETTLE_SECONDS)
    settle_memory()


# The workload


async def _prepare(client: Client, nodes: int, taken: int) -> None:
    await client.create(DEVICE_CLASS, _class())
    await client.create(RESOURCE_CLAIM_TEMPLATE, _template())
    await _in_parallel(lambda number: _create_node(client, number), range(nodes))
    held = [(node, device) for node in range(nodes) for device in range(taken)]
    await _in_parallel(lambda each: _create_allocated(client, *each), held)


async def _in_parallel(work: Callable[[T], Awaitable[object]], items: Iterable[T]) -> None:
    left = iter(items)

    async def go_on() -> None:
        for item in left:
            await work(item)

    await asyncio.gather(*(go_on() for _ in range(_AT_ONCE)))


def _class() -> DeviceClass:
    selector = DeviceSelector(cel=CELDeviceSelector(expression=f'device.driver == "{DRIVER}"'))
    return DeviceClass(metadata=ObjectMeta(name=CLASS), spec=DeviceClassSpec(selectors=(selector,)))


def _claim_spec() -> ResourceClaimSpec:
    request = DeviceRequest(name="req-0", exactly=ExactDeviceRequest(device_class_name=CLASS))
    return ResourceClaimSpec(devices=DeviceClaim(requests=(request,)))


def _template() -> ResourceClaimTemplate:
    meta = ObjectMeta(name=TEMPLATE, namespace=NAMESPACE_NAME)
    return ResourceClaimTemplate(metadata=meta, spec=ResourceClaimTemplateSpec(spec=_claim_spec()))


def _node_name(number: int) -> str:
    return f"node-{number:05}"


async def _create_node(client: Client, number: int) -> None:
    name = _node_name(number)
    room = {"cpu": Quantity.of(64), "memory": Quantity.of(256 << 30), "pods": Quantity.of(110)}
    node = Node(metadata=ObjectMeta(name=name, labels={"kubernetes.io/hostname": name}))
    made = await client.create(NODE, node)
    # New nodes are tainted until they are ready.
    made = await client.update(NODE, replace(made, spec=replace(made.spec, taints=())))
    await client.update(NODE, replace(made, status=NodeStatus(capacity=room, allocatable=room)), subresource="status")
    devices = tuple(Device(name=f"instance-{index}") for index in range(DEVICES_A_NODE))
    pool = ResourcePool(name=name, generation=1, resource_slice_count=1)
    spec = ResourceSliceSpec(driver=DRIVER, pool=pool, node_name=name, devices=devices)
    await client.create(RESOURCE_SLICE, ResourceSlice(metadata=ObjectMeta(name=f"{name}-slice"), spec=spec))


async def _create_allocated(client: Client, node: int, device: int) -> None:
    meta = ObjectMeta(name=f"held-{node}-{device}", namespace=NAMESPACE_NAME, finalizers=(FINALIZER,))
    claim = await client.create(RESOURCE_CLAIM, ResourceClaim(metadata=meta, spec=_claim_spec()))
    result = DeviceRequestAllocationResult(
        request="req-0", driver=DRIVER, pool=_node_name(node), device=f"instance-{device}"
    )
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
    held = replace(claim, status=replace(claim.status, allocation=allocation))
    await client.update(RESOURCE_CLAIM, held, subresource="status")


def _pod(number: int) -> Pod:
    entry = PodResourceClaim(name="resource", resource_claim_template_name=TEMPLATE)
    uses = ResourceRequirements(claims=(ContainerClaim(name="resource"),))
    container = Container(name="pause", image="registry.k8s.io/pause:3.10.1", resources=uses)
    spec = PodSpec(containers=(container,), resource_claims=(entry,))
    return Pod(metadata=ObjectMeta(name=f"test-pod-{number:05}", namespace=NAMESPACE_NAME), spec=spec)


async def _create_all(client: Client, pods: Iterable[Pod], stopwatch: "_Stopwatch") -> None:
    async def create(pod: Pod) -> None:
        stopwatch.started[pod.metadata.name] = _CLOCK.monotonic()
        await client.create(POD, pod)

    await _in_parallel(create, pods)


# Measuring


class _Stopwatch:
    """Notes when pods are created and when they are seen on a node."""

    def __init__(self, pods: int) -> None:
        self._pods = pods
        self.started: dict[str, float] = {}
        self.bound: dict[str, float] = {}
        self.done = asyncio.Event()
        self._begun = self._cpu_begun = 0.0

    def begin(self) -> None:
        """Start."""
        self._begun, self._cpu_begun = _CLOCK.monotonic(), _cpu_seconds()

    def note(self, change: Change[Pod]) -> None:
        """See a pod."""
        pod = change.new
        if pod is not None and pod.spec.node_name and pod.metadata.name in self.started:
            self.bound.setdefault(pod.metadata.name, _CLOCK.monotonic())
            if len(self.bound) == self._pods:
                self.done.set()

    def latencies(self) -> list[float]:
        """Seconds for each pod, shortest first."""
        return sorted(self.bound[name] - begun for name, begun in self.started.items())

    def figures(self, nodes: int, spent: dict[str, float]) -> SchedulingFigures:
        """What came of it."""
        ends = sorted(self.bound.values())
        seconds = ends[-1] - self._begun
        latencies = self.latencies()
        gaps = [later - earlier for earlier, later in zip([self._begun, *ends], ends, strict=False)]
        return SchedulingFigures(
            nodes=nodes,
            pods=self._pods,
            seconds=round(seconds, 3),
            pods_per_second=round(self._pods / seconds, 1),
            latency_p50_ms=_milliseconds(latencies, 0.5),
            latency_p90_ms=_milliseconds(latencies, 0.9),
            latency_p99_ms=_milliseconds(latencies, 0.99),
            latency_max_ms=_milliseconds(latencies, 1.0),
            longest_stall_ms=round(max(gaps[1:], default=0.0) * 1000, 1),
            cpu_seconds=round(_cpu_seconds() - self._cpu_begun, 3),
            spent=spent,
        )


def _cpu_seconds() -> float:
    usage = getrusage(RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _milliseconds(ordered: list[float], quantile: float) -> float:
    return round(ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] * 1000, 1)


class _Sampler:
    """Looks every few milliseconds at what the main thread does, and counts it by the part of dray it is in."""

    PARTS: Final = (
        ("dray.scheduler", "scheduler"),
        ("dray.controllers", "controllers"),
        ("dray.server", "server"),
        ("dray.store", "store"),
        ("dray.client", "client"),
        ("dray.app", "user"),
    )

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._stop = ThreadEvent()
        self._thread = Thread(target=self._watch, daemon=True)
        self._main = 0

    def __enter__(self) -> "_Sampler":
        self._main = get_ident()
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._stop.set()
        self._thread.join()

    def shares(self) -> dict[str, float]:
        """Parts of the whole, largest first."""
        total = sum(self._counts.values()) or 1
        ordered = sorted(self._counts.items(), key=lambda item: -item[1])
        return {part: round(count / total, 3) for part, count in ordered}

    def _watch(self) -> None:
        while not self._stop.wait(_SAMPLE_SECONDS):
            frame = sys._current_frames().get(self._main)  # noqa: SLF001 - the documented way to see other threads
            part = _name_part(frame)
            self._counts[part] = self._counts.get(part, 0) + 1


def _name_part(frame: FrameType | None) -> str:
    """The innermost part of dray that is at work; the loop waiting for something is idle."""
    first: Any = frame
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        for prefix, part in _Sampler.PARTS:
            if module.startswith(prefix):
                return part
        frame = frame.f_back
    return "loop or idle" if first is not None else "idle"
