"""Taints that pods do not tolerate. Conditions of nodes, such as not being ready, come as taints too."""

from __future__ import annotations

from collections.abc import Iterable

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.tainting import repelling
from dray.scheduler.core.verdicts import Code

__all__ = ["TaintTolerationFilter"]


class TaintTolerationFilter(Filter):
    """Taints with the effect NoSchedule or NoExecute keep pods off."""

    plugin = "TaintToleration"

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes with such a taint that no toleration matches."""
        tolerations = applicant.pod.spec.tolerations
        refused = 0
        for taints, nodes in self._indexes.taints.follow().items():
            if any(repelling(taints, tolerations)):
                refused |= nodes
        if refused:
            yield Refused(("node(s) had untolerated taint(s)",), Code.UNRESOLVABLE, refused)
