"""Two ways to try what a node would say with some of its pods gone.

Most pods only care about the room that others take; then adding and subtracting answers. For the rest the snapshot is
changed for a moment and all filters are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dray.api.core.pod import Pod
from dray.scheduler.core.filters.resources import Demand, shortage_of
from dray.scheduler.core.nodeinfo import NodeInfo, PlacedPod
from dray.scheduler.core.resources import PODS
from dray.scheduler.core.snapshot import Trial

__all__ = ["DeviceTrial", "DevicesFit", "FilterTrial", "RoomTrial", "holds_devices"]

DevicesFit = Callable[[int, Sequence[Pod]], tuple[str, ...]]
"""Asks about devices: why a pod would not get them on the node of a number once these pods are gone; empty if it would.

Of the pods that would be gone only those with claims are named. The reasons are Kubernetes' words.
"""


class DeviceTrial:
    """Asks about devices no more often than the pods with claims change."""

    def __init__(self, number: int, devices_fit: DevicesFit | None) -> None:
        self._number = number
        self._devices_fit = devices_fit
        self._gone: dict[str, Pod] = {}
        self._known: dict[frozenset[str], tuple[str, ...]] = {}

    def remove(self, pod: Pod) -> None:
        """Take a pod away."""
        if holds_devices(pod):
            self._gone[pod.metadata.uid] = pod

    def put_back(self, pod: Pod) -> None:
        """Put a pod back."""
        self._gone.pop(pod.metadata.uid, None)

    def reasons(self) -> tuple[str, ...]:
        """Why the newcomer would not get its devices."""
        if self._devices_fit is None:
            return ()
        key = frozenset(self._gone)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._devices_fit(self._number, tuple(self._gone.values()))
        return found


class RoomTrial:
    """For a newcomer that reads nothing of other pods but what they take. `blocked` is what else is in its way."""

    def __init__(self, node: NodeInfo, demand: Demand, blocked: tuple[str, ...], devices: DeviceTrial) -> None:
        self._allocatable = node.allocatable
        self._requests, self._mapped = demand
        self._taken = {name: node.requested.get(name, 0) for name in self._requests}
        self._count = len(node.pods)
        self._blocked = blocked
        self._devices = devices

    def remove(self, placed: PlacedPod) -> None:
        """Take a pod away."""
        self._shift(placed, -1)
        self._devices.remove(placed.pod)

    def put_back(self, placed: PlacedPod) -> None:
        """Put a pod back that was taken away."""
        self._shift(placed, 1)
        self._devices.put_back(placed.pod)

    def reasons(self) -> tuple[str, ...]:
        """Room first, then the rest, then devices."""
        shortage = shortage_of(self._allocatable, self._taken, self._requests, self._mapped)
        short = shortage[0] if shortage is not None else ()
        if self._count >= self._allocatable.get(PODS, 0):
            short = ("Too many pods", *short)
        return short or self._blocked or self._devices.reasons()

    def _shift(self, placed: PlacedPod, sign: int) -> None:
        self._count += sign
        requests = placed.footprint.requests
        for name in self._taken:
            self._taken[name] += sign * requests.get(name, 0)


class FilterTrial:
    """For a newcomer that reads more of other pods. `ask` says why the node does not fit as the snapshot is now."""

    def __init__(self, trial: Trial, ask: Callable[[], tuple[str, ...]], devices: DeviceTrial) -> None:
        self._trial = trial
        self._ask = ask
        self._devices = devices

    def remove(self, placed: PlacedPod) -> None:
        """Take a pod away."""
        self._trial.remove(placed.pod.metadata.uid)
        self._devices.remove(placed.pod)

    def put_back(self, placed: PlacedPod) -> None:
        """Put a pod back that was taken away."""
        self._trial.put_back(placed)
        self._devices.put_back(placed.pod)

    def reasons(self) -> tuple[str, ...]:
        """Filters first, then devices."""
        return self._ask() or self._devices.reasons()


def holds_devices(pod: Pod) -> bool:
    """Whether a pod on a node has claims, of its own or for its extended resources."""
    return bool(pod.spec.resource_claims) or pod.status.extended_resource_claim_status is not None
