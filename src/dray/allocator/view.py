"""What one node sees: its pools in search order, and all devices it may choose from, each at its place.

Places number the devices of usable pools in the order of the search. Everything the search does is about places; names
come back only in the result.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from dray.allocator.counterbook import CounterBook, write_counter_book
from dray.allocator.ids import DeviceId
from dray.allocator.interning import Interner
from dray.allocator.nodematch import NodeSelectorError, is_reachable
from dray.allocator.outcome import Failed, FailureCode
from dray.allocator.pools import Pool, PoolRecord, PoolState, pool_for_node, search_order
from dray.allocator.slices import PreparedSlice, Reads
from dray.api.core.node import Node
from dray.api.resource.device import Device

__all__ = ["NodeView", "view_node"]

OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
"""What a node declares if it can leave out calls to drivers that say they do not need them."""


@dataclass(slots=True, eq=False)
class NodeView:
    """The pools and devices of one node, as published; what is taken of them stands in the occupancy.

    `unreachable` are places of devices that their own slice keeps from this node, `floating` the pools without a slice
    that belongs to one node, `owned_places` the devices of all others. Valid until a slice of one of the pools, or the
    node itself, changes; then it is replaced.
    """

    node: Node
    records: tuple[PoolRecord, ...]
    pools: tuple[Pool, ...]
    failure: Failed | None = None
    devices: tuple[Device, ...] = field(init=False)
    unreachable: int = field(init=False, default=0)
    floating: tuple[PoolRecord, ...] = field(init=False)
    owned_places: int = field(init=False)
    _starts: tuple[int, ...] = field(init=False)
    _slices: tuple[tuple[int, PreparedSlice], ...] = field(init=False)
    _counters: CounterBook | None = field(init=False, default=None)
    _has_counters: bool = field(init=False)
    _profiles: dict[Reads, int] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        starts: list[int] = []
        slices: list[tuple[int, PreparedSlice]] = []
        devices: list[Device] = []
        for number, pool in enumerate(self.pools):
            for prepared in pool.slices:
                starts.append(len(devices))
                slices.append((number, prepared))
                if prepared.source.spec.per_device_node_selection:
                    self._shut_out(len(devices), prepared)
                devices.extend(prepared.devices)
        self.devices = tuple(devices)
        self._starts = tuple(starts)
        self._slices = tuple(slices)
        self._has_counters = any(pool.counter_sets for pool in self.pools)
        self.floating = tuple(record for record in self.records if record.is_floating)
        self.owned_places = (1 << len(devices)) - 1
        for places, record in zip(self.pool_places, self.records, strict=True) if self.floating else ():
            if record.is_floating:
                self.owned_places &= ~places

    def _shut_out(self, start: int, prepared: PreparedSlice) -> None:
        for place, device in enumerate(prepared.devices, start):
            if not is_reachable(device, self.node):
                self.unreachable |= 1 << place

    @property
    def segments(self) -> Iterable[tuple[int, int, PreparedSlice]]:
        """The slices in search order: first place, number of the pool, slice."""
        return ((start, pool, prepared) for start, (pool, prepared) in zip(self._starts, self._slices, strict=True))

    @property
    def pool_places(self) -> tuple[int, ...]:
        """The places of each pool's devices, in the order of `pools`."""
        places = [0] * len(self.pools)
        for start, number, prepared in self.segments:
            places[number] |= ((1 << len(prepared.devices)) - 1) << start
        return tuple(places)

    @property
    def counters(self) -> CounterBook | None:
        """The counters of the pools; None if they have none."""
        if self._has_counters and self._counters is None:
            self._counters = write_counter_book(self.pools)
        return self._counters

    @property
    def supports_optional_operations(self) -> bool:
        """Whether devices that skip calls of the node agent may be used here."""
        return OPTIONAL_NODE_OPERATIONS in self.node.status.declared_features

    @property
    def inoperable(self) -> int:
        """Places of devices that need a node to leave out calls, which this one does not offer."""
        if self.supports_optional_operations:
            return 0
        mask = 0
        for start, _, prepared in self.segments:
            if prepared.source.spec.skip_node_operations:
                mask |= ((1 << len(prepared.devices)) - 1) << start
        return mask

    @property
    def has_invalid_pool(self) -> bool:
        """Whether a pool the node sees contradicts itself."""
        return any(pool.state is PoolState.INVALID for pool in self.pools)

    def owned_counters(self, remaining: tuple[int, ...], groups: tuple[int, ...]) -> Hashable:
        """What is left of counters, and the states of counter sets, in pools that belong to nodes."""
        book = self.counters
        if book is None:
            return None
        owned = [counter for counter, (pool, _, _) in enumerate(book.names) if self.records[pool] not in self.floating]
        sets = sorted({book.set_of[counter] for counter in owned}) if groups else ()
        return tuple([remaining[counter] for counter in owned]), tuple([groups[number] for number in sets])

    def kinds(self, reads: Reads, interner: Interner) -> tuple[int, ...]:
        """A number for each device; devices of one number look alike to a decision that reads `reads`."""
        numbers = (number for _, _, prepared in self.segments for number in prepared.kinds(reads, interner))
        return tuple(-1 - number if self.unreachable >> place & 1 else number for place, number in enumerate(numbers))

    def slice_at(self, place: int) -> PreparedSlice:
        """The slice that publishes the device at a place."""
        return self._slices[bisect_right(self._starts, place) - 1][1]

    def device_id(self, place: int) -> DeviceId:
        """The name of the device at a place."""
        pool = self.slice_at(place).pool
        return DeviceId(pool.driver, pool.name, self.devices[place].name)

    def profile(self, reads: Reads, interner: Interner) -> int:
        """The number of this node's model: nodes of one number look alike to a decision that reads `reads`.

        Names of nodes, pools and devices are no part of it, only their order.
        """
        known = self._profiles.get(reads)
        if known is None:
            known = self._profiles[reads] = interner.number(self._profile_key(reads, interner))
        return known

    def _profile_key(self, reads: Reads, interner: Interner) -> Hashable:
        pools = tuple(
            (
                pool.state,
                pool.id.driver,
                tuple(prepared.model(reads, interner) for prepared in pool.slices),
                _counters_key(pool),
            )
            for pool in self.pools
        )
        return "node", pools, self.unreachable, self.supports_optional_operations, self.failure


def _counters_key(pool: Pool) -> Hashable:
    return tuple(
        (each.name, tuple(sorted((name, counter.value.nanos) for name, counter in each.counters.items())))
        for each in pool.counter_sets
    )


def view_node(node: Node, records: Iterable[PoolRecord]) -> NodeView:
    """Gather what a node sees of the given pools."""
    kept: list[tuple[PoolRecord, Pool]] = []
    try:
        for record in records:
            pool = pool_for_node(record, node)
            if pool is not None:
                kept.append((record, pool))
        pools = search_order(pool for _, pool in kept)
        by_id = {pool.id: record for record, pool in kept}
        return NodeView(node, tuple(by_id[pool.id] for pool in pools), pools)
    except NodeSelectorError as error:
        failure = Failed(FailureCode.BAD_NODE_SELECTOR, f"gather pool information: {error}")
        return NodeView(node, (), (), failure)
