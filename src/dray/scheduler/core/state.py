"""Everything the scheduler believes, and the decisions that are on their way to the server.

Owned by the scheduler's loop, which changes it through `step` and `schedule_next` alone. What was decided counts at
once: an assumed pod stands in the snapshot like any other, and its devices in the ledger.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from dray.allocator.cluster import Cluster
from dray.allocator.results import ShareIds
from dray.api.core.pod import Pod
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.claimbook import ClaimBook, ClaimKey
from dray.scheduler.core.counters import Counters
from dray.scheduler.core.decide import Refused
from dray.scheduler.core.devices import DeviceWorld
from dray.scheduler.core.extended import ClassNames
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.orders import Bind, GroupReport
from dray.scheduler.core.placement import Placement
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.queue import DEFAULT_PACE, Entry, Queue, QueuePace
from dray.scheduler.core.reach import Reach
from dray.scheduler.core.snapshot import Snapshot
from dray.scheduler.core.stir import Stir

__all__ = ["Assumed", "DeviceWait", "GroupKey", "PendingReport", "Refusals", "SchedulerState"]

GroupKey = tuple[str, str]
"""Namespace and name."""

_REMEMBERED_REFUSALS = 4096


class DeviceWait(NamedTuple):
    """How waiting for devices ended, and how long it took: `success`, `failure`, `timeout` or `error`."""

    status: str
    seconds: float


@dataclass(slots=True)
class Assumed:
    """A pod that was decided on. It stays here until it is seen on its node, or is gone, or its binding failed.

    `claims` are those that are reserved for it as far as that is known; `promised` those
    whose devices rest on its binding.
    """

    pod: Pod
    node_name: str
    entry: Entry
    promised: tuple[tuple[ResourceClaim, AllocationResult], ...]
    bind: Bind
    claims: tuple[ResourceClaim, ...] = ()
    is_bound: bool = False
    is_seen: bool = False
    """Whether the server told of it on its node."""
    is_gone: bool = False
    since: float = 0.0
    waits_since: float = 0.0
    """When the claims were written, if it had to wait for devices."""
    wait: DeviceWait | None = None
    """How waiting for devices ended."""


class Refusals:
    """How pods of a likeness fared at some state, so that the next of them need not be looked at."""

    def __init__(self) -> None:
        self._known: dict[Hashable, tuple[int, Refused, str]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def find(self, likeness: Hashable, version: int) -> tuple[Refused, str] | None:
        """The refusal of a likeness, with its message, if nothing has changed since."""
        known = self._known.get(likeness)
        return known[1:] if known is not None and known[0] == version else None

    def put(self, likeness: Hashable, version: int, refused: Refused, message: str) -> None:
        """Remember a refusal."""
        if len(self._known) >= _REMEMBERED_REFUSALS:
            self._known.clear()
        self._known[likeness] = (version, refused, message)


@dataclass(slots=True)
class PendingReport:
    """A report that waits for its explanation. The latest about a pod replaces earlier ones."""

    pod: Pod
    reason: str
    message: str
    claims: tuple[ResourceClaim, ...] = ()
    """Those that found no devices, on the nodes `among` which there should have been some."""
    among: int = 0
    likeness: Hashable = None
    nominated: str | None = None


class SchedulerState:
    """All of it. See the module."""

    def __init__(self, profiles: Iterable[Profile], share_ids: ShareIds, pace: QueuePace = DEFAULT_PACE) -> None:
        self.profiles: Mapping[str, Profile] = {each.scheduler_name: each for each in profiles}
        self.share_ids = share_ids
        self.cluster = Cluster()
        self.snapshot = Snapshot()
        self.claims = ClaimBook(self.cluster)
        indexes = Indexes(self.snapshot)
        self.world = DeviceWorld(self.snapshot, self.cluster, self.claims, ClassNames(), indexes, set())
        self.placements = {name: Placement(self.snapshot, each, indexes) for name, each in self.profiles.items()}
        self.queue = Queue(pace)
        self.assumed: dict[str, Assumed] = {}
        self.slices: dict[str, ResourceSlice] = {}
        self.rules: dict[str, DeviceTaintRule] = {}
        self.applied: dict[str, ResourceSlice] = {}
        """Slices with the taints of rules, as the allocator sees them."""
        self.reach = Reach()
        self.groups: dict[GroupKey, PodGroup] = {}
        self.members: dict[GroupKey, dict[str, Pod]] = {}
        """All pods of each group by uid, wherever they are."""
        self.told: dict[GroupKey, GroupReport] = {}
        """What was said of groups last."""
        self.users: dict[ClaimKey, set[str]] = {}
        """Entries of the queue that use a claim, by its name."""
        self.stir = Stir()
        self.refusals = Refusals()
        self.reports: dict[str, PendingReport] = {}
        self.explanations: dict[Hashable, tuple[float, str, str]] = {}
        self.evicting: dict[str, frozenset[str]] = {}
        """By preemptor: victims whose eviction was ordered and is not seen yet."""
        self.waiting: set[str] = set()
        """Assumed pods that wait for devices to get ready."""
        self.least_priority = 2**31
        """The least priority of a pod with devices that ever was on a node: nobody below it can be evicted."""
        self.version = 0
        """Counts everything that may change a decision."""
        self.counters = Counters()
