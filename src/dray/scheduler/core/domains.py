"""Nodes by the value of a label: the places of topology, and what node selectors ask for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["ITSELF", "DomainIndex", "Domains"]

ITSELF: Final = ""
"""Stands for a label whose value is the name of the node, so that every node is a place of its own."""

_REMEMBERED_KEYS = 128
"""Labels followed at a time. Clusters ask for a dozen; one that is dropped is only worked out anew."""


class Domains:
    """The nodes that have one label, by its value, as sets of numbers.

    `version` grows when a node gets another value, comes or goes; while it stays, so does everything else.
    """

    __slots__ = ("_journal", "_key", "_place", "_snapshot", "_values", "having", "masks", "version")

    def __init__(self, snapshot: Snapshot, key: str) -> None:
        self._snapshot = snapshot
        self._journal = snapshot.node_changes
        self._key = key
        self._place = -1
        self._values: dict[int, str] = {}
        self.masks: dict[str, int] = {}
        self.having = 0
        self.version = 0

    def value(self, number: int) -> str | None:
        """The value a node has."""
        return self._values.get(number)

    def follow(self) -> None:
        """Catch up with the snapshot."""
        end = self._journal.end
        if self._place == end:
            return
        changed = self._journal.since(self._place) if self._place >= 0 else None
        for number in range(len(self._snapshot.names)) if changed is None else changed:
            node = self._snapshot.find_node(number)
            self._set(number, None if node is None else self._value_of(node))
        self._place = end

    def _value_of(self, node: NodeInfo) -> str | None:
        return node.node.metadata.labels.get(self._key) if self._key else node.name

    def _set(self, number: int, value: str | None) -> None:
        old = self._values.get(number)
        if value == old:
            return
        bit = 1 << number
        self.version += 1
        if old is not None:
            del self._values[number]
            self.having &= ~bit
            rest = self.masks[old] & ~bit
            if rest:
                self.masks[old] = rest
            else:
                del self.masks[old]
        if value is not None:
            self._values[number] = value
            self.having |= bit
            self.masks[value] = self.masks.get(value, 0) | bit


class DomainIndex:
    """The domains of every label that was asked for lately."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._by_key: dict[str, Domains] = {}

    def get(self, key: str) -> Domains:
        """The domains of a label, up to date."""
        found = self._by_key.get(key)
        if found is None:
            if len(self._by_key) >= _REMEMBERED_KEYS:
                self._by_key.pop(next(iter(self._by_key)))
            found = self._by_key[key] = Domains(self._snapshot, key)
        found.follow()
        return found

    def masks(self, key: str) -> Mapping[str, int]:
        """The nodes that have a label, by its value."""
        return self.get(key).masks
