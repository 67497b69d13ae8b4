"""Pods that name their node."""

from __future__ import annotations

from collections.abc import Iterable

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.verdicts import Code

__all__ = ["NodeNameFilter"]


class NodeNameFilter(Filter):
    """A pod with `spec.nodeName` fits there alone."""

    plugin = "NodeName"

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """All other nodes."""
        name = applicant.pod.spec.node_name
        if not name:
            return
        number = self._snapshot.find_number(name)
        named = 0 if number is None else 1 << number
        reason = "node(s) didn't match the requested node name"
        yield Refused((reason,), Code.UNRESOLVABLE, self._snapshot.present & ~named)
