"""Nodes by the ports of theirs that are taken."""

from __future__ import annotations

from collections.abc import Iterable

from dray.scheduler.core.nodeinfo import ANY_ADDRESS, HostPort
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["PortIndex"]

_Port = tuple[str, int]
"""Protocol and number."""


class PortIndex:
    """For every port the nodes where pods have it, by address."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._place = -1
        self._by_number: dict[int, frozenset[HostPort]] = {}
        self._masks: dict[_Port, dict[str, int]] = {}

    def taken(self, wanted: Iterable[HostPort]) -> int:
        """The nodes that cannot give all of the wanted ports."""
        self._follow()
        found = 0
        for port in wanted:
            for address, mask in self._masks.get((port.protocol, port.port), {}).items():
                if port.address == ANY_ADDRESS or address in (ANY_ADDRESS, port.address):
                    found |= mask
        return found

    def _follow(self) -> None:
        journal = self._snapshot.changes
        if self._place == journal.end:
            return
        changed = journal.since(self._place) if self._place >= 0 else None
        for number in range(len(self._snapshot.names)) if changed is None else changed:
            node = self._snapshot.find_node(number)
            ports = frozenset() if node is None else frozenset(node.ports)
            if ports or number in self._by_number:
                self._set(number, ports)
        self._place = journal.end

    def _set(self, number: int, ports: frozenset[HostPort]) -> None:
        old = self._by_number.pop(number, frozenset())
        bit = 1 << number
        for port in old - ports:
            by_address = self._masks[port.protocol, port.port]
            by_address[port.address] &= ~bit
        for port in ports - old:
            by_address = self._masks.setdefault((port.protocol, port.port), {})
            by_address[port.address] = by_address.get(port.address, 0) | bit
        if ports:
            self._by_number[number] = ports
