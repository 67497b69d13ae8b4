"""Ports of the host that pods want for themselves."""

from __future__ import annotations

from collections.abc import Iterable

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.verdicts import Code

__all__ = ["NodePortsFilter"]


class NodePortsFilter(Filter):
    """A port of a node goes to one pod, on one address or on all."""

    plugin = "NodePorts"

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes where a wanted port is taken."""
        if not applicant.ports:
            return
        taken = self._indexes.ports.taken(applicant.ports)
        if taken:
            reason = "node(s) didn't have free ports for the requested pod ports"
            yield Refused((reason,), Code.UNSCHEDULABLE, taken)

    def reads_pods(self, applicant: Applicant) -> bool:
        """Pods that want ports do."""
        return bool(applicant.ports)
