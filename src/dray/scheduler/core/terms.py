"""What pods on nodes say about other pods: terms of affinity, each with the pods that have it counted by node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from dray.api.core.affinity import Affinity, WeightedPodAffinityTerm
from dray.api.core.pod import Pod
from dray.scheduler.core.peers import Peers, peers_of_term

__all__ = ["Role", "Term", "TermBook", "terms_of"]


class Role(Enum):
    """What a term asks for."""

    NEEDS = "required affinity"
    AVOIDS = "required anti-affinity"
    LIKES = "preferred affinity"
    DISLIKES = "preferred anti-affinity"


class Term(NamedTuple):
    """A wish of one pod about others: which pods, and what kind of place is shared with them or not."""

    role: Role
    peers: Peers
    topology_key: str
    weight: int = 0


def terms_of(pod: Pod) -> tuple[Term, ...]:
    """All terms of a pod."""
    affinity = pod.spec.affinity
    return () if affinity is None else tuple(_terms(affinity, pod.metadata.namespace))


def _terms(affinity: Affinity, namespace: str) -> Iterator[Term]:
    near, away = affinity.pod_affinity, affinity.pod_anti_affinity
    if near is not None:
        for term in near.required_during_scheduling_ignored_during_execution:
            yield Term(Role.NEEDS, peers_of_term(term, namespace), term.topology_key)
        for preferred in near.preferred_during_scheduling_ignored_during_execution:
            yield _weighted(Role.LIKES, preferred, namespace)
    if away is not None:
        for term in away.required_during_scheduling_ignored_during_execution:
            yield Term(Role.AVOIDS, peers_of_term(term, namespace), term.topology_key)
        for preferred in away.preferred_during_scheduling_ignored_during_execution:
            yield _weighted(Role.DISLIKES, preferred, namespace)


def _weighted(role: Role, preferred: WeightedPodAffinityTerm, namespace: str) -> Term:
    term = preferred.pod_affinity_term
    return Term(role, peers_of_term(term, namespace), term.topology_key, preferred.weight)


class TermBook:
    """All terms of pods on nodes. `version` grows when a term comes that nobody had, or the last pod with one goes."""

    def __init__(self) -> None:
        self.version = 0
        self._counts: dict[Term, int] = {}
        self._avoiding: dict[Term, None] = {}

    def avoiding(self) -> Iterator[Term]:
        """The terms of required anti-affinity: they keep off even pods that say nothing themselves."""
        return iter(self._avoiding)

    def wishing(self) -> Iterator[Term]:
        """The other terms: they make places better or worse for the pods they are about."""
        return (each for each in self._counts if each.role is not Role.AVOIDS)

    def add(self, terms: Iterable[Term]) -> None:
        """Count in what a pod says."""
        for term in terms:
            if term not in self._counts:
                self.version += 1
                if term.role is Role.AVOIDS:
                    self._avoiding[term] = None
            self._counts[term] = self._counts.get(term, 0) + 1

    def remove(self, terms: Iterable[Term]) -> None:
        """Count out what a pod says."""
        for term in terms:
            self._counts[term] -= 1
            if not self._counts[term]:
                del self._counts[term]
                self._avoiding.pop(term, None)
                self.version += 1
