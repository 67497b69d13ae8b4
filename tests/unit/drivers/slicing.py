"""Pools as the slices that an API server would hold, for checks and for allocation."""

from __future__ import annotations

from collections.abc import Iterator

from dray.allocator.cluster import Cluster
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.device import CounterSet, Device
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.driver.devices import Pool
from dray.drivers.sim.catalog import Equipment

MAX_DEVICES, MAX_DRAWING_DEVICES, MAX_SETS = 128, 64, 8


def slice_pool(driver: str, pool: Pool, node: str) -> Iterator[ResourceSlice]:
    """Counters first, then devices, as many to a slice as may be."""
    is_drawing = any(device.consumes_counters or device.taints for device in pool.devices)
    size = MAX_DRAWING_DEVICES if is_drawing else MAX_DEVICES
    contents: list[tuple[tuple[Device, ...] | None, tuple[CounterSet, ...] | None]] = [
        *[(None, pool.counter_sets[at : at + MAX_SETS]) for at in range(0, len(pool.counter_sets), MAX_SETS)],
        *[(pool.devices[at : at + size], None) for at in range(0, len(pool.devices), size)],
    ]
    selector = pool.reachable_from if not isinstance(pool.reachable_from, str) else None
    for index, (devices, counters) in enumerate(contents):
        name = pool.name or node
        spec = ResourceSliceSpec(
            driver=driver,
            pool=ResourcePool(name=name, generation=1, resource_slice_count=len(contents)),
            node_name=None if selector else node,
            node_selector=selector,
            devices=devices,
            shared_counters=counters,
        )
        yield ResourceSlice(metadata=ObjectMeta(name=f"{index:05x}-{driver}-{name}"), spec=spec)


def slices_of(equipment: Equipment, *nodes: str) -> list[ResourceSlice]:
    own = [each for node in nodes for driver, pool in equipment.pools(node) for each in slice_pool(driver, pool, node)]
    return own + [each for driver, pool in equipment.shared_pools() for each in slice_pool(driver, pool, nodes[0])]


def cluster_of(*fleets: tuple[Equipment, tuple[str, ...]]) -> Cluster:
    """Nodes with their equipment, and the classes that it brings along."""
    cluster = Cluster()
    for equipment, names in fleets:
        for index, name in enumerate(names):
            cluster.put_node(Node(metadata=ObjectMeta(name=name, labels=equipment.labels(index))))
        for each in equipment.classes():
            cluster.put_class(each)
        for one in slices_of(equipment, *names):
            cluster.put_slice(one)
    return cluster
