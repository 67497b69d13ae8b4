"""Label keys whose values a new pod brings along, written into its selectors once and for all."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from dray.api.core.affinity import PodAffinity, PodAffinityTerm, PodAntiAffinity, TopologySpreadConstraint
from dray.api.core.podspec import PodSpec
from dray.api.meta import LabelSelector, LabelSelectorRequirement

__all__ = ["apply_label_keys"]

Neighbours = TypeVar("Neighbours", PodAffinity, PodAntiAffinity)
Labels = Mapping[str, str]


def apply_label_keys(spec: PodSpec, labels: Labels) -> PodSpec:
    """The spec with `matchLabelKeys` and `mismatchLabelKeys` turned into conditions on the values that `labels` has.

    A key the pod has no label for is left out. Without a selector there is nothing to narrow.
    """
    constraints = tuple(_apply_to_constraint(each, labels) for each in spec.topology_spread_constraints)
    affinity = spec.affinity
    if affinity is not None:
        affinity = replace(
            affinity,
            pod_affinity=affinity.pod_affinity and _apply_to_neighbours(affinity.pod_affinity, labels),
            pod_anti_affinity=affinity.pod_anti_affinity and _apply_to_neighbours(affinity.pod_anti_affinity, labels),
        )
    return replace(spec, topology_spread_constraints=constraints, affinity=affinity)


def _apply_to_constraint(constraint: TopologySpreadConstraint, labels: Labels) -> TopologySpreadConstraint:
    selector = constraint.label_selector
    if selector is None:
        return constraint
    conditions = _conditions(constraint.match_label_keys, "In", labels)
    return replace(constraint, label_selector=_narrow(selector, conditions))


def _apply_to_neighbours(neighbours: Neighbours, labels: Labels) -> Neighbours:
    required = neighbours.required_during_scheduling_ignored_during_execution
    preferred = neighbours.preferred_during_scheduling_ignored_during_execution
    return replace(
        neighbours,
        required_during_scheduling_ignored_during_execution=tuple(_apply_to_term(each, labels) for each in required),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(each, pod_affinity_term=_apply_to_term(each.pod_affinity_term, labels)) for each in preferred
        ),
    )


def _apply_to_term(term: PodAffinityTerm, labels: Labels) -> PodAffinityTerm:
    selector = term.label_selector
    if selector is None:
        return term
    same = _conditions(term.match_label_keys, "In", labels)
    other = _conditions(term.mismatch_label_keys, "NotIn", labels)
    return replace(term, label_selector=_narrow(_narrow(selector, same), other))


def _conditions(keys: Sequence[str], operator: str, labels: Labels) -> Iterator[LabelSelectorRequirement]:
    return (
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],)) for key in keys if key in labels
    )


def _narrow(selector: LabelSelector, conditions: Iterator[LabelSelectorRequirement]) -> LabelSelector:
    return replace(selector, match_expressions=(*selector.match_expressions, *conditions))
