"""Constraints on how unevenly pods may be spread over places."""

from __future__ import annotations

from collections.abc import Iterable

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.peers import SpreadRule
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.spreading import Spreading
from dray.scheduler.core.verdicts import Code

__all__ = ["PodTopologySpreadFilter"]

_UNEVEN = "node(s) didn't match pod topology spread constraints"
_NO_PLACE = f"{_UNEVEN} (missing required label)"


class PodTopologySpreadFilter(Filter):
    """A place may count at most `maxSkew` more of the pods in question than the emptiest, the new pod included."""

    plugin = "PodTopologySpread"

    def __init__(self, indexes: Indexes, profile: Profile) -> None:
        super().__init__(indexes, profile)
        self._spreading = Spreading(indexes, profile)

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The first constraint that a node breaks decides on its reason."""
        rules = self._spreading.required(applicant)
        if not rules:
            return
        complete = self._spreading.with_all_keys(rules)
        rest = self._snapshot.present
        for rule in rules:
            lacking = rest & ~self._indexes.domains.get(rule.constraint.topology_key).having
            if lacking:
                yield Refused((_NO_PLACE,), Code.UNRESOLVABLE, lacking)
            uneven = rest & self._uneven(rule, applicant, complete)
            if uneven:
                yield Refused((_UNEVEN,), Code.UNSCHEDULABLE, uneven)
            rest &= ~(lacking | uneven)

    def _uneven(self, rule: SpreadRule, applicant: Applicant, complete: int) -> int:
        constraint = rule.constraint
        eligible = complete & self._spreading.counted(constraint, applicant)
        tally = self._indexes.tallies.of_peers((rule.peers,), constraint.topology_key, eligible)
        if not tally.totals:
            return 0
        least = min(tally.levels) if len(tally.totals) >= (constraint.min_domains or 1) else 0
        return tally.above(least + constraint.max_skew + 1 - rule.counts_itself)

    def reads_pods(self, applicant: Applicant) -> bool:
        """Pods that must be spread do."""
        return bool(self._spreading.required(applicant))
