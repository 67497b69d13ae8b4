"""Nodes the pod, or its profile, would rather go to."""

from __future__ import annotations

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.scores.score import Grades, Score, scaled, split

__all__ = ["NodeAffinityScore"]


class NodeAffinityScore(Score):
    """The sum of the weights of preferred terms that match."""

    plugin = "NodeAffinity"

    def grade(self, applicant: Applicant, nodes: int) -> Grades:
        """By that sum."""
        wishes = [
            wish
            for affinity in (applicant.node_affinity, self._profile.added_affinity)
            if affinity is not None
            for wish in affinity.preferred_during_scheduling_ignored_during_execution
        ]
        raw: Grades = {0: nodes}
        for wish in wishes:
            if wish.weight:
                raw = split(raw, {wish.weight: self._indexes.node_terms.matching(wish.preference)})
        return scaled(raw)
