"""Workloads beyond the plain one: partitions that come and go, the core alone, pods that cannot fit."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from tempfile import TemporaryDirectory
from typing import NamedTuple

from msgspec.structs import replace

from dray.api.core.containers import Container
from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.nodestatus import NodeStatus
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodResourceClaim, PodSpec
from dray.api.core.podstatus import PodResourceClaimStatus, PodStatus
from dray.api.core.resources import ResourceClaim as ContainerClaim
from dray.api.core.resources import ResourceRequirements
from dray.api.meta import DeleteOptions, ObjectMeta, OwnerReference
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.claimtemplate import ResourceClaimTemplate, ResourceClaimTemplateSpec
from dray.api.resource.device import Counter, CounterSet, Device, DeviceAttribute, DeviceCounterConsumption
from dray.api.resource.deviceclass import DeviceClass, DeviceClassSpec
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE
from dray.api.resource.request import CELDeviceSelector, DeviceRequest, DeviceSelector, ExactDeviceRequest
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.app.benchcluster import BenchCluster, open_bench_cluster
from dray.app.process import settle_memory
from dray.app.wire import wire_clock
from dray.client.changes import Change
from dray.client.port import ObjectName
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.news import Bound, Changed
from dray.scheduler.core.orders import Bind
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.step import schedule_next, step
from dray.values.quantity import Quantity
from dray.values.times import MicroTime

DRIVER, CLASS, NAMESPACE = "gpu.example.com", "gpu", "default"
AT_ONCE = 64
NOW = MicroTime(0)


def node(number: int) -> Node:
    room = {"cpu": Quantity.of(64), "memory": Quantity.of(256 << 30), "pods": Quantity.of(110)}
    name = f"node-{number:05}"
    meta = ObjectMeta(name=name, labels={"kubernetes.io/hostname": name})
    return Node(metadata=meta, status=NodeStatus(capacity=room, allocatable=room))


def gpu_class() -> DeviceClass:
    selector = DeviceSelector(cel=CELDeviceSelector(expression=f'device.driver == "{DRIVER}"'))
    return DeviceClass(metadata=ObjectMeta(name=CLASS), spec=DeviceClassSpec(selectors=(selector,)))


def asking(*expressions: str) -> ResourceClaimSpec:
    selectors = tuple(DeviceSelector(cel=CELDeviceSelector(expression=each)) for each in expressions)
    exactly = ExactDeviceRequest(device_class_name=CLASS, selectors=selectors, allocation_mode="ExactCount", count=1)
    return ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="req-0", exactly=exactly),)))


def template(name: str, *expressions: str) -> ResourceClaimTemplate:
    spec = ResourceClaimTemplateSpec(spec=asking(*expressions))
    return ResourceClaimTemplate(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=spec)


def pod(name: str, template_name: str) -> Pod:
    entry = PodResourceClaim(name="gpu", resource_claim_template_name=template_name)
    uses = ResourceRequirements(claims=(ContainerClaim(name="gpu"),))
    spec = PodSpec(containers=(Container(name="c", image="pause", resources=uses),), resource_claims=(entry,))
    return Pod(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=spec)


def slice_of(number: int, name: str, **content: tuple[object, ...]) -> ResourceSlice:
    node_name = f"node-{number:05}"
    count = 2 if "shared_counters" in content or name == "partitions" else 1
    pool = ResourcePool(name=node_name, generation=1, resource_slice_count=count)
    spec = ResourceSliceSpec(driver=DRIVER, pool=pool, node_name=node_name, **content)  # type: ignore[arg-type]  # one of two
    return ResourceSlice(metadata=ObjectMeta(name=f"{node_name}-{name}"), spec=spec)


def holding(claim: ResourceClaim, number: int, device: str) -> ResourceClaim:
    result = DeviceRequestAllocationResult(request="req-0", driver=DRIVER, pool=f"node-{number:05}", device=device)
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))
    return replace(claim, status=ResourceClaimStatus(allocation=allocation))


@asynccontextmanager
async def cluster_of(nodes: int, slices: Sequence[ResourceSlice]) -> AsyncIterator[BenchCluster]:
    with TemporaryDirectory() as folder:
        async with open_bench_cluster(Path(folder)) as cluster:
            client = cluster.client
            await client.create(DEVICE_CLASS, gpu_class())
            for number in range(nodes):
                made = await client.create(NODE, node(number))
                made = await client.update(NODE, replace(made, spec=replace(made.spec, taints=())))
                await client.update(NODE, replace(made, status=node(number).status), subresource="status")
            for each in slices:
                await client.create(RESOURCE_SLICE, each)
            yield cluster


async def rest(cluster: BenchCluster) -> None:
    """Wait until nobody has anything to do."""
    await asyncio.sleep(0.2)
    while not cluster.scheduler.is_idle:  # noqa: ASYNC110 - who measures must not be woken by what is measured
        await asyncio.sleep(0.2)
    settle_memory()


def cpu_seconds() -> float:
    usage = getrusage(RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


# Partitions in a steady state


def partitions(number: int) -> list[ResourceSlice]:
    """A card of eight slots, and what can be made of it: eighths, quarters and halves in several layouts, and all."""
    counters = CounterSet(name="card", counters={f"slot-{slot}": Counter(value=Quantity.of(1)) for slot in range(8)})
    sizes = {1: 8, 2: 7, 3: 6, 4: 5, 6: 3, 8: 1}
    layouts = [(start, size) for size, places in sizes.items() for start in range(places)]
    devices = tuple(
        Device(
            name=f"part-{start}-{size}",
            attributes={"size": DeviceAttribute(int=size)},
            consumes_counters=(
                DeviceCounterConsumption(
                    counter_set="card",
                    counters={f"slot-{slot}": Counter(value=Quantity.of(1)) for slot in range(start, start + size)},
                ),
            ),
        )
        for start, size in layouts
    )
    return [
        slice_of(number, "counters", shared_counters=(counters,)),
        slice_of(number, "partitions", devices=devices),
    ]


async def steady_partitions(nodes: int, seconds: float) -> float:
    """Pods bound a second while each that is bound is deleted and followed by another."""
    slices = [each for number in range(nodes) for each in partitions(number)]
    async with cluster_of(nodes, slices) as cluster:
        client = cluster.client
        sizes = (1, 1, 1, 2, 2, 4)
        for size in set(sizes):
            made = template(f"size-{size}", f'device.attributes["{DRIVER}"].size == {size}')
            await client.create(RESOURCE_CLAIM_TEMPLATE, made)
        await rest(cluster)
        bound: asyncio.Queue[str] = asyncio.Queue()

        def note(change: Change[Pod]) -> None:
            if change.new is not None and change.new.spec.node_name and not (change.old and change.old.spec.node_name):
                bound.put_nowait(change.new.metadata.name)

        cluster.informers.get(POD).add_handler(note)
        numbers = iter(range(10**9))

        async def follow() -> None:
            while True:
                number = next(numbers)
                await client.create(POD, pod(f"pod-{number:07}", f"size-{sizes[number % len(sizes)]}"))
                gone = await bound.get()
                await client.delete(POD, ObjectName(gone, NAMESPACE), DeleteOptions(grace_period_seconds=0))

        async with asyncio.TaskGroup() as tasks:
            running = [tasks.create_task(follow()) for _ in range(AT_ONCE)]
            await asyncio.sleep(1.0)
            first, begun = next(numbers), time.perf_counter()
            await asyncio.sleep(seconds)
            last, ended = next(numbers), time.perf_counter()
            for each in running:
                each.cancel()
        return (last - first) / (ended - begun)


# The core alone


def settled_pod(number: int) -> tuple[Pod, ResourceClaim]:
    """A pod and its claim as the controllers leave them."""
    name, uid = f"pod-{number:05}", f"uid-{number}"
    waiting = pod(name, "gpus")
    named = PodStatus(resource_claim_statuses=(PodResourceClaimStatus(name="gpu", resource_claim_name=f"{name}-gpu"),))
    owner = OwnerReference(api_version="v1", kind="Pod", name=name, uid=uid, controller=True)
    meta = replace(waiting.metadata, uid=uid, resource_version="1")
    claim_meta = ObjectMeta(
        name=f"{name}-gpu", namespace=NAMESPACE, uid=f"claim-{number}", resource_version="1", owner_references=(owner,)
    )
    spec = replace(waiting.spec, scheduler_name="default-scheduler", priority=0)
    return replace(waiting, metadata=meta, spec=spec, status=named), ResourceClaim(metadata=claim_meta, spec=asking())


def core_alone(nodes: int, pods: int) -> float:
    """Pods decided and settled a second, with everything in memory and nobody to write to."""
    numbers = iter(range(10**9))
    state = SchedulerState((Profile(),), lambda: f"share-{next(numbers)}")
    moment = Moment(0.0, NOW)
    step(state, Changed(None, gpu_class()), moment)
    for number in range(nodes):
        step(state, Changed(None, node(number)), moment)
        devices = tuple(Device(name=f"gpu-{index}") for index in range(10))
        step(state, Changed(None, slice_of(number, "gpus", devices=devices)), moment)
        for index in range(5):
            meta = ObjectMeta(
                name=f"held-{number}-{index}", namespace=NAMESPACE, uid=f"held-{number}-{index}", resource_version="1"
            )
            claim = holding(ResourceClaim(metadata=meta, spec=asking()), number, f"gpu-{index}")
            step(state, Changed(None, claim), moment)
    waiting = [settled_pod(number) for number in range(pods)]
    begun = time.perf_counter()
    for one, claim in waiting:
        step(state, Changed(None, claim), moment)
        step(state, Changed(None, one), moment)
    for order in _orders(state, moment):
        _settle(state, order, moment)
    elapsed = time.perf_counter() - begun
    assert len(state.queue) == 0
    return pods / elapsed


def _orders(state: SchedulerState, moment: Moment) -> Iterator[Bind]:
    while (orders := schedule_next(state, moment)) is not None:
        for order in orders:
            assert isinstance(order, Bind)
            yield order


def _settle(state: SchedulerState, order: Bind, moment: Moment) -> None:
    """The server did as it was told, and tells of it."""
    written = []
    for write in order.writes:
        claim = write.claim
        status = replace(claim.status, allocation=write.allocation, reserved_for=(write.consumer,))
        written.append(replace(claim, metadata=replace(claim.metadata, resource_version="3"), status=status))
    step(state, Bound(order.pod.metadata.uid, tuple(written)), moment)
    placed = replace(order.pod, spec=replace(order.pod.spec, node_name=order.node_name))
    step(state, Changed(order.pod, placed), moment)
    for write, claim in zip(order.writes, written, strict=True):
        step(state, Changed(write.claim, claim), moment)


# Pods that cannot fit


class Waiting(NamedTuple):
    """What waiting in vain costs."""

    attempts_a_device: float
    cores: float


async def wait_in_vain(nodes: int, pods: int, groups: int, seconds: float) -> Waiting:
    """All devices are taken, and one is freed every ten milliseconds; each does for the pods of one group alone."""

    def devices(number: int) -> tuple[Device, ...]:
        group = DeviceAttribute(int=number % groups)
        return tuple(Device(name=f"gpu-{index}", attributes={"group": group}) for index in range(2))

    slices = [slice_of(number, "gpus", devices=devices(number)) for number in range(nodes)]
    async with cluster_of(nodes, slices) as cluster:
        client = cluster.client
        for group in range(groups):
            made = template(f"group-{group}", f'device.attributes["{DRIVER}"].group == {group}')
            await client.create(RESOURCE_CLAIM_TEMPLATE, made)
        held = []
        for number in range(nodes):
            for index in range(2):
                meta = ObjectMeta(name=f"held-{number}-{index}", namespace=NAMESPACE)
                claim = await client.create(RESOURCE_CLAIM, ResourceClaim(metadata=meta, spec=asking()))
                claim = holding(claim, number, f"gpu-{index}")
                held.append(await client.update(RESOURCE_CLAIM, claim, subresource="status"))
        for number in range(pods):
            await client.create(POD, pod(f"pod-{number:05}", f"group-{number % groups}"))
        await rest(cluster)
        await asyncio.sleep(12.0)  # until nobody backs off any more
        await rest(cluster)
        before, cpu, begun = cluster.attempts.count, cpu_seconds(), time.perf_counter()
        freed = 0
        clock = wire_clock()
        while (due := begun + freed * 0.01) < begun + seconds:
            await clock.sleep(max(0.0, due - time.perf_counter()))
            claim = held[(freed * 37) % len(held)]
            await client.update(RESOURCE_CLAIM, replace(claim, status=ResourceClaimStatus()), subresource="status")
            freed += 1
        elapsed, spent = time.perf_counter() - begun, cpu_seconds() - cpu
        await rest(cluster)
        return Waiting((cluster.attempts.count - before) / freed, spent / elapsed)
