"""Taints that would rather not have the pod."""

from __future__ import annotations

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.scores.score import FULL, Grades, Score, scaled
from dray.scheduler.core.tainting import unwelcoming

__all__ = ["TaintTolerationScore"]


class TaintTolerationScore(Score):
    """The fewer PreferNoSchedule taints the pod does not tolerate, the better."""

    plugin = "TaintToleration"

    def grade(self, applicant: Applicant, nodes: int) -> Grades:
        """By the number of such taints."""
        tolerations = applicant.pod.spec.tolerations
        raw: dict[int, int] = {}
        rest = nodes
        for taints, members in self._indexes.taints.follow().items():
            hit = nodes & members
            count = sum(1 for _ in unwelcoming(taints, tolerations)) if hit else 0
            if count:
                rest &= ~hit
                raw[count] = raw.get(count, 0) | hit
        if not raw:
            return {FULL: nodes}
        return scaled({**raw, 0: rest}, is_reversed=True)
