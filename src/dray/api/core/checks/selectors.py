"""Selectors of nodes and of labels: conditions that can be evaluated, on keys and values that can exist."""

from collections.abc import Iterator, Sequence

from dray.api.core.checks.naming import key_faults, labels_faults, subdomain_faults, value_faults
from dray.api.core.nodeselector import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from dray.api.meta import LabelSelector, LabelSelectorRequirement
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["label_selector_faults", "node_selector_faults", "node_selector_term_faults"]

_SETS = ("In", "NotIn")
_EXISTENCE = ("Exists", "DoesNotExist")
_COMPARISONS = ("Gt", "Lt")
_UNKNOWN = "not a valid selector operator"


def node_selector_faults(selector: NodeSelector, path: FieldPath) -> Iterator[FieldError]:
    """At least one term, and every term sound."""
    terms = selector.node_selector_terms
    if not terms:
        yield required(path / "nodeSelectorTerms", "must have at least one node selector term")
    for index, term in enumerate(terms or ()):
        yield from node_selector_term_faults(term, path / "nodeSelectorTerms" / index)


def node_selector_term_faults(term: NodeSelectorTerm, path: FieldPath) -> Iterator[FieldError]:
    """Conditions on labels, and on the name of the node."""
    for index, condition in enumerate(term.match_expressions):
        yield from _node_condition_faults(condition, path / "matchExpressions" / index)
    for index, condition in enumerate(term.match_fields):
        yield from _field_condition_faults(condition, path / "matchFields" / index)


def _node_condition_faults(condition: NodeSelectorRequirement, path: FieldPath) -> Iterator[FieldError]:
    if condition.operator in _COMPARISONS:
        if len(condition.values) != 1:
            yield required(path / "values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield from _operator_faults(condition.operator, condition.values, path)
    yield from key_faults(condition.key, path / "key")
    for index, value in enumerate(condition.values):
        yield from value_faults(value, path / "values" / index)


def _operator_faults(operator: str, values: Sequence[str], path: FieldPath) -> Iterator[FieldError]:
    if operator in _SETS:
        if not values:
            yield required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _EXISTENCE:
        if values:
            yield forbidden(path / "values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")
    else:
        yield invalid(path / "operator", operator, _UNKNOWN)


def _field_condition_faults(condition: NodeSelectorRequirement, path: FieldPath) -> Iterator[FieldError]:
    if condition.operator not in _SETS:
        yield invalid(path / "operator", condition.operator, _UNKNOWN, hint="use In or NotIn")
    elif len(condition.values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(path / "values", detail)
    if condition.key != "metadata.name":
        yield invalid(path / "key", condition.key, "not a valid field selector key", hint="use metadata.name")
        return
    for index, value in enumerate(condition.values):
        yield from subdomain_faults(value, path / "values" / index)


def label_selector_faults(selector: LabelSelector | None, path: FieldPath) -> Iterator[FieldError]:
    """Labels that can exist, and conditions on them that can be evaluated."""
    if selector is None:
        return
    yield from labels_faults(selector.match_labels, path / "matchLabels")
    for index, condition in enumerate(selector.match_expressions):
        yield from _label_condition_faults(condition, path / "matchExpressions" / index)


def _label_condition_faults(condition: LabelSelectorRequirement, path: FieldPath) -> Iterator[FieldError]:
    yield from _operator_faults(condition.operator, condition.values, path)
    yield from key_faults(condition.key, path / "key")
    for index, value in enumerate(condition.values):
        yield from value_faults(value, path / "values" / index)
