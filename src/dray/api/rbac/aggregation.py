"""Cluster roles that are put together from others."""

from collections.abc import Iterable

from dray.api.meta import LabelSelector
from dray.api.rbac.role import ClusterRole, PolicyRule
from dray.values.selectors import requirement_of, selector_of

__all__ = ["aggregate_rules"]


def aggregate_rules(role: ClusterRole, others: Iterable[ClusterRole]) -> tuple[PolicyRule, ...]:
    """The rules a role should have: those of every other role that it selects, each rule once.

    Roles contribute selector by selector, ordered by name. A role without an aggregation rule keeps its own rules. What
    selected roles are put together from counts as it stands: apply this again until nothing changes.
    """
    if role.aggregation_rule is None:
        return role.rules
    candidates = sorted((each for each in others if each.metadata.name != role.metadata.name), key=_name)
    rules: dict[PolicyRule, None] = {}
    for selector in role.aggregation_rule.cluster_role_selectors:
        for each in candidates:
            if _selects(selector, each):
                rules.update(dict.fromkeys(each.rules))
    return tuple(rules)


def _name(role: ClusterRole) -> str:
    return role.metadata.name


def _selects(selector: LabelSelector, role: ClusterRole) -> bool:
    requirements = [requirement_of(each.key, each.operator, each.values) for each in selector.match_expressions]
    return selector_of(selector.match_labels, requirements).matches(role.metadata.labels)
