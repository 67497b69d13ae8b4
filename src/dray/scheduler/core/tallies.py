"""The tallies that filters and scores asked for lately. Those that ask for the same share one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from dray.scheduler.core.domains import DomainIndex
from dray.scheduler.core.kin import Kin
from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.peers import Peers
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.tally import CountOnNode, Tally
from dray.scheduler.core.terms import Term

__all__ = ["Tallies"]

_REMEMBERED = 512
"""Tallies kept. Each costs memory by the number of nodes; one that was dropped is counted anew, on all nodes."""


class Tallies:
    """Finds or makes tallies, always up to date."""

    def __init__(self, snapshot: Snapshot, domains: DomainIndex) -> None:
        self._snapshot = snapshot
        self._domains = domains
        self._by_key: dict[Hashable, Tally] = {}

    def of_peers(self, peers: tuple[Peers, ...], topology_key: str, eligible: int) -> Tally:
        """Pods that belong to all these sets, on eligible nodes, by place."""
        # Tallies of peers chosen by labels of namespaces do not outlive a change of those.
        is_by_labels = any(each.namespace_selector is not None for each in peers)
        version = self._snapshot.namespace_version if is_by_labels else 0
        key = (peers, version, topology_key, eligible)
        return self._by_key_or(key, topology_key, eligible, _PeerCount(self._snapshot, peers))

    def of_term(self, term: Term) -> Tally:
        """Pods that have the term, by its kind of place."""
        eligible = self._snapshot.present
        return self._by_key_or((term, eligible), term.topology_key, eligible, lambda node: node.terms.get(term, 0))

    def _by_key_or(self, key: Hashable, topology_key: str, eligible: int, count: CountOnNode) -> Tally:
        found = self._by_key.pop(key, None)
        if found is None:
            if len(self._by_key) >= _REMEMBERED:
                self._by_key.pop(next(iter(self._by_key)))
            found = Tally(self._snapshot, self._domains.get(topology_key), count, eligible)
        self._by_key[key] = found
        found.follow()
        return found


class _PeerCount:
    """How many pods of a node belong to some sets, all of them. Verdicts are kept by kin."""

    def __init__(self, snapshot: Snapshot, peers: tuple[Peers, ...]) -> None:
        self._snapshot = snapshot
        self._peers = peers
        self._verdicts: dict[Kin, bool] = {}

    def __call__(self, node: NodeInfo) -> int:
        verdicts = self._verdicts
        if len(verdicts) > 2 * len(self._snapshot.kinship) + 1000:
            verdicts.clear()
        count = 0
        for kin, size in node.kins.items():
            verdict = verdicts.get(kin)
            if verdict is None:
                verdict = verdicts[kin] = self._includes(kin)
            if verdict:
                count += size
        return count

    def _includes(self, kin: Kin) -> bool:
        return all(each.include(kin, self._labels_of) for each in self._peers)

    def _labels_of(self, namespace: str) -> Mapping[str, str] | None:
        return self._snapshot.namespace_labels(namespace)
