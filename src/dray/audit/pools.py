"""Which pools a node sees, whether they can be used, and what they offer it.

Of the slices that are for the node the newest generation counts. The pool is complete if those, or with them the slices
of that generation on other nodes, are as many as it announces; it is valid if names are unique and every counter drawn
on exists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from dray.api.core.node import Node
from dray.api.resource.device import CounterSet
from dray.api.resource.slice import ResourceSlice
from dray.audit.nodes import is_usable_from, placement
from dray.audit.world import DeviceKey, PoolKey, Published

__all__ = ["Offer", "PoolState", "SeenPool", "complete_pools", "published_devices", "see_offer"]


class PoolState(StrEnum):
    """Whether devices may be taken from a pool."""

    USABLE = "usable"
    INCOMPLETE = "incomplete"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class SeenPool:
    """A pool as a node sees it: slices for the node, those of the same generation elsewhere, and its counter sets."""

    key: PoolKey
    state: PoolState
    here: tuple[ResourceSlice, ...]
    elsewhere: tuple[ResourceSlice, ...]

    @property
    def counter_sets(self) -> list[CounterSet]:
        """All counter sets of the pool."""
        return [each for source in (*self.here, *self.elsewhere) for each in source.spec.shared_counters or ()]

    @property
    def devices(self) -> list[Published]:
        """All devices of the pool, on whatever node."""
        return [*published_devices(self.here), *published_devices(self.elsewhere)]


@dataclass(frozen=True, slots=True)
class Offer:
    """What a node is offered: all pools it sees, and the devices that may be allocated on it."""

    pools: tuple[SeenPool, ...]
    devices: tuple[Published, ...]


def _pool_key(source: ResourceSlice) -> PoolKey:
    return PoolKey(source.spec.driver, source.spec.pool.name)


def _by_pool(slices: Iterable[ResourceSlice]) -> list[tuple[PoolKey, list[ResourceSlice]]]:
    """Slices by their pool, pools by driver and name."""
    found: dict[PoolKey, list[ResourceSlice]] = {}
    for source in slices:
        found.setdefault(_pool_key(source), []).append(source)
    return sorted(found.items())


def published_devices(sources: Iterable[ResourceSlice]) -> Iterator[Published]:
    """The devices of some slices, in order."""
    for source in sources:
        driver, pool = _pool_key(source)
        for device in source.spec.devices or ():
            yield Published(DeviceKey(driver, pool, device.name), source, device)


def see_offer(slices: Iterable[ResourceSlice], node: Node) -> Offer:
    """All pools of which a node sees something that is not known to be replaced, and what usable ones offer."""
    seen = (_see_pool(key, sources, node) for key, sources in _by_pool(slices))
    pools = tuple(pool for pool in seen if pool is not None)
    devices = [
        published
        for pool in pools
        if pool.state is PoolState.USABLE
        for published in published_devices(pool.here)
        if not published.source.spec.per_device_node_selection or is_usable_from(placement(published), node)
    ]
    return Offer(pools, tuple(devices))


def _see_pool(key: PoolKey, slices: Sequence[ResourceSlice], node: Node) -> SeenPool | None:
    relevant = [source for source in slices if _is_relevant(source, node)]
    if not relevant:
        return None
    newest = max(source.spec.pool.generation for source in relevant)
    here = [source for source in relevant if source.spec.pool.generation == newest]
    announced = here[0].spec.pool.resource_slice_count
    if len(here) == announced:
        return _judged(key, here, [])
    if any(source.spec.pool.generation > newest for source in slices):
        return None
    names = {source.metadata.name for source in here}
    same = [source for source in slices if source.spec.pool.generation == newest]
    elsewhere = [source for source in same if source.metadata.name not in names]
    if len(same) != announced:
        return SeenPool(key, PoolState.INCOMPLETE, tuple(here), tuple(elsewhere))
    return _judged(key, here, elsewhere)


def _is_relevant(source: ResourceSlice, node: Node) -> bool:
    spec = source.spec
    if spec.node_name or not spec.per_device_node_selection:
        return is_usable_from(spec, node)
    return is_usable_from(spec, node) or any(is_usable_from(device, node) for device in spec.devices or ())


def _judged(key: PoolKey, here: Sequence[ResourceSlice], elsewhere: Sequence[ResourceSlice]) -> SeenPool:
    pool = SeenPool(
        key, PoolState.USABLE, tuple(sorted(here, key=lambda source: source.metadata.name)), tuple(elsewhere)
    )
    return pool if _is_valid(pool) else SeenPool(key, PoolState.INVALID, pool.here, pool.elsewhere)


def _is_valid(pool: SeenPool) -> bool:
    names = [published.device.name for published in published_devices(pool.here)]
    set_names = [counter_set.name for counter_set in pool.counter_sets]
    known = {(counter_set.name, counter) for counter_set in pool.counter_sets for counter in counter_set.counters}
    drawn = {
        (consumption.counter_set, counter)
        for published in pool.devices
        for consumption in published.device.consumes_counters
        for counter in consumption.counters
    }
    drawn_sets = {
        consumption.counter_set for published in pool.devices for consumption in published.device.consumes_counters
    }
    return (
        len(set(names)) == len(names)
        and len(set(set_names)) == len(set_names)
        and drawn <= known
        and drawn_sets <= set(set_names)
    )


def complete_pools(slices: Iterable[ResourceSlice]) -> list[SeenPool]:
    """All pools of a cluster of which the newest generation is complete and valid, whatever node they are for."""
    pools = []
    for key, sources in _by_pool(slices):
        newest = max(source.spec.pool.generation for source in sources)
        current = [source for source in sources if source.spec.pool.generation == newest]
        pool = _judged(key, current, ())
        if len(current) == current[0].spec.pool.resource_slice_count and pool.state is PoolState.USABLE:
            pools.append(pool)
    return pools
