"""Places with fewer pods of the same kind."""

from __future__ import annotations

from math import floor, log

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.domains import ITSELF
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.peers import SpreadRule
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.scores.score import FULL, Grades, Score
from dray.scheduler.core.spreading import Spreading

__all__ = ["PodTopologySpreadScore"]

_HOSTNAME = "kubernetes.io/hostname"


class PodTopologySpreadScore(Score):
    """By the pods that count in each place, and more so the more places there are."""

    plugin = "PodTopologySpread"

    def __init__(self, indexes: Indexes, profile: Profile) -> None:
        super().__init__(indexes, profile)
        self._spreading = Spreading(indexes, profile)

    def grade(self, applicant: Applicant, nodes: int) -> Grades:
        """Nodes that lack a label are worth nothing, unless the constraints are Kubernetes' own defaults."""
        rules = self._spreading.wished(applicant)
        if not rules:
            return {}
        complete = self._snapshot.present
        if self._spreading.needs_all_keys(applicant):
            complete = self._spreading.with_all_keys(rules)
        compared = nodes & complete
        burdens: dict[float, int] = {0.0: compared}
        for rule in rules:
            burdens = self._burden(burdens, rule, applicant, complete)
        return _fewest_first({floor(burden + 0.5): 0 for burden in burdens}, burdens) if compared else {}

    def _burden(
        self, burdens: dict[float, int], rule: SpreadRule, applicant: Applicant, complete: int
    ) -> dict[float, int]:
        """Add what one constraint has against each node."""
        constraint, peers, _ = rule
        compared = 0
        for members in burdens.values():
            compared |= members
        domains = self._indexes.domains.get(constraint.topology_key)
        if constraint.topology_key == _HOSTNAME:
            size = compared.bit_count()
            tally = self._indexes.tallies.of_peers((peers,), ITSELF, self._snapshot.present)
        else:
            size = sum(1 for members in domains.masks.values() if members & compared)
            size += 1 if compared & ~domains.having else 0
            eligible = complete & self._spreading.counted(constraint, applicant)
            tally = self._indexes.tallies.of_peers((peers,), constraint.topology_key, eligible)
        weight = log(size + 2)
        parts: dict[float, int] = {}
        for burden, members in burdens.items():
            rest = members & domains.having
            _join(parts, burden, members & ~domains.having)
            for count, level in tally.levels.items():
                _join(parts, burden + (count * weight + (constraint.max_skew - 1)), rest & level)
                rest &= ~level
            _join(parts, burden + (constraint.max_skew - 1), rest)
        return parts


def _join(parts: dict[float, int], burden: float, nodes: int) -> None:
    if nodes:
        parts[burden] = parts.get(burden, 0) | nodes


def _fewest_first(rounded: dict[int, int], burdens: dict[float, int]) -> Grades:
    """The node with the least against it is worth full marks."""
    for burden, nodes in burdens.items():
        rounded[floor(burden + 0.5)] |= nodes
    most, least = max(rounded), min(rounded)
    grades: dict[int, int] = {}
    for burden, nodes in rounded.items():
        points = FULL * (most + least - burden) // most if most else FULL
        grades[points] = grades.get(points, 0) | nodes
    return grades
