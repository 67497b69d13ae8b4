"""Which pods a pod means when it speaks of others: by namespace, by the namespace's labels, by their own labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from dray.api.core.affinity import PodAffinityTerm, TopologySpreadConstraint
from dray.api.core.pod import Pod
from dray.api.meta import LabelSelector as ApiSelector
from dray.scheduler.core.kin import Kin
from dray.values.selectors import LabelSelector, Operator, Requirement, SelectorError, requirement_of, selector_of

__all__ = ["NamespaceLabels", "Peers", "SpreadRule", "peers_of_term", "selector_from", "spread_rule"]

NamespaceLabels = Callable[[str], Mapping[str, str] | None]
"""The labels of the namespace of a name."""


class Peers(NamedTuple):
    """A set of pods. Absent selectors select nothing; equal sets are equal values."""

    namespaces: frozenset[str]
    namespace_selector: LabelSelector | None
    selector: LabelSelector | None
    with_leaving: bool = True

    def include(self, kin: Kin, labels_of: NamespaceLabels) -> bool:
        """Whether pods of that kin belong to the set."""
        if self.selector is None or (kin.is_leaving and not self.with_leaving):
            return False
        return self.selector.matches(kin.labels) and self._in_namespace(kin.namespace, labels_of)

    def _in_namespace(self, namespace: str, labels_of: NamespaceLabels) -> bool:
        if namespace in self.namespaces:
            return True
        if self.namespace_selector is None:
            return False
        return self.namespace_selector.matches(labels_of(namespace) or {})


def peers_of_term(term: PodAffinityTerm, namespace: str) -> Peers:
    """The pods a term is about, in a pod of that namespace."""
    is_own = not term.namespaces and term.namespace_selector is None
    return Peers(
        frozenset((namespace,)) if is_own else frozenset(term.namespaces),
        selector_from(term.namespace_selector),
        selector_from(term.label_selector),
    )


class SpreadRule(NamedTuple):
    """A constraint, with the pods it counts and whether the pod that has it is one of them."""

    constraint: TopologySpreadConstraint
    peers: Peers
    counts_itself: bool


def spread_rule(constraint: TopologySpreadConstraint, pod: Pod) -> SpreadRule:
    """What a constraint of the pod means: pods of its namespace, not on their way out, alike in some labels.

    A selector that asks nothing counts nobody but the pod itself, as in Kubernetes.
    """
    selector = selector_from(constraint.label_selector)
    if selector is not None:
        selector = _narrowed(selector, constraint.match_label_keys, pod.metadata.labels)
    counting = None if selector is None or selector.is_empty else selector
    peers = Peers(frozenset((pod.metadata.namespace,)), None, counting, with_leaving=False)
    return SpreadRule(constraint, peers, selector is not None and selector.matches(pod.metadata.labels))


def selector_from(selector: ApiSelector | None) -> LabelSelector | None:
    """A selector of an object. One that no API server would have let pass selects nothing."""
    if selector is None:
        return None
    try:
        requirements = [requirement_of(each.key, each.operator, each.values) for each in selector.match_expressions]
    except SelectorError:
        return None
    return selector_of(selector.match_labels, requirements)


def _narrowed(selector: LabelSelector, keys: Iterable[str], labels: Mapping[str, str]) -> LabelSelector:
    """The API server does this when a pod is created; one that was created before is completed here."""
    more = [Requirement(key, Operator.IN, (labels[key],)) for key in keys if key in labels]
    missing = [each for each in more if each not in selector.requirements]
    return selector_of({}, (*selector.requirements, *missing)) if missing else selector
