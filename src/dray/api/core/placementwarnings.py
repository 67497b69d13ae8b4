"""What is hardly meant in where a pod is to run: labels of nodes that have other names now, and selectors of nobody."""

from collections.abc import Iterator, Sequence
from typing import Final

from dray.api.core.affinity import NodeAffinity, PodAffinity, PodAffinityTerm, PodAntiAffinity
from dray.api.core.nodeselector import NodeSelectorTerm
from dray.api.core.podspec import PodSpec
from dray.values.fieldpath import SPEC, FieldPath, key

__all__ = ["placement_warnings"]

_RENAMED: Final = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
_NOBODY: Final = "labelSelector: a null labelSelector results in matching no pod"
_REQUIRED: Final = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED: Final = "preferredDuringSchedulingIgnoredDuringExecution"


def placement_warnings(spec: PodSpec) -> Iterator[str]:
    """Texts for the client."""
    for label in spec.node_selector:
        if label in _RENAMED:
            yield f"{SPEC / 'nodeSelector' / key(label)}: {_RENAMED[label]}"
    for index, constraint in enumerate(spec.topology_spread_constraints):
        at = SPEC / "topologySpreadConstraints" / index
        yield from _renamed(constraint.topology_key, at / "topologyKey")
        if constraint.label_selector is None:
            yield f"{at}.{_NOBODY}"
    affinity = spec.affinity
    if affinity is None:
        return
    if affinity.node_affinity is not None:
        yield from _node_warnings(affinity.node_affinity, SPEC / "affinity" / "nodeAffinity")
    for name, near in (("podAffinity", affinity.pod_affinity), ("podAntiAffinity", affinity.pod_anti_affinity)):
        if near is not None:
            yield from _pod_warnings(near, SPEC / "affinity" / name)


def _renamed(label: str, path: FieldPath) -> Iterator[str]:
    if label in _RENAMED:
        verb = "" if _RENAMED[label].startswith("use") else "is "
        yield f"{path}: {label} {verb}{_RENAMED[label]}"


def _node_warnings(affinity: NodeAffinity, path: FieldPath) -> Iterator[str]:
    required = affinity.required_during_scheduling_ignored_during_execution
    for index, term in enumerate(required.node_selector_terms if required is not None else ()):
        yield from _term_warnings(term, path / _REQUIRED / "nodeSelectorTerms" / index)
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        yield from _term_warnings(weighted.preference, path / _PREFERRED / index / "preference")


def _term_warnings(term: NodeSelectorTerm, path: FieldPath) -> Iterator[str]:
    for index, condition in enumerate(term.match_expressions):
        yield from _renamed(condition.key, path / "matchExpressions" / index / "key")


def _pod_warnings(affinity: PodAffinity | PodAntiAffinity, path: FieldPath) -> Iterator[str]:
    required: Sequence[PodAffinityTerm] = affinity.required_during_scheduling_ignored_during_execution
    for index, term in enumerate(required):
        if term.label_selector is None:
            yield f"{path / _REQUIRED / index}.{_NOBODY}"
    for index, weighted in enumerate(affinity.preferred_during_scheduling_ignored_during_execution):
        if weighted.pod_affinity_term.label_selector is None:
            yield f"{path / _PREFERRED / index / 'podAffinityTerm'}.{_NOBODY}"
