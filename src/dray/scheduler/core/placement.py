"""Which nodes a pod may go to, devices apart, and which of them is best.

Filters run in Kubernetes' order, and the first that refuses a node gives its reasons. Kubernetes looks at some of the
nodes of a large cluster; here all are judged, at a cost that depends on what changed since the last pod of the same
shape and hardly on the number of nodes. Of equally good nodes the one with the lowest number is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Final

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.errors import InternalError
from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.features import NodeDeclaredFeaturesFilter
from dray.scheduler.core.filters.filter import Filter
from dray.scheduler.core.filters.nodeaffinity import NodeAffinityFilter
from dray.scheduler.core.filters.nodename import NodeNameFilter
from dray.scheduler.core.filters.podaffinity import InterPodAffinityFilter
from dray.scheduler.core.filters.ports import NodePortsFilter
from dray.scheduler.core.filters.resources import Demand, NodeResourcesFitFilter
from dray.scheduler.core.filters.spread import PodTopologySpreadFilter
from dray.scheduler.core.filters.taints import TaintTolerationFilter
from dray.scheduler.core.filters.unschedulable import NodeUnschedulableFilter
from dray.scheduler.core.filters.volumes import VolumeBindingFilter, VolumeRestrictionsFilter
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.nodeinfo import priority_of
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.scores.images import ImageLocalityScore
from dray.scheduler.core.scores.nodeaffinity import NodeAffinityScore
from dray.scheduler.core.scores.podaffinity import InterPodAffinityScore
from dray.scheduler.core.scores.room import RoomScores
from dray.scheduler.core.scores.score import Grades, Score, split
from dray.scheduler.core.scores.spread import PodTopologySpreadScore
from dray.scheduler.core.scores.taints import TaintTolerationScore
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.verdicts import Code, Refusal, Verdict

__all__ = ["Examined", "Placement", "Points"]

Points = Sequence[tuple[int, int]]
"""Points for disjoint sets of nodes, weighted already: pairs of points and node numbers. Other nodes get none."""

_FILTERS: Final[tuple[type[Filter], ...]] = (
    NodeNameFilter,
    NodeUnschedulableFilter,
    TaintTolerationFilter,
    NodeAffinityFilter,
    NodePortsFilter,
    NodeResourcesFitFilter,
    VolumeRestrictionsFilter,
    VolumeBindingFilter,
    PodTopologySpreadFilter,
    InterPodAffinityFilter,
    NodeDeclaredFeaturesFilter,
)
_SCORES: Final[tuple[type[Score], ...]] = (
    TaintTolerationScore,
    NodeAffinityScore,
    PodTopologySpreadScore,
    InterPodAffinityScore,
    ImageLocalityScore,
)


class Examined:
    """What the filters say of one pod. Sets of nodes are sets of numbers of the snapshot, bit `i` for node `i`.

    Every node of `nodes`, which are all there were, is either in `fitting` or in some refusal. A pod that no node can
    take because of itself, such as one with terms that contradict each other, is `rejected`: then nothing fits and no
    node has a refusal of its own. True only until the snapshot changes.
    """

    __slots__ = ("applicant", "fitting", "nodes", "refusals", "rejected")

    def __init__(self, applicant: Applicant, nodes: int) -> None:
        self.applicant = applicant
        self.nodes = nodes
        self.fitting = nodes
        self.refusals: tuple[Refusal, ...] = ()
        self.rejected: Verdict | None = None

    @property
    def pod(self) -> Pod:
        """The pod that looks for a node."""
        return self.applicant.pod

    @property
    def preemptible(self) -> int:
        """The nodes whose refusal evicting pods could change."""
        found = 0
        for each in self.refusals:
            if each.code is Code.UNSCHEDULABLE:
                found |= each.nodes
        return found

    def refuse(self, number: int, verdict: Verdict) -> None:
        """Let a node that fitted be refused."""
        bit = 1 << number
        self.fitting &= ~bit
        self.refusals += tuple(Refusal(verdict.plugin, reason, verdict.code, bit) for reason in verdict.reasons)

    def verdict(self, number: int) -> Verdict | None:
        """Why one node does not fit; None if it does."""
        found = [each for each in self.refusals if each.nodes >> number & 1]
        if not found:
            return self.rejected
        return Verdict(found[0].plugin, tuple(each.reason for each in found), found[0].code)


class Placement:
    """Judges pods of one profile against a snapshot. What it works out it keeps, and follows the snapshot's changes.

    Placements of several profiles over one snapshot can share `indexes`.
    """

    def __init__(self, snapshot: Snapshot, profile: Profile, indexes: Indexes | None = None) -> None:
        self.snapshot = snapshot
        self.profile = profile
        self.indexes = indexes or Indexes(snapshot)
        self._room_filter = NodeResourcesFitFilter(self.indexes, profile)
        self._filters = [each(self.indexes, profile) for each in _FILTERS if profile.filters_by(each.plugin)]
        self._scores = [each(self.indexes, profile) for each in _SCORES if profile.weight(each.plugin)]

    def examine(self, pod: Pod, mapped: frozenset[str] = frozenset()) -> Examined:
        """Judge all nodes for a pod that is on none.

        `mapped` are the extended resources it asks for that some device class serves. Where a node has none of such a
        resource to give, devices must, and it is not looked at here; where it has, it counts like any other.

        Where room is kept for pods of at least the same priority, a node must fit with them and without them.
        """
        examined = self._examine(Applicant(pod, mapped), self._filters)
        for name in self.snapshot.nominated_names():
            number = self.snapshot.find_number(name)
            if number is not None and examined.fitting >> number & 1:
                verdict = self.judge_beside_nominated(examined.applicant, number)
                if verdict is not None:
                    examined.refuse(number, verdict)
        return examined

    def demand(self, applicant: Applicant) -> Demand:
        """The room that a pod needs."""
        return self._room_filter.demand(applicant)

    def examine_with(self, applicant: Applicant, filters: Sequence[Filter]) -> Examined:
        """Judge all nodes by some filters alone."""
        return self._examine(applicant, filters)

    def parted(self, applicant: Applicant) -> tuple[list[Filter], list[Filter]]:
        """The filters whose verdict on a node depends on what pods are where, and the others. Room depends on it."""
        reading = [each for each in self._filters if each.reads_pods(applicant)]
        return reading, [each for each in self._filters if each not in reading]

    def judge_beside_nominated(self, applicant: Applicant, number: int) -> Verdict | None:
        """Look at a node with the pods on it for which room is kept."""
        name = self.snapshot.names[number]
        others = self.beside(applicant.pod, name)
        if not others:
            return None
        with self.snapshot.trial() as trial:
            for each in others:
                trial.put_on(each, name)
            return self._examine(applicant, self._filters).verdict(number)

    def beside(self, pod: Pod, node_name: str) -> tuple[Pod, ...]:
        """The pods for which room is kept on a node and with which the pod must fit."""
        return tuple(
            each
            for each in self.snapshot.nominated(node_name)
            if priority_of(each) >= priority_of(pod) and each.metadata.uid != pod.metadata.uid
        )

    def offering(self, resource: str) -> int:
        """The nodes that have an extended resource to give themselves, whether free or not."""
        return self.indexes.offers.listing(resource)

    def best(self, examined: Examined, nodes: int, points: Points = ()) -> int:
        """The best of `nodes`, a set of fitting nodes that is not empty. `points` are added to our own.

        Scores that compare nodes compare those of `nodes` alone, as Kubernetes does, so pass all that are possible.
        """
        if nodes & (nodes - 1) == 0:
            return nodes.bit_length() - 1
        groups = sorted(self._grouped(examined.applicant, nodes, points).items(), reverse=True)
        room = self._room.of(examined.applicant.footprint)
        winners: dict[int, int] = {}
        for base, members in room.descending():
            if winners and base + groups[0][0] < max(winners):
                break
            for bonus, group in groups:
                hit = members & group
                if hit:
                    winners[base + bonus] = winners.get(base + bonus, 0) | hit
                    break
        if not winners:
            raise InternalError("there is no best of no nodes")
        return next(bits(winners[max(winners)]))

    def scores(self, examined: Examined, nodes: int, points: Points = ()) -> dict[int, int]:
        """The total of each of `nodes`. For explanations; choosing the best does not need it."""
        totals: dict[int, int] = {}
        for base, members in self._room.of(examined.applicant.footprint).descending():
            for bonus, group in self._grouped(examined.applicant, nodes, points).items():
                totals.update(dict.fromkeys(bits(members & group), base + bonus))
        return totals

    @cached_property
    def _room(self) -> RoomScores:
        return RoomScores(self.snapshot, self.profile)

    def _examine(self, applicant: Applicant, filters: Sequence[Filter]) -> Examined:
        examined = Examined(applicant, self.snapshot.present)
        refusals: list[Refusal] = []
        for each in self._filters:
            examined.rejected = each.reject(applicant)
            if examined.rejected is not None:
                examined.fitting = 0
                return examined
        rest = self._narrow(applicant, examined.nodes, refusals)
        for each in filters:
            left = rest
            for reasons, code, nodes in each.refuse(applicant):
                refused = nodes & left
                if refused:
                    rest &= ~refused
                    refusals += [Refusal(each.plugin, reason, code, refused) for reason in reasons]
            if not rest:
                break
        examined.fitting = rest
        examined.refusals = tuple(refusals)
        return examined

    def _narrow(self, applicant: Applicant, nodes: int, refusals: list[Refusal]) -> int:
        """Leave the nodes that the pod itself names, if it does."""
        for each in self._filters:
            named = each.narrow(applicant)
            if named is not None:
                reason = f"node(s) didn't satisfy plugin(s) [{each.plugin}]"
                if nodes & ~named:
                    refusals.append(Refusal(each.plugin, reason, Code.UNRESOLVABLE, nodes & ~named))
                nodes &= named
        return nodes

    def _grouped(self, applicant: Applicant, nodes: int, points: Points) -> Grades:
        """The nodes by their points, those for room apart."""
        groups: Grades = {0: nodes}
        for each in self._scores:
            groups = split(groups, each.grade(applicant, nodes), self.profile.weight(each.plugin))
        extra: dict[int, int] = {}
        for amount, members in points:
            extra[amount] = extra.get(amount, 0) | members
        return split(groups, extra)
