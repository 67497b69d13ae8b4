"""What waits in the queue: one pod, or all pods of a group that are on no node yet."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import StrEnum

from dray.allocator.plans import Plan
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim

__all__ = ["Entry", "Place"]


class Place(StrEnum):
    """Where an entry is; the names are those of the metric `scheduler_pending_pods`."""

    ACTIVE = "active"
    BACKOFF = "backoff"
    UNSCHEDULABLE = "unschedulable"
    GATED = "gated"
    TAKEN = "taken"
    """In the hands of who decides, or being bound."""


@dataclass(slots=True, eq=False)
class Entry:
    """One pod or group that waits. Owned by the queue, which alone changes where it is.

    `plugins` are those that refused it last, `refusals` how often it was refused, `errors` how often in a row it
    failed. `likeness` is None if no other entry is like it. `since` is when it last became ready to be tried. `open`
    are the claims for which it found no devices, if that is all that it needs of devices, and `plan` what the allocator
    worked out about them.
    """

    key: str
    pods: dict[str, Pod]
    priority: int
    since: float
    likeness: Hashable = None
    place: Place = Place.TAKEN
    plugins: frozenset[str] = frozenset()
    open: tuple[ResourceClaim, ...] = ()
    plan: Plan | None = None
    added: float = 0.0
    number: int = 0
    attempts: int = 0
    refusals: int = 0
    errors: int = 0
    tried: float = 0.0
    due: float = 0.0
    serial: int = 0
    was_flushed: bool = False
    """Whether it is tried for no reason but that it waited long."""
    is_urgent: bool = False
    """Whether others are leaving for its sake: then it does not back off, lest somebody else takes their place."""

    @property
    def pod(self) -> Pod:
        """The pod, or the first of the group."""
        return next(iter(self.pods.values()))

    @property
    def is_group(self) -> bool:
        """Whether the entry stands for a group."""
        return self.key.startswith("group:")
