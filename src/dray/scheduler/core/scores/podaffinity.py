"""Pods that would rather be near to others or away from them, by their own word or by that of pods that are there."""

from __future__ import annotations

from collections.abc import Iterator

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.scores.score import FULL, Grades, Score, split
from dray.scheduler.core.tally import Tally
from dray.scheduler.core.terms import Role, Term

__all__ = ["InterPodAffinityScore"]


class InterPodAffinityScore(Score):
    """Weights of preferred terms, once for every pod they hold for. Required affinity of others counts too."""

    plugin = "InterPodAffinity"

    def grade(self, applicant: Applicant, nodes: int) -> Grades:
        """Between the worst of `nodes` and the best."""
        raw: Grades = {0: nodes}
        for factor, tally in self._tallies(applicant):
            if factor:
                raw = split(raw, {count: level for count, level in tally.levels.items() if count}, factor)
        least, most = min(raw), max(raw)
        if least == most:
            return {}
        grades: dict[int, int] = {}
        for value, members in raw.items():
            points = int(float(FULL) * ((value - least) / (most - least)))
            grades[points] = grades.get(points, 0) | members
        return grades

    def _tallies(self, applicant: Applicant) -> Iterator[tuple[int, Tally]]:
        own = [each for each in applicant.terms if each.role in (Role.LIKES, Role.DISLIKES)]
        for term in own:
            peers, key = (term.peers,), term.topology_key
            yield self._factor(term), self._indexes.tallies.of_peers(peers, key, self._snapshot.present)
        if self._profile.is_blind_to_preferences_of_placed_pods and not own:
            return
        labels_of = self._snapshot.namespace_labels
        for term in self._snapshot.terms.wishing():
            if term.peers.include(applicant.kin, labels_of):
                yield self._factor(term), self._indexes.tallies.of_term(term)

    def _factor(self, term: Term) -> int:
        match term.role:
            case Role.NEEDS:
                return self._profile.hard_pod_affinity_weight
            case Role.LIKES:
                return term.weight
        return -term.weight
