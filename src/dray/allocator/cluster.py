"""The state of a cluster as allocation sees it: nodes, slices, classes, what is taken, and what follows from them.

Everything worked out follows from the facts, and is worked out again only when a fact it rests on changes: a slice
touches the nodes that see its pool, a class the shapes that use it, a claim that takes or releases devices the nodes
that see those. Objects are never changed, only replaced. One owner; not for use by several threads at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count

from dray.allocator.expressions import Language
from dray.allocator.ids import ClaimUid, PoolId, claim_ref, claim_uid
from dray.allocator.interning import Interner
from dray.allocator.language import CelLanguage
from dray.allocator.ledger import Ledger, Mark
from dray.allocator.occupancy import Occupancy, observe
from dray.allocator.partition import Partition
from dray.allocator.plans import Plans
from dray.allocator.poolindex import PoolIndex
from dray.allocator.pools import PoolRecord
from dray.allocator.slices import PreparedSlice, Reads
from dray.allocator.view import NodeView, view_node
from dray.api.core.node import Node
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourceSlice
from dray.errors import InternalError

__all__ = ["Cluster"]

_REMEMBERED_PARTITIONS = 16
"""Partitions kept up to date: sets of properties that decisions read. Others are made anew when needed."""


class Cluster:
    """Facts, and what follows from them. Putting a node, slice or class of a known name replaces it.

    `names` are the nodes by number, those that are gone included.
    """

    def __init__(self, language: Language | None = None) -> None:
        self.names: list[str] = []
        self.ledger = Ledger()
        self._interner = Interner()
        self.plans = Plans(language or CelLanguage(), self._interner)
        self._nodes: dict[str, Node] = {}
        self._numbers: dict[str, int] = {}
        self._pools = PoolIndex()
        self._views: dict[str, NodeView] = {}
        self._occupancies: dict[str, tuple[tuple[int, ...], Occupancy]] = {}
        self._latest_version = 0
        self._class_numbers = count()
        self._partitions: dict[Reads, Partition] = {}

    @classmethod
    def of(
        cls,
        nodes: Iterable[Node] = (),
        slices: Iterable[ResourceSlice] = (),
        classes: Iterable[DeviceClass] = (),
        claims: Iterable[ResourceClaim] = (),
    ) -> Cluster:
        """A cluster of these objects. Claims without an allocation hold nothing."""
        cluster = cls()
        for node in nodes:
            cluster.put_node(node)
        for device_class in classes:
            cluster.put_class(device_class)
        for each in slices:
            cluster.put_slice(each)
        for claim in claims:
            if claim.status.allocation is not None:
                cluster.take(claim_uid(claim), claim.status.allocation, claim_ref(claim))
        cluster.ledger.forget_history()
        return cluster

    def put_node(self, node: Node) -> None:
        """Add a node or replace it. Only labels and declared features matter here."""
        name = node.metadata.name
        self._nodes[name] = node
        if name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        self._forget(name)

    def remove_node(self, name: str) -> None:
        """Forget a node. Its slices stay until they are removed."""
        self._nodes.pop(name, None)
        self._forget(name)

    def put_class(self, device_class: DeviceClass) -> None:
        """Add a class or replace it."""
        self.plans.classes[device_class.metadata.name] = device_class

    def remove_class(self, name: str) -> None:
        """Forget a class."""
        self.plans.classes.pop(name, None)

    def find_class(self, name: str) -> DeviceClass | None:
        """The class of that name, if there is one."""
        return self.plans.classes.get(name)

    def put_slice(self, source: ResourceSlice) -> None:
        """Add a slice or replace it."""
        self.remove_slice(source.metadata.name)
        self._forget_views(self._pools.put(PreparedSlice(source)))

    def remove_slice(self, name: str) -> None:
        """Forget a slice."""
        record = self._pools.find(name)
        if record is not None:
            self._forget_views(record)
            self._pools.remove(name)

    def take(self, claim: ClaimUid, allocation: AllocationResult, ref: str = "") -> None:
        """Let a claim hold what was allocated to it. Explanations name the claim by `ref`."""
        self._touch(self.ledger.take(claim, allocation, ref))

    def release(self, claim: ClaimUid) -> None:
        """Let a claim hold nothing any more."""
        self._touch(self.ledger.release(claim))

    def undo(self, mark: Mark) -> None:
        """Go back to what was taken at the time of `ledger.mark()`. Facts stay as they are."""
        self._touch(self.ledger.undo(mark))

    def view(self, node: str) -> NodeView | None:
        """What a node sees; None if there is no such node."""
        known = self._views.get(node)
        if known is None and node in self._nodes:
            known = self._views[node] = view_node(self._nodes[node], self._pools.seen_from(node))
            self._occupancies.pop(node, None)
        return known

    def view_number(self, number: int) -> NodeView:
        """What the node of a number sees. Numbers are those of `names`."""
        view = self.view(self.names[number])
        if view is None:
            raise InternalError(f"node {self.names[number]} is gone")
        return view

    def occupancy(self, view: NodeView) -> Occupancy:
        """What is taken of what a node sees."""
        versions = tuple([record.version for record in view.records])
        node = view.node.metadata.name
        known = self._occupancies.get(node)
        if known is not None and known[0] == versions:
            return known[1]
        occupancy = observe(view, self.ledger)
        self._occupancies[node] = (versions, occupancy)
        return occupancy

    def partition(self, reads: Reads) -> Partition:
        """The nodes by what decisions that read `reads` can tell apart."""
        known = self._partitions.get(reads)
        if known is None:
            if len(self._partitions) >= _REMEMBERED_PARTITIONS:
                self._partitions.pop(next(iter(self._partitions)))
            known = self._partitions[reads] = Partition(reads, self._interner, self._class_numbers, self._look)
            known.stale.update(self._numbers[name] for name in self._nodes)
        return known

    def _look(self, number: int) -> tuple[NodeView, Occupancy] | None:
        view = self.view(self.names[number])
        return None if view is None else (view, self.occupancy(view))

    def _forget(self, node: str) -> None:
        """What a node sees is to be worked out anew."""
        self._views.pop(node, None)
        self._mark_stale(node)

    def _mark_stale(self, node: str) -> None:
        number = self._numbers.get(node)
        if number is not None:
            for partition in self._partitions.values():
                partition.stale.add(number)

    def _forget_views(self, record: PoolRecord) -> None:
        """A pool looks different now, to all nodes that have a slice of it and, if it is spread, to all others."""
        self._renew(record)
        for node in list(self._nodes) if record.is_spread else record.owners:
            self._forget(node)

    def _renew(self, record: PoolRecord) -> None:
        """Give the pool a version that no pool ever had, even one that went and came back."""
        self._latest_version += 1
        record.version = self._latest_version

    def _touch(self, pools: Iterable[PoolId]) -> None:
        for pool in pools:
            record = self._pools.get(pool)
            if record is not None:
                self._renew(record)
                # Classes know pools without owners by their version; nodes that see part of an owned pool are as one.
                for node in self._nodes if record.is_spread and record.owners else record.owners:
                    self._mark_stale(node)
