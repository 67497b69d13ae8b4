"""Taints of nodes, the tolerations of pods, and nodes by their taints."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from dray.api.core.taints import Taint, Toleration
from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["TaintGroups", "is_tolerated", "repelling", "unwelcoming"]

_REPELLING = frozenset({"NoSchedule", "NoExecute"})
_UNWELCOMING = "PreferNoSchedule"
_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,18})")


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Whether some toleration matches. Empty effect and key match all; the operator decides on the value."""
    return any(_matches(each, taint) for each in tolerations)


def repelling(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Iterator[Taint]:
    """The taints that keep a pod off."""
    return (each for each in taints if each.effect in _REPELLING and not is_tolerated(each, tolerations))


def unwelcoming(taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> Iterator[Taint]:
    """The taints that make a node a worse place for a pod, though it may go there."""
    return (each for each in taints if each.effect == _UNWELCOMING and not is_tolerated(each, tolerations))


def _matches(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    match toleration.operator:
        case "" | "Equal":
            return toleration.value == taint.value
        case "Exists":
            return True
        case "Gt" | "Lt":
            return _compares(taint.value, toleration.value, above=toleration.operator == "Gt")
    return False


def _compares(value: str, bound: str, *, above: bool) -> bool:
    if not (_INTEGER.fullmatch(value) and _INTEGER.fullmatch(bound)):
        return False
    return int(value) > int(bound) if above else int(value) < int(bound)


class TaintGroups:
    """Nodes by their taints. Few sets of taints differ in a cluster, so pods are judged by group and not by node."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._place = -1
        self._by_number: dict[int, tuple[Taint, ...]] = {}
        self._masks: dict[tuple[Taint, ...], int] = {}
        self.cordoned = 0
        """The nodes that are marked unschedulable."""

    def follow(self) -> Mapping[tuple[Taint, ...], int]:
        """The nodes by taints, up to date. Nodes without taints are in no group."""
        journal = self._snapshot.node_changes
        if self._place != journal.end:
            changed = journal.since(self._place) if self._place >= 0 else None
            for number in range(len(self._snapshot.names)) if changed is None else changed:
                self._set(number, self._snapshot.find_node(number))
            self._place = journal.end
        return self._masks

    def _set(self, number: int, node: NodeInfo | None) -> None:
        bit = 1 << number
        is_cordoned = node is not None and node.node.spec.unschedulable
        self.cordoned = self.cordoned | bit if is_cordoned else self.cordoned & ~bit
        taints = () if node is None else tuple(map(_timeless, node.node.spec.taints))
        old = self._by_number.get(number, ())
        if taints == old:
            return
        if old:
            del self._by_number[number]
            rest = self._masks[old] & ~bit
            if rest:
                self._masks[old] = rest
            else:
                del self._masks[old]
        if taints:
            self._by_number[number] = taints
            self._masks[taints] = self._masks.get(taints, 0) | bit


def _timeless(taint: Taint) -> Taint:
    """When a taint was added would make every node a group of its own."""
    return taint if taint.time_added is None else Taint(key=taint.key, value=taint.value, effect=taint.effect)
