"""Pools as one node sees them: newest edition, complete or not, valid or not, in the order in which they are searched.

A driver replaces a pool slice by slice. Until every slice of the newest edition is there the pool is incomplete:
nothing is taken from it, and who wants *all* devices has to wait. A pool that contradicts itself is invalid.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from dray.allocator.ids import PoolId
from dray.allocator.nodematch import is_reachable
from dray.allocator.slices import PreparedSlice
from dray.api.core.node import Node
from dray.api.resource.device import CounterSet, Device

__all__ = ["Pool", "PoolRecord", "PoolState", "pool_for_node", "search_order"]


class PoolState(StrEnum):
    """Whether devices can be taken from a pool. The text is how messages name the state."""

    USABLE = "usable"
    INCOMPLETE = "being updated"
    INVALID = "invalid"


@dataclass(slots=True, eq=False)
class PoolRecord:
    """All slices of one pool, by name, in the order in which they came to be known.

    `version` is a new one whenever slices of the pool change or its devices change hands; whoever remembers something
    about them compares it.
    """

    id: PoolId
    slices: dict[str, PreparedSlice] = field(default_factory=dict)
    version: int = 0

    @property
    def is_spread(self) -> bool:
        """Whether some slice of the pool may be usable from several nodes."""
        return any(not prepared.source.spec.node_name for prepared in self.slices.values())

    @property
    def is_floating(self) -> bool:
        """Whether no slice of the pool belongs to one node."""
        return not self.owners

    @property
    def owners(self) -> set[str]:
        """The nodes that slices of the pool belong to."""
        return {name for prepared in self.slices.values() if (name := prepared.source.spec.node_name)}


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """A pool as one node sees it.

    `slices` hold the devices to choose from, by name of the slice; `outside` are slices of other nodes, whose devices
    draw on the same counters. Both are empty unless the pool is usable. `defect` says what makes it invalid.
    """

    id: PoolId
    state: PoolState
    slices: tuple[PreparedSlice, ...] = ()
    outside: tuple[PreparedSlice, ...] = ()
    counter_sets: tuple[CounterSet, ...] = ()
    defect: str = ""


def pool_for_node(record: PoolRecord, node: Node) -> Pool | None:
    """Work out what the node sees of a pool; None for nothing, or only an edition that was replaced elsewhere.

    Raises `NodeSelectorError` if a selector that has to be looked at is malformed.
    """
    seen = [prepared for prepared in record.slices.values() if _is_relevant(prepared, node)]
    if not seen:
        return None
    generation = max(prepared.source.spec.pool.generation for prepared in seen)
    newest = [prepared for prepared in seen if prepared.source.spec.pool.generation == generation]
    wanted = newest[0].source.spec.pool.resource_slice_count
    others: list[PreparedSlice] = []
    # With all announced slices here nobody looks elsewhere, be there a newer edition or not.
    if len(newest) != wanted:
        generations = [prepared.source.spec.pool.generation for prepared in record.slices.values()]
        if max(generations) > generation:
            return None
        if generations.count(generation) != wanted:
            return Pool(record.id, PoolState.INCOMPLETE)
        here = {prepared.name for prepared in newest}
        same = (each for each in record.slices.values() if each.source.spec.pool.generation == generation)
        others = [prepared for prepared in same if prepared.name not in here]
    return _complete_pool(record.id, newest, others)


def _is_relevant(prepared: PreparedSlice, node: Node) -> bool:
    spec = prepared.source.spec
    if spec.node_name:
        return spec.node_name == node.metadata.name
    if is_reachable(spec, node):
        return True
    if not spec.per_device_node_selection:
        return False
    reachable = [is_reachable(device, node) for device in prepared.devices]
    return any(reachable)


def _complete_pool(pool: PoolId, newest: list[PreparedSlice], others: list[PreparedSlice]) -> Pool:
    newest = sorted(newest, key=lambda prepared: prepared.name)
    slices = tuple(prepared for prepared in newest if not prepared.counter_sets)
    outside = tuple(prepared for prepared in others if not prepared.counter_sets)
    counter_sets = tuple(each for prepared in (*newest, *others) for each in prepared.counter_sets)
    defect = _duplicate_device(slices) or _counter_defect((*slices, *outside), counter_sets)
    if defect:
        return Pool(pool, PoolState.INVALID, defect=defect)
    return Pool(pool, PoolState.USABLE, slices, outside, counter_sets)


def _duplicate_device(slices: Iterable[PreparedSlice]) -> str:
    known: set[str] = set()
    for prepared in slices:
        for device in prepared.devices:
            if device.name in known:
                return f"duplicate device name {device.name}"
            known.add(device.name)
    return ""


def _counter_defect(slices: Iterable[PreparedSlice], counter_sets: Sequence[CounterSet]) -> str:
    sets: dict[str, CounterSet] = {}
    for counter_set in counter_sets:
        if counter_set.name in sets:
            return f"duplicate counter set name {counter_set.name}"
        sets[counter_set.name] = counter_set
    for prepared in slices:
        for device in prepared.devices:
            if device.consumes_counters and (defect := _consumption_defect(device, sets)):
                return defect
    return ""


def _consumption_defect(device: Device, sets: dict[str, CounterSet]) -> str:
    for drawn in device.consumes_counters:
        counter_set = sets.get(drawn.counter_set)
        if counter_set is None:
            return f"counter set {drawn.counter_set} not found"
        for name in drawn.counters:
            if name not in counter_set.counters:
                return f"counter {name} not found in counter set {drawn.counter_set}"
    return ""


def search_order(pools: Iterable[Pool]) -> tuple[Pool, ...]:
    """Order pools for the search: those without binding conditions first, each group by driver and name."""
    return tuple(sorted(pools, key=lambda pool: (any(each.has_binding_conditions for each in pool.slices), pool.id)))
