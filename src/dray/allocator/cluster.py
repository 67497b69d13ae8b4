"""The state of a cluster as allocation sees it: nodes, slices, classes, what is taken, and what follows from them.

Everything worked out follows from the facts, and is worked out again only when a fact it rests on changes: a slice
touches the nodes that see its pool, a class the shapes that use it, a claim that takes or releases devices the nodes
that see those. Objects are never changed, only replaced. One owner; not for use by several threads at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count

import msgspec

from dray.allocator.arena import Arena, build_arena
from dray.allocator.expressions import Language
from dray.allocator.ids import ClaimUid, PoolId, claim_ref, claim_uid
from dray.allocator.interning import Interner
from dray.allocator.language import CelLanguage
from dray.allocator.ledger import Ledger, Mark
from dray.allocator.matching import Matcher
from dray.allocator.occupancy import Occupancy, observe
from dray.allocator.outcome import NodeVerdict
from dray.allocator.partition import Partition
from dray.allocator.pools import PoolRecord
from dray.allocator.requests import Shape, shape_claims
from dray.allocator.slices import PreparedSlice, Reads
from dray.allocator.view import NodeView, view_node
from dray.api.core.node import Node
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.api.resource.slice import ResourceSlice
from dray.errors import InternalError

__all__ = ["Cluster", "Plan"]

_REMEMBERED_SHAPES = 1024
"""Shapes of claims that are kept; beyond that all are worked out anew. A cluster has a few per pod template."""

_REMEMBERED_ARENAS = 512
"""Arenas kept for one shape: models of nodes that it was tried on."""


_REMEMBERED_VERDICTS = 65_536
"""Verdicts kept for one shape: classes of nodes in their states."""

_REMEMBERED_PARTITIONS = 16
"""Partitions kept up to date: sets of properties that decisions read. Others are made anew when needed."""


@dataclass(slots=True, eq=False)
class Plan:
    """What was worked out about claims of one shape: what they read of devices, and an arena for each model of node."""

    shape: Shape
    reads: Reads
    arenas: dict[int, Arena] = field(default_factory=dict)
    verdicts: dict[Hashable, NodeVerdict] = field(default_factory=dict)

    def remember(self, key: Hashable, verdict: NodeVerdict) -> None:
        """Keep how a class of nodes fares; `key` says in which state."""
        if len(self.verdicts) >= _REMEMBERED_VERDICTS:
            self.verdicts.clear()
        self.verdicts[key] = verdict


class Cluster:
    """Facts, and what follows from them. Putting a node, slice or class of a known name replaces it."""

    def __init__(self, language: Language | None = None) -> None:
        self.interner = Interner()
        self.matcher = Matcher(language or CelLanguage(), self.interner)
        self.ledger = Ledger()
        self._nodes: dict[str, Node] = {}
        self._classes: dict[str, DeviceClass] = {}
        self._slices: dict[str, PreparedSlice] = {}
        self._pools: dict[PoolId, PoolRecord] = {}
        self._pools_of: dict[str, dict[PoolId, PoolRecord]] = {}
        self._spread: dict[PoolId, PoolRecord] = {}
        self._views: dict[str, NodeView] = {}
        self._occupancies: dict[str, tuple[tuple[int, ...], Occupancy]] = {}
        self._plans: dict[Hashable, Plan] = {}
        self._latest_version = 0
        self._class_numbers = count()
        self._numbers: dict[str, int] = {}
        self._partitions: dict[Reads, Partition] = {}
        self.names: list[str] = []

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
        self._classes[device_class.metadata.name] = device_class

    def remove_class(self, name: str) -> None:
        """Forget a class."""
        self._classes.pop(name, None)

    def find_class(self, name: str) -> DeviceClass | None:
        """The class of that name, if there is one."""
        return self._classes.get(name)

    def put_slice(self, source: ResourceSlice) -> None:
        """Add a slice or replace it."""
        self.remove_slice(source.metadata.name)
        prepared = PreparedSlice(source)
        self._slices[prepared.name] = prepared
        record = self._pools.get(prepared.pool)
        if record is None:
            record = self._pools[prepared.pool] = PoolRecord(prepared.pool)
        record.slices[prepared.name] = prepared
        node_name = source.spec.node_name
        if node_name:
            self._pools_of.setdefault(node_name, {})[prepared.pool] = record
        else:
            self._spread[prepared.pool] = record
        self._forget_views(record)

    def remove_slice(self, name: str) -> None:
        """Forget a slice."""
        prepared = self._slices.pop(name, None)
        if prepared is None:
            return
        record = self._pools[prepared.pool]
        self._forget_views(record)
        del record.slices[name]
        node_name = prepared.source.spec.node_name
        if not record.slices:
            del self._pools[record.id]
        if node_name and not any(each.source.spec.node_name == node_name for each in record.slices.values()):
            del self._pools_of[node_name][record.id]
        if not record.is_spread:
            self._spread.pop(record.id, None)

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
            records = {**self._pools_of.get(node, {}), **self._spread}
            known = self._views[node] = view_node(self._nodes[node], records.values())
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

    def plan(self, claims: Sequence[ResourceClaim]) -> Plan:
        """What was worked out about claims that ask for the same."""
        key = tuple([_claim_key(claim) for claim in claims])
        known = self._plans.get(key)
        if known is not None and all(self._classes.get(name) is each for name, each in known.shape.classes):
            return known
        if len(self._plans) >= _REMEMBERED_SHAPES:
            self._plans.clear()
        shape = shape_claims(claims, self.find_class)
        plan = self._plans[key] = Plan(shape, self.matcher.shape_reads(shape))
        return plan

    def arena(self, plan: Plan, view: NodeView) -> Arena:
        """The problem that claims of a shape pose on nodes like this one."""
        profile = view.profile(plan.reads, self.interner)
        known = plan.arenas.get(profile)
        if known is None:
            if len(plan.arenas) >= _REMEMBERED_ARENAS:
                plan.arenas.clear()
            known = plan.arenas[profile] = build_arena(plan.shape, view, self.matcher)
        return known

    def partition(self, reads: Reads) -> Partition:
        """The nodes by what decisions that read `reads` can tell apart."""
        known = self._partitions.get(reads)
        if known is None:
            if len(self._partitions) >= _REMEMBERED_PARTITIONS:
                self._partitions.pop(next(iter(self._partitions)))
            known = self._partitions[reads] = Partition(reads, self.interner, self._class_numbers, self._look)
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


def _claim_key(claim: ResourceClaim) -> Hashable:
    """Equal for claims that ask for the same, whatever their names and configuration."""
    devices = claim.spec.devices
    key = (devices.requests, devices.constraints)
    try:
        hash(key)
    except TypeError:  # a request for capacity holds a mapping
        return tuple(_request_key(request) for request in devices.requests or ()), devices.constraints
    return key


def _request_key(request: DeviceRequest) -> Hashable:
    wishes = request.first_available or (request.exactly or ExactDeviceRequest(),)
    return request.name, len(request.first_available), tuple(_wish_key(wish) for wish in wishes)


def _wish_key(wish: ExactDeviceRequest | DeviceSubRequest) -> Hashable:
    if wish.capacity is None:
        return wish
    amounts = tuple(sorted((name, str(amount)) for name, amount in wish.capacity.requests.items()))
    return msgspec.structs.replace(wish, capacity=None), amounts
