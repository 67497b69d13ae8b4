"""Room for a pod: the number of pods, cpu, memory, storage, huge pages and extended resources."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.resources import PODS, Amounts, is_extended
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.verdicts import Code

__all__ = ["Demand", "NodeResourcesFitFilter", "Shortage", "find_shortage", "shortage_of"]

_REMEMBERED = 256
"""Demands whose answers are kept. Pods of one template have one demand."""

Shortage = tuple[tuple[str, ...], Code]
"""What a node is short of, in Kubernetes' words, and whether evicting pods could help."""

_TOO_MANY = "Too many pods"


class Demand(NamedTuple):
    """What a node must have room for. Devices serve the resources in `mapped` where nodes have none of them to give."""

    amounts: Amounts
    mapped: frozenset[str]


def find_shortage(node: NodeInfo, amounts: Amounts, mapped: frozenset[str] = frozenset()) -> Shortage | None:
    """What a node is short of for these amounts; None if it has room.

    Extended resources in `mapped` are left to devices where the node has none to give. Nothing helps where the node is
    too small even when empty.
    """
    return shortage_of(node.allocatable, node.requested, amounts, mapped)


def shortage_of(
    allocatable: Amounts, requested: Amounts, amounts: Amounts, mapped: frozenset[str] = frozenset()
) -> Shortage | None:
    """As `find_shortage`, for a node that has so much to give, of which so much is requested already."""
    reasons: list[str] = []
    code = Code.UNSCHEDULABLE
    for name, amount in amounts.items():
        capacity = allocatable.get(name, 0)
        if amount <= capacity - requested.get(name, 0) or (capacity == 0 and name in mapped):
            continue
        reasons.append(f"Insufficient {name}")
        if amount > capacity:
            code = Code.UNRESOLVABLE
    return (tuple(reasons), code) if reasons else None


class NodeResourcesFitFilter(Filter):
    """What pods on a node request, and what the new one does, may not be more than the node has to give."""

    plugin = "NodeResourcesFit"

    def __init__(self, indexes: Indexes, profile: Profile) -> None:
        super().__init__(indexes, profile)
        self._rooms: dict[tuple[frozenset[tuple[str, int]], frozenset[str]], _Room] = {}

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes that are short of something."""
        demand = self.demand(applicant)
        key = (frozenset(demand.amounts.items()), demand.mapped)
        room = self._rooms.pop(key, None)
        if room is None:
            if len(self._rooms) >= _REMEMBERED:
                self._rooms.pop(next(iter(self._rooms)))
            room = _Room(self._snapshot, demand)
        self._rooms[key] = room
        return room.refused()

    def reads_pods(self, applicant: Applicant) -> bool:
        """All pods need room, if only as one more."""
        return True

    def demand(self, applicant: Applicant) -> Demand:
        """What counts of what a pod requests."""
        amounts = self._counted(applicant.footprint.requests)
        return Demand(amounts, applicant.mapped.intersection(amounts))

    def _counted(self, requests: Amounts) -> Amounts:
        """Without the extended resources that the profile leaves to others."""
        profile = self._profile
        if not profile.ignored_resources and not profile.ignored_resource_groups:
            return requests
        return {
            name: amount
            for name, amount in requests.items()
            if not is_extended(name)
            or (name not in profile.ignored_resources and name.split("/")[0] not in profile.ignored_resource_groups)
        }


class _Room:
    """The nodes that are short of something for one demand. A node is judged anew when it or its pods changed."""

    def __init__(self, snapshot: Snapshot, demand: Demand) -> None:
        self._snapshot = snapshot
        self._demand = demand
        self._place = -1
        self._shortages: dict[int, Shortage] = {}
        self._masks: dict[Shortage, int] = {}

    def refused(self) -> list[Refused]:
        journal = self._snapshot.changes
        if self._place != journal.end:
            changed = journal.since(self._place) if self._place >= 0 else None
            for number in range(len(self._snapshot.names)) if changed is None else changed:
                self._judge(number)
            self._place = journal.end
        return [Refused(*shortage, nodes) for shortage, nodes in self._masks.items()]

    def _judge(self, number: int) -> None:
        node = self._snapshot.find_node(number)
        shortage = None if node is None else self._find(node)
        old = self._shortages.get(number)
        if shortage == old:
            return
        bit = 1 << number
        if old is not None:
            del self._shortages[number]
            rest = self._masks[old] & ~bit
            if rest:
                self._masks[old] = rest
            else:
                del self._masks[old]
        if shortage is not None:
            self._shortages[number] = shortage
            self._masks[shortage] = self._masks.get(shortage, 0) | bit

    def _find(self, node: NodeInfo) -> Shortage | None:
        shortage = find_shortage(node, *self._demand)
        if len(node.pods) < node.allocatable.get(PODS, 0):
            return shortage
        reasons, code = shortage or ((), Code.UNSCHEDULABLE)
        return (_TOO_MANY, *reasons), code
