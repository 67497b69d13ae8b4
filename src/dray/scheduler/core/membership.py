"""Nodes by the names they list: images, declared features, extended resources on offer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["Membership"]


class Membership:
    """For every name the nodes that list it. Follows the snapshot when asked."""

    def __init__(self, snapshot: Snapshot, names_of: Callable[[NodeInfo], Iterable[str]]) -> None:
        self._snapshot = snapshot
        self._names_of = names_of
        self._place = -1
        self._by_number: dict[int, frozenset[str]] = {}
        self._masks: dict[str, int] = {}
        self.version = 0
        """Grows when any node lists something else."""

    def listing(self, name: str) -> int:
        """The nodes that list a name."""
        self.follow()
        return self._masks.get(name, 0)

    def follow(self) -> None:
        """Catch up with the snapshot."""
        journal = self._snapshot.node_changes
        if self._place == journal.end:
            return
        changed = journal.since(self._place) if self._place >= 0 else None
        for number in range(len(self._snapshot.names)) if changed is None else changed:
            node = self._snapshot.find_node(number)
            self._set(number, frozenset() if node is None else frozenset(self._names_of(node)))
        self._place = journal.end

    def _set(self, number: int, names: frozenset[str]) -> None:
        old = self._by_number.get(number, frozenset())
        if names == old:
            return
        self.version += 1
        self._by_number[number] = names
        bit = 1 << number
        for name in old - names:
            rest = self._masks[name] & ~bit
            if rest:
                self._masks[name] = rest
            else:
                del self._masks[name]
        for name in names - old:
            self._masks[name] = self._masks.get(name, 0) | bit
