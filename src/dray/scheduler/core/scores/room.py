"""Room on nodes: how much would be left, and how evenly it would be used.

The points of a node depend on that node alone, so they are kept, and worked out anew only for nodes that changed.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from math import floor, sqrt

from dray.scheduler.core.nodeinfo import NodeInfo
from dray.scheduler.core.profile import FitScore, FitStrategy, Profile
from dray.scheduler.core.resources import CPU, EPHEMERAL_STORAGE, MEMORY, Footprint
from dray.scheduler.core.scores.score import FULL
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["RoomScores", "points_of_balance", "points_of_fit"]

_REMEMBERED = 256
"""Demands whose points are kept. Pods of one template have one demand."""

_ALWAYS_COUNTED = frozenset({CPU, MEMORY, EPHEMERAL_STORAGE})
"""Other resources count only for pods that ask for them."""


class RoomScores:
    """Points by what a pod takes, for the weights of one profile."""

    def __init__(self, snapshot: Snapshot, profile: Profile) -> None:
        self._snapshot = snapshot
        self._profile = profile
        self._by_demand: dict[tuple[frozenset[tuple[str, int]], ...], RoomScore] = {}

    def of(self, footprint: Footprint) -> RoomScore:
        """The points of all nodes for a pod that takes so much, up to date."""
        key = (frozenset(footprint.requests.items()), frozenset(footprint.guesses.items()))
        found = self._by_demand.pop(key, None)
        if found is None:
            if len(self._by_demand) >= _REMEMBERED:
                self._by_demand.pop(next(iter(self._by_demand)))
            found = RoomScore(self._snapshot, _points(self._profile, footprint))
        self._by_demand[key] = found
        found.follow()
        return found


class RoomScore:
    """The nodes by their points for one demand."""

    def __init__(self, snapshot: Snapshot, points: Callable[[NodeInfo], int]) -> None:
        self._snapshot = snapshot
        self._points = points
        self._place = -1
        self._by_number: dict[int, int] = {}
        self._masks: dict[int, int] = {}
        self._ascending: list[int] = []

    def descending(self) -> Iterator[tuple[int, int]]:
        """Points and the nodes that have them, the highest first."""
        for points in reversed(self._ascending):
            yield points, self._masks[points]

    def follow(self) -> None:
        """Catch up with the snapshot."""
        journal = self._snapshot.changes
        if self._place == journal.end:
            return
        changed = journal.since(self._place) if self._place >= 0 else None
        for number in range(len(self._snapshot.names)) if changed is None else changed:
            node = self._snapshot.find_node(number)
            self._set(number, None if node is None else self._points(node))
        self._place = journal.end

    def _set(self, number: int, points: int | None) -> None:
        old = self._by_number.get(number)
        if points == old:
            return
        bit = 1 << number
        if old is not None:
            del self._by_number[number]
            rest = self._masks[old] & ~bit
            self._masks[old] = rest
            if not rest:
                del self._masks[old]
                self._ascending.remove(old)
        if points is not None:
            self._by_number[number] = points
            if points not in self._masks:
                insort(self._ascending, points)
            self._masks[points] = self._masks.get(points, 0) | bit


def _points(profile: Profile, footprint: Footprint) -> Callable[[NodeInfo], int]:
    fit, balance = profile.weight("NodeResourcesFit"), profile.weight("NodeResourcesBalancedAllocation")

    def points(node: NodeInfo) -> int:
        total = fit * points_of_fit(node, footprint, profile.fit_score) if fit else 0
        return total + balance * points_of_balance(node, footprint, profile.balanced_resources) if balance else total

    return points


def points_of_fit(node: NodeInfo, footprint: Footprint, how: FitScore) -> int:
    """By the share of each resource that would be taken, weighted. Containers that name nothing count with a guess."""
    total = weights = 0
    for name, weight in how.resources:
        amount = footprint.guesses[name] if name in footprint.guesses else footprint.requests.get(name, 0)
        capacity = node.allocatable.get(name, 0)
        if capacity == 0 or (amount == 0 and name not in _ALWAYS_COUNTED):
            continue
        taken = (node.guessed if name in footprint.guesses else node.requested).get(name, 0) + amount
        points = _share_points(taken, capacity, how)
        if points or how.strategy is not FitStrategy.REQUESTED_TO_CAPACITY_RATIO:
            total += points * weight
            weights += weight
    if weights == 0:
        return 0
    if how.strategy is FitStrategy.REQUESTED_TO_CAPACITY_RATIO:
        return floor(total / weights + 0.5)
    return total // weights


def _share_points(taken: int, capacity: int, how: FitScore) -> int:
    match how.strategy:
        case FitStrategy.LEAST_ALLOCATED:
            return (capacity - taken) * FULL // capacity if taken <= capacity else 0
        case FitStrategy.MOST_ALLOCATED:
            return min(taken, capacity) * FULL // capacity
        case FitStrategy.REQUESTED_TO_CAPACITY_RATIO:
            return _on_curve(taken * FULL // capacity if taken <= capacity else FULL, how)


def _on_curve(use: int, how: FitScore) -> int:
    """Linear between the points, flat before the first and after the last."""
    curve = [(point.utilization, point.score * 10) for point in how.curve]
    for index, (utilization, score) in enumerate(curve):
        if use <= utilization:
            if index == 0:
                return score
            before, base = curve[index - 1]
            return base + int((score - base) * (use - before) / (utilization - before))
    return curve[-1][1]


def points_of_balance(node: NodeInfo, footprint: Footprint, resources: Iterable[str]) -> int:
    """Whether the pod makes the use of resources more even, or less: about 75 if it changes little.

    Pods that ask for none of the resources get nothing anywhere.
    """
    counted = [name for name in resources if name in _ALWAYS_COUNTED or footprint.requests.get(name)]
    if not any(footprint.requests.get(name) for name in counted):
        return 0
    before: list[float] = []
    after: list[float] = []
    for name in counted:
        capacity = node.allocatable.get(name, 0)
        if capacity:
            taken = node.requested.get(name, 0)
            before.append(min(taken / capacity, 1.0))
            after.append(min((taken + footprint.requests.get(name, 0)) / capacity, 1.0))
    return FULL // 2 + (FULL // 2 + _evenness(after) - _evenness(before)) // 2


def _evenness(shares: list[float]) -> int:
    """100 if all shares are equal, 50 at the least."""
    deviation = 0.0
    if len(shares) == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif shares:
        mean = sum(shares) / len(shares)
        deviation = sqrt(sum((share - mean) * (share - mean) for share in shares) / len(shares))
    return int((1 - deviation) * FULL)
