"""What filter and score of PodTopologySpread have in common: constraints, and the nodes whose pods they count."""

from __future__ import annotations

from collections.abc import Iterable

from dray.api.core.affinity import TopologySpreadConstraint
from dray.api.meta import LabelSelector
from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.nodeaffinity import NodeAffinityFilter
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.peers import SpreadRule, spread_rule
from dray.scheduler.core.profile import Profile
from dray.scheduler.core.tainting import repelling

__all__ = ["Spreading"]

_REQUIRED, _WISHED = "DoNotSchedule", "ScheduleAnyway"
_HONOR = "Honor"
_SYSTEM_DEFAULTS = (
    TopologySpreadConstraint(max_skew=3, topology_key="kubernetes.io/hostname", when_unsatisfiable=_WISHED),
    TopologySpreadConstraint(max_skew=5, topology_key="topology.kubernetes.io/zone", when_unsatisfiable=_WISHED),
)


class Spreading:
    """Reads the constraints of pods, or those that their profile has for pods without any."""

    def __init__(self, indexes: Indexes, profile: Profile) -> None:
        self._indexes = indexes
        self._profile = profile
        self._affinity = NodeAffinityFilter(indexes, profile)

    def required(self, applicant: Applicant) -> tuple[SpreadRule, ...]:
        """Constraints that keep a pod off a node."""
        return self._of_sort(_REQUIRED, applicant)

    def wished(self, applicant: Applicant) -> tuple[SpreadRule, ...]:
        """Constraints that make a node a worse place."""
        return self._of_sort(_WISHED, applicant)

    def needs_all_keys(self, applicant: Applicant) -> bool:
        """Whether nodes that lack the label of one constraint are left out altogether."""
        return bool(applicant.pod.spec.topology_spread_constraints) or self._profile.default_constraints is not None

    def with_all_keys(self, rules: Iterable[SpreadRule]) -> int:
        """The nodes that have the labels of all constraints."""
        found = self._indexes.snapshot.present
        for each in rules:
            found &= self._indexes.domains.get(each.constraint.topology_key).having
        return found

    def counted(self, constraint: TopologySpreadConstraint, applicant: Applicant) -> int:
        """The nodes whose pods count: by default those that the pod's affinity selects, whatever their taints."""
        found = self._indexes.snapshot.present
        if constraint.node_affinity_policy in (None, "", _HONOR):
            found &= self._affinity.matching(applicant)
        if constraint.node_taints_policy == _HONOR:
            tolerations = applicant.pod.spec.tolerations
            for taints, nodes in self._indexes.taints.follow().items():
                if any(repelling(taints, tolerations)):
                    found &= ~nodes
        return found

    def _of_sort(self, sort: str, applicant: Applicant) -> tuple[SpreadRule, ...]:
        """Worked out once for each pod."""
        found = applicant.spread_rules.get(sort)
        if found is None:
            found = tuple(spread_rule(each, applicant.pod) for each in self._constraints(sort, applicant))
            applicant.spread_rules[sort] = found
        return found

    def _constraints(self, sort: str, applicant: Applicant) -> tuple[TopologySpreadConstraint, ...]:
        own = applicant.pod.spec.topology_spread_constraints
        if own:
            return tuple(each for each in own if each.when_unsatisfiable == sort)
        defaults = self._profile.default_constraints
        offered = _SYSTEM_DEFAULTS if defaults is None else defaults
        wanted = [each for each in offered if each.when_unsatisfiable == sort]
        labels = self._indexes.snapshot.service_labels(applicant.pod) if wanted else None
        if not labels:
            return ()
        return tuple(_with_selector(each, LabelSelector(match_labels=labels)) for each in wanted)


def _with_selector(constraint: TopologySpreadConstraint, selector: LabelSelector) -> TopologySpreadConstraint:
    return TopologySpreadConstraint(
        max_skew=constraint.max_skew,
        topology_key=constraint.topology_key,
        when_unsatisfiable=constraint.when_unsatisfiable,
        label_selector=selector,
        min_domains=constraint.min_domains,
        node_affinity_policy=constraint.node_affinity_policy,
        node_taints_policy=constraint.node_taints_policy,
    )
