"""Pods counted by place, where places are the values of one node label."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dray.allocator.bits import bits
from dray.scheduler.core.domains import Domains
from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["CountOnNode", "Tally"]

CountOnNode = Callable[[NodeInfo], int]


class Tally:
    """Counts of one kind of pods on a set of `eligible` nodes. Following costs by the number of nodes that changed.

    `totals` has the count of every place with a node that is eligible, also if it is 0. `levels` has, by count, the
    nodes of those places, eligible or not.
    """

    def __init__(self, snapshot: Snapshot, domains: Domains, count: CountOnNode, eligible: int) -> None:
        self._snapshot = snapshot
        self._domains = domains
        self._count = count
        self._eligible = eligible
        self._place = -1
        self._version = -1
        self._on_node: dict[int, int] = {}
        self.totals: dict[str, int] = {}
        self.levels: dict[int, int] = {}

    def follow(self) -> None:
        """Catch up with the snapshot. Places that are no longer the same are counted anew."""
        self._domains.follow()
        end = self._snapshot.changes.end
        if self._place == end:
            return
        changed = self._snapshot.changes.since(self._place) if self._version == self._domains.version else None
        if changed is None:
            self._rebuild()
        else:
            for number in changed:
                if self._eligible >> number & 1:
                    self._recount(number)
        self._version = self._domains.version
        self._place = end

    def above(self, least: int) -> int:
        """The nodes of places that count at least so many."""
        found = 0
        for count, mask in self.levels.items():
            if count >= least:
                found |= mask
        return found

    def _rebuild(self) -> None:
        self._on_node = {}
        totals: dict[str, int] = {}
        for number in bits(self._eligible & self._domains.having):
            value = self._domains.value(number)
            if value is not None:
                count = self._count_at(number)
                totals[value] = totals.get(value, 0) + count
        self.totals = totals
        self.levels = levels_of(totals, self._domains.masks)

    def _count_at(self, number: int) -> int:
        count = self._count(self._snapshot.node(number))
        if count:
            self._on_node[number] = count
        return count

    def _recount(self, number: int) -> None:
        value = self._domains.value(number)
        if value is None:
            return
        before = self._on_node.pop(number, 0)
        change = self._count_at(number) - before
        if change:
            old = self.totals[value]
            self.totals[value] = old + change
            self._move(self._domains.masks[value], old, old + change)

    def _move(self, mask: int, old: int, new: int) -> None:
        rest = self.levels[old] & ~mask
        if rest:
            self.levels[old] = rest
        else:
            del self.levels[old]
        self.levels[new] = self.levels.get(new, 0) | mask


def levels_of(totals: Mapping[str, int], masks: Mapping[str, int]) -> dict[int, int]:
    """Nodes by the count of their place."""
    levels: dict[int, int] = {}
    for value, count in totals.items():
        levels[count] = levels.get(count, 0) | masks[value]
    return levels
