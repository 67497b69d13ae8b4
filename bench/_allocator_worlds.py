"""Worlds for the figures of the allocator: families of puzzles in any size, and clusters of equal nodes."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from dray.allocator.cluster import Cluster
from dray.allocator.ids import ClaimUid
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dray.api.resource.claim import DeviceClaim, DeviceConstraint, ResourceClaim, ResourceClaimSpec
from dray.api.resource.device import Counter, CounterSet, Device, DeviceAttribute, DeviceCounterConsumption
from dray.api.resource.deviceclass import DeviceClass, DeviceClassSpec
from dray.api.resource.request import (
    CELDeviceSelector,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
)
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.values.quantity import Quantity

GPU, NIC = "gpu.example.com", "nic.example.com"
ROOT = "resource.kubernetes.io/pcieRoot"
NODE = "node-0"
MAX_DEVICES_IN_CLAIM, MAX_DEVICES_IN_SLICE, MAX_DRAWING_DEVICES_IN_SLICE, MAX_SETS_IN_SLICE = 32, 128, 64, 8

Puzzle = tuple[Cluster, list[ResourceClaim]]


def selector(expression: str) -> DeviceSelector:
    return DeviceSelector(cel=CELDeviceSelector(expression=expression))


CLASSES = [
    DeviceClass(
        metadata=ObjectMeta(name=name), spec=DeviceClassSpec(selectors=(selector(f'device.driver == "{driver}"'),))
    )
    for name, driver in (("gpu", GPU), ("nic", NIC))
]


def device(name: str, **attributes: str | int) -> Device:
    return Device(
        name=name,
        attributes={
            ROOT if key == "root" else key: DeviceAttribute(int=value)
            if isinstance(value, int)
            else DeviceAttribute(string=value)
            for key, value in attributes.items()
        },
    )


def pool(
    driver: str, name: str, devices: Sequence[Device], sets: Sequence[CounterSet] = (), node: str = NODE
) -> list[ResourceSlice]:
    """A pool on one node, split at the limits of the API."""
    size = MAX_DRAWING_DEVICES_IN_SLICE if sets else MAX_DEVICES_IN_SLICE
    parts = [devices[start : start + size] for start in range(0, len(devices), size)]
    set_parts = [sets[start : start + MAX_SETS_IN_SLICE] for start in range(0, len(sets), MAX_SETS_IN_SLICE)]
    edition = ResourcePool(name=name, generation=1, resource_slice_count=len(parts) + len(set_parts))
    specs = [ResourceSliceSpec(driver=driver, pool=edition, node_name=node, devices=tuple(part)) for part in parts]
    specs += [
        ResourceSliceSpec(driver=driver, pool=edition, node_name=node, shared_counters=tuple(part))
        for part in set_parts
    ]
    return [
        ResourceSlice(metadata=ObjectMeta(name=f"{node}-{name}-{index:03}"), spec=spec)
        for index, spec in enumerate(specs)
    ]


def wish(count: int = 1, kind: str = "gpu", *expressions: str) -> ExactDeviceRequest:
    return ExactDeviceRequest(
        device_class_name=kind,
        selectors=tuple(map(selector, expressions)),
        allocation_mode="ExactCount",
        count=count,
    )


def claim(number: int, wishes: Sequence[ExactDeviceRequest], *constraints: DeviceConstraint) -> ResourceClaim:
    requests = tuple(DeviceRequest(name=f"r{index}", exactly=each) for index, each in enumerate(wishes))
    return claim_of(number, requests, *constraints)


def claim_of(number: int, requests: tuple[DeviceRequest, ...], *constraints: DeviceConstraint) -> ResourceClaim:
    return ResourceClaim(
        metadata=ObjectMeta(name=f"claim-{number}", namespace="default", uid=f"uid-{number}"),
        spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests, constraints=constraints)),
    )


def claims_of_singles(wishes: Sequence[ExactDeviceRequest]) -> list[ResourceClaim]:
    """Requests for one device each, over as few claims as the API allows."""
    parts = [wishes[start : start + MAX_DEVICES_IN_CLAIM] for start in range(0, len(wishes), MAX_DEVICES_IN_CLAIM)]
    return [claim(number, part) for number, part in enumerate(parts)]


def split(count: int, *expressions: str, first: int = 0) -> list[ResourceClaim]:
    """`count` devices that satisfy the expressions, over as few claims as the API allows."""
    sizes = [min(MAX_DEVICES_IN_CLAIM, count - start) for start in range(0, count, MAX_DEVICES_IN_CLAIM)]
    return [claim(first + number, [wish(size, "gpu", *expressions)]) for number, size in enumerate(sizes)]


def puzzle(slices: list[ResourceSlice], claims: list[ResourceClaim]) -> Puzzle:
    return Cluster.of([Node(metadata=ObjectMeta(name=NODE))], slices, CLASSES), claims


MATCH = DeviceConstraint(match_attribute=ROOT)
DISTINCT = DeviceConstraint(distinct_attribute=ROOT)


def gpus(count: int, root: Callable[[int], int]) -> list[ResourceSlice]:
    return pool(GPU, "g", [device(f"gpu-{index:04}", root=f"r{root(index)}") for index in range(count)])


def nics(count: int, root: Callable[[int], int]) -> list[ResourceSlice]:
    return pool(NIC, "n", [device(f"nic-{index:04}", root=f"r{root(index)}") for index in range(count)])


def pairs(count: int, demand: int) -> Puzzle:
    slices = gpus(count, lambda index: index % 2) + nics(count, lambda index: index % 2)
    return puzzle(slices, [claim(number, [wish(), wish(1, "nic")], MATCH) for number in range(demand)])


def aligned(count: int) -> Puzzle:
    slices = gpus(count, lambda index: index) + nics(count, lambda index: index + count - 1)
    return puzzle(slices, [claim(0, [wish(), wish(1, "nic")], MATCH)])


def staircase(count: int, spare: int) -> Puzzle:
    """Request number i may use all devices but the last i; with fewer spare than none there is one too many."""
    slices = pool(GPU, "g", [device(f"gpu-{index:04}", idx=index) for index in range(count)])
    tops = [max(count - 2 + spare - number, 0) for number in range(count)]
    return puzzle(
        slices, claims_of_singles([wish(1, "gpu", f"device.attributes['{GPU}'].idx <= {top}") for top in tops])
    )


def cards(count: int) -> list[ResourceSlice]:
    """Cards of eight slots that can be cut into partitions of 1, 2, 4 and 8."""
    one = Counter(value=Quantity.of(1))
    sets = [CounterSet(name=f"g{card}", counters={f"m{slot}": one for slot in range(8)}) for card in range(count)]
    partitions = [
        Device(
            name=f"g{card}-{size}-{start}",
            attributes={"size": DeviceAttribute(int=size)},
            consumes_counters=(
                DeviceCounterConsumption(
                    counter_set=f"g{card}", counters={f"m{slot}": one for slot in range(start, start + size)}
                ),
            ),
        )
        for card in range(count)
        for size in (1, 2, 4, 8)
        for start in range(0, 8, size)
    ]
    return pool(GPU, "p", partitions, sets)


def partitions(count: int, *demands: tuple[int, int]) -> Puzzle:
    """Demands of (number, size) on cards."""
    claims = chain.from_iterable(
        split(number, f"device.attributes['{GPU}'].size == {size}", first=100 * index)
        for index, (number, size) in enumerate(demands)
    )
    return puzzle(cards(count), list(claims))


def chained_alternatives(requests: int) -> Puzzle:
    """Requests with six alternatives each, none of which a constraint allows."""
    options = tuple(
        DeviceSubRequest(name=f"s{index}", device_class_name="gpu", allocation_mode="ExactCount", count=8 - index)
        for index in range(6)
    )
    per_claim = 10
    nowhere = DeviceConstraint(distinct_attribute=f"{GPU}/nosuch")
    asked = tuple(DeviceRequest(name=f"r{index}", first_available=options) for index in range(requests))
    parts = [asked[start : start + per_claim] for start in range(0, requests, per_claim)]
    return puzzle(
        gpus(2 * requests, lambda index: index), [claim_of(number, part, nowhere) for number, part in enumerate(parts)]
    )


def hard_families(times: int) -> Iterator[tuple[str, Puzzle]]:
    """The families on which a plain search explodes, at `times` the devices of the largest recorded ones."""
    whole = MAX_DEVICES_IN_CLAIM
    yield "match-none", puzzle(gpus(128 * times, lambda i: i), [claim(0, [wish(16)], MATCH)])
    yield (
        "match-short",
        puzzle(gpus(120 * times, lambda i: i // 15), [claim(n, [wish(16)], MATCH) for n in range(times)]),
    )
    yield (
        "distinct-pigeonhole",
        puzzle(gpus(64 * times, lambda i: i % 7), [claim(n, [wish(8)], DISTINCT) for n in range(times)]),
    )
    yield "align-last", aligned(32 * times)
    yield "pairs-overflow", pairs(8 * times, 8 * times + 1)
    yield "identical-overflow", puzzle(gpus(31 * times, lambda i: 0), claims_of_singles([wish()] * (31 * times + 1)))
    yield "greedy-trap", staircase(16 * times, 1)
    yield "hall-violation", staircase(16 * times, 0)
    yield "mig-pack, fits", partitions(4 * times, (8 * times, 1), (3 * times, 8))
    yield "mig-pack, one too many", partitions(8 * times, (8 * times + 1, 1), (7 * times, 8))
    yield "mig-overflow", partitions(8 * times, (1, 1), (8 * times, 8))
    yield "mig-mixed-overflow", partitions(8 * times, (8 * times, 4), (16 * times, 2), (1, 1))
    yield "first-available-chain", chained_alternatives(5 * times)
    yield "large-take", puzzle(gpus(128 * times, lambda i: 0), [claim(n, [wish(whole)], MATCH) for n in range(times)])
    yield "last-group", puzzle(gpus(128 * times, lambda i: min(i // 14, 8)), [claim(0, [wish(16)], MATCH)])


def fleet(nodes: int, gpus_each: int, nics_each: int = 0) -> Cluster:
    """Equal nodes; every device has a serial number of its own."""
    slices: list[ResourceSlice] = []
    for number in range(nodes):
        name = f"node-{number:05}"
        devices = [
            device(f"gpu-{index}", uuid=f"GPU-{number:05}-{index}", model="h100", idx=index, root=f"pci{index // 2}")
            for index in range(gpus_each)
        ]
        slices += pool(GPU, name, devices, node=name)
        interfaces = [device(f"nic-{index}", mac=f"{number}:{index}", root=f"pci{index}") for index in range(nics_each)]
        slices += pool(NIC, name, interfaces, node=name) if interfaces else []
    names = [f"node-{number:05}" for number in range(nodes)]
    return Cluster.of([Node(metadata=ObjectMeta(name=name)) for name in names], slices, CLASSES)


def held(node: str, devices: Sequence[int]) -> tuple[ClaimUid, AllocationResult]:
    """A claim that holds GPUs of a node."""
    results = tuple(
        DeviceRequestAllocationResult(request="r", driver=GPU, pool=node, device=f"gpu-{index}") for index in devices
    )
    return ClaimUid(f"held-{node}"), AllocationResult(devices=DeviceAllocationResult(results=results))
