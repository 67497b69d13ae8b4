"""What pods, and their profile, require of the labels and names of nodes."""

from __future__ import annotations

from collections.abc import Iterable

from dray.api.core.nodeselector import NodeSelector
from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.nodeterms import named_nodes
from dray.scheduler.core.verdicts import Code, Verdict

__all__ = ["NodeAffinityFilter", "required_of"]


def required_of(applicant: Applicant) -> NodeSelector | None:
    """The terms of which a node must meet one, if there are any."""
    affinity = applicant.node_affinity
    return None if affinity is None else affinity.required_during_scheduling_ignored_during_execution


class NodeAffinityFilter(Filter):
    """`nodeSelector` and required node affinity must both hold, and so must the affinity that the profile adds."""

    plugin = "NodeAffinity"

    def reject(self, applicant: Applicant) -> Verdict | None:
        """A pod whose terms each name two nodes at once."""
        if self._named(applicant) == frozenset():
            return Verdict(self.plugin, ("pod affinity terms conflict",), Code.UNRESOLVABLE)
        return None

    def narrow(self, applicant: Applicant) -> int | None:
        """The nodes that the terms name, if every term does."""
        names = self._named(applicant)
        if names is None:
            return None
        numbers = map(self._snapshot.find_number, sorted(names))
        return sum(1 << number for number in numbers if number is not None)

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """The nodes that the profile's affinity rules out, then those that the pod's does."""
        added = self._profile.added_affinity
        enforced = added.required_during_scheduling_ignored_during_execution if added is not None else None
        rest = self._snapshot.present
        if enforced is not None:
            refused = rest & ~self._indexes.node_terms.selected(enforced)
            reason = "node(s) didn't match scheduler-enforced node affinity"
            yield Refused((reason,), Code.UNRESOLVABLE, refused)
            rest &= ~refused
        refused = rest & ~self.matching(applicant)
        if refused:
            yield Refused(("node(s) didn't match Pod's node affinity/selector",), Code.UNRESOLVABLE, refused)

    def matching(self, applicant: Applicant) -> int:
        """The nodes that the pod's own selector and terms select."""
        terms = self._indexes.node_terms
        found = self._snapshot.present
        if applicant.node_labels:
            found = terms.with_labels(applicant.node_labels)
        required = required_of(applicant)
        return found if required is None else found & terms.selected(required)

    def _named(self, applicant: Applicant) -> frozenset[str] | None:
        required = required_of(applicant)
        return None if required is None else named_nodes(required)
