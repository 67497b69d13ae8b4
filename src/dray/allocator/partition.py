"""Nodes sorted into classes that a decision cannot tell apart, kept up to date node by node.

Which device of several equal ones is free decides which is taken, never whether there is one. So nodes are of one
class if they are of one model and as many of each kind of device are in use, whichever they are. Pools that no node
owns alone are told apart by what they are; how much of them is in use is the same for all nodes that see them, and no
part of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from dray.allocator.bits import bits
from dray.allocator.interning import Interner
from dray.allocator.occupancy import Occupancy
from dray.allocator.pools import PoolRecord
from dray.allocator.slices import Reads
from dray.allocator.view import NodeView

__all__ = ["NodeClass", "Partition"]

_REMEMBERED_STATES = 65_536
"""States of nodes of which the class is kept; beyond that all are sorted anew as they change."""

Look = Callable[[int], tuple[NodeView, Occupancy] | None]
"""Shows a node by its number; None if it is gone."""


@dataclass(slots=True, eq=False)
class NodeClass:
    """Nodes that look alike. `nodes` has their numbers as bits, `floating` the pools they see that no node owns."""

    number: int
    floating: tuple[PoolRecord, ...]
    nodes: int = 0

    @property
    def representative(self) -> int:
        """The first node of the class."""
        return (self.nodes & -self.nodes).bit_length() - 1


@dataclass(slots=True, eq=False)
class Partition:
    """All nodes of a cluster, by class, for decisions that read `reads`.

    `stale` are nodes of which something changed since they were last looked at. `numbers` has no number twice, in all
    partitions of a cluster.
    """

    reads: Reads
    interner: Interner
    numbers: Iterator[int]
    look: Look
    stale: set[int] = field(default_factory=set)
    _class_of: dict[int, NodeClass] = field(default_factory=dict)
    _classes: dict[int, NodeClass] = field(default_factory=dict)
    _known: dict[Hashable, int] = field(default_factory=dict)
    _number_of: dict[Hashable, int] = field(default_factory=dict)

    def classes(self) -> Iterator[NodeClass]:
        """The classes that have nodes, in the order in which they came to be."""
        self._refresh()
        return (each for each in self._classes.values() if each.nodes)

    def _refresh(self) -> None:
        for node in sorted(self.stale):
            bit = 1 << node
            before = self._class_of.pop(node, None)
            seen = self.look(node)
            after = None if seen is None else self._find_class(*seen)
            if after is not None:
                self._class_of[node] = after
                after.nodes |= bit
            if before is not after and before is not None:
                before.nodes ^= bit
                if not before.nodes and self._classes.get(before.number) is before:
                    del self._classes[before.number]
        self.stale.clear()

    def _find_class(self, view: NodeView, occupancy: Occupancy) -> NodeClass:
        profile = view.profile(self.reads, self.interner)
        floating = view.floating
        ids = tuple([record.id for record in floating])
        exact = (profile, _local_key(view, occupancy), ids)
        number = self._known.get(exact)
        if number is None:
            kinds = view.kinds(self.reads, self.interner)
            in_use = _local_key(view, occupancy, kinds)
            number = self._number((profile, in_use, ids))
            self._known[exact] = number
        found = self._classes.get(number)
        if found is None:
            found = self._classes[number] = NodeClass(number, floating)
        found.floating = floating
        return found

    def _number(self, key: Hashable) -> int:
        """The number of a class: the same as long as it is remembered, and never that of another."""
        if len(self._known) >= _REMEMBERED_STATES:
            self._known.clear()
            self._number_of.clear()
        number = self._number_of.get(key)
        if number is None:
            number = self._number_of[key] = next(self.numbers)
        return number


def _local_key(view: NodeView, occupancy: Occupancy, kinds: tuple[int, ...] | None = None) -> Hashable:
    """What is in use of the pools that a node owns: by place or, with `kinds`, by kind of device."""
    owned = view.owned_places
    taken = occupancy.taken & owned
    consumed = [
        (place if kinds is None else kinds[place], tuple(sorted(used.items())))
        for place, used in occupancy.consumed.items()
        if owned >> place & 1
    ]
    counters: Hashable = None
    if occupancy.remaining:
        counters = view.owned_counters(occupancy.remaining, occupancy.groups)
    if kinds is None:
        return taken, tuple(sorted(consumed)), counters
    return tuple(sorted([kinds[place] for place in bits(taken)])), tuple(sorted(consumed)), counters
