"""Pools as the slices that an API server would hold, for checks and for allocation."""

from __future__ import annotations

from msgspec.structs import replace

from dray.allocator.cluster import Cluster
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.slice import ResourceSlice
from dray.driver.devices import Devices, Pool, Reach
from dray.driver.slices import Publisher, check_devices, list_pools, plan_slice_writes
from dray.drivers.sim.catalog import Equipment


def slice_pool(driver: str, pool: Pool, node: str) -> list[ResourceSlice]:
    """As the SDK publishes a pool for the first time."""
    is_shared = not isinstance(pool.reachable_from, Reach)
    publisher = (
        Publisher(driver=driver) if is_shared else Publisher(driver=driver, node_name=node, node_uid=f"uid-{node}")
    )
    plan = plan_slice_writes(publisher, list_pools(Devices((pool,)), node), [], {})
    assert check_devices({pool.name or node: pool}) == []
    return [
        replace(write.resource, metadata=ObjectMeta(name=f"{write.resource.metadata.generate_name}{write.pool}"))
        for write in plan.creates
    ]


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
