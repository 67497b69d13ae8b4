"""Nodes that were cordoned."""

from __future__ import annotations

from collections.abc import Iterable

from dray.api.core.taints import Taint
from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.tainting import is_tolerated
from dray.scheduler.core.verdicts import Code

__all__ = ["NodeUnschedulableFilter"]

_CORDON = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")


class NodeUnschedulableFilter(Filter):
    """`spec.unschedulable` keeps pods off that do not tolerate the taint that goes with it."""

    plugin = "NodeUnschedulable"

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The cordoned nodes."""
        self._indexes.taints.follow()
        cordoned = self._indexes.taints.cordoned
        if cordoned and not is_tolerated(_CORDON, applicant.pod.spec.tolerations):
            yield Refused(("node(s) were unschedulable",), Code.UNRESOLVABLE, cordoned)
