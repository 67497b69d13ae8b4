"""Pods that must be near to others or away from them, by their own word or by that of pods that are there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.filters.filter import Filter, Refused
from dray.scheduler.core.terms import Role, Term
from dray.scheduler.core.verdicts import Code

__all__ = ["InterPodAffinityFilter"]


class InterPodAffinityFilter(Filter):
    """Required terms of the pod, and required anti-affinity of pods on nodes that is about the pod."""

    plugin = "InterPodAffinity"

    def refuse(self, applicant: Applicant) -> Iterable[Refused]:
        """Affinity first, then the pod's anti-affinity, then that of others."""
        rest = self._snapshot.present
        needs = [each for each in applicant.terms if each.role is Role.NEEDS]
        if needs:
            refused = rest & ~self._near(needs, applicant)
            rest &= ~refused
            yield Refused(("node(s) didn't match pod affinity rules",), Code.UNRESOLVABLE, refused)
        avoided = rest & self._avoided(applicant)
        if avoided:
            rest &= ~avoided
            yield Refused(("node(s) didn't match pod anti-affinity rules",), Code.UNSCHEDULABLE, avoided)
        unwanted = rest & self._unwanted(applicant)
        if unwanted:
            reason = "node(s) didn't satisfy existing pods anti-affinity rules"
            yield Refused((reason,), Code.UNSCHEDULABLE, unwanted)

    def _near(self, needs: list[Term], applicant: Applicant) -> int:
        """The nodes whose places have a pod that meets all the terms.

        Where there is no such pod at all, a pod that meets its own terms is the first of its kind and may go to any
        node that is a place in the sense of all terms.
        """
        peers = tuple(each.peers for each in needs)
        having = found = self._snapshot.present
        is_first = True
        for key in dict.fromkeys(each.topology_key for each in needs):
            tally = self._indexes.tallies.of_peers(peers, key, self._snapshot.present)
            near = tally.above(1)
            is_first = is_first and not near
            found &= near
            having &= self._indexes.domains.get(key).having
        labels_of = self._snapshot.namespace_labels
        return having if is_first and all(each.include(applicant.kin, labels_of) for each in peers) else found

    def _avoided(self, applicant: Applicant) -> int:
        """The nodes whose places have a pod that the new one must not be near to."""
        found = 0
        for term in applicant.terms:
            if term.role is Role.AVOIDS:
                tally = self._indexes.tallies.of_peers((term.peers,), term.topology_key, self._snapshot.present)
                found |= tally.above(1)
        return found

    def _unwanted(self, applicant: Applicant) -> int:
        """The nodes whose places have a pod that must not be near to the new one."""
        found = 0
        for term in self._about(applicant):
            found |= self._indexes.tallies.of_term(term).above(1)
        return found

    def _about(self, applicant: Applicant) -> Iterator[Term]:
        labels_of = self._snapshot.namespace_labels
        return (each for each in self._snapshot.terms.avoiding() if each.peers.include(applicant.kin, labels_of))

    def reads_pods(self, applicant: Applicant) -> bool:
        """Pods that require something of others do, and those of which others require to be away."""
        requires = any(each.role in (Role.NEEDS, Role.AVOIDS) for each in applicant.terms)
        return requires or any(self._about(applicant))
