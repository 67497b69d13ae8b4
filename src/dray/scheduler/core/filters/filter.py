"""What every filter offers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.verdicts import Code, Verdict

__all__ = ["Filter", "Refused"]


class Refused(NamedTuple):
    """Nodes that are refused for the same reasons."""

    reasons: tuple[str, ...]
    code: Code
    nodes: int


class Filter:
    """Judges all nodes for a pod. A filter that has nothing to say about the pod refuses none.

    Sets of nodes may hold numbers of nodes that are gone, and are not to be relied on for those.
    """

    plugin: ClassVar[str]

    def __init__(self, indexes: Indexes, profile: Profile) -> None:
        self._indexes = indexes
        self._snapshot = indexes.snapshot
        self._profile = profile

    def reject(self, applicant: Applicant) -> Verdict | None:
        """Refuse the pod itself, whatever the nodes."""
        return None

    def narrow(self, applicant: Applicant) -> int | None:
        """The only nodes worth a look, if the pod itself says so. The rest are refused before any filter."""
        return None

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes that cannot take the pod: disjoint sets."""
        return ()

    def reads_pods(self, applicant: Applicant) -> bool:
        """Whether the verdict on a node depends on what pods are where."""
        return False
