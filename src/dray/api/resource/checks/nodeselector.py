"""Node selectors: at least one term, and conditions on labels or on the name of a node that can be evaluated."""

from collections.abc import Iterator

from dray.api.core.nodeselector import NodeSelector, NodeSelectorOperator, NodeSelectorRequirement
from dray.api.resource.checks.names import check_label_key, check_label_value, check_node_name
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["check_node_selector"]

_SETS = frozenset({NodeSelectorOperator.IN, NodeSelectorOperator.NOT_IN})
_EXISTENCE = frozenset({NodeSelectorOperator.EXISTS, NodeSelectorOperator.DOES_NOT_EXIST})
_COMPARISONS = frozenset({NodeSelectorOperator.LT, NodeSelectorOperator.GT})
_UNKNOWN = "not a valid selector operator"


def check_node_selector(selector: NodeSelector, path: FieldPath) -> list[FieldError]:
    """Every fault of a node selector; how many terms are wanted beyond the first is the caller's business."""
    at = path / "nodeSelectorTerms"
    if not selector.node_selector_terms:
        return [required(at, "must have at least one node selector term", hint="add a term, or remove the selector")]
    faults: list[FieldError] = []
    for index, term in enumerate(selector.node_selector_terms):
        for number, expression in enumerate(term.match_expressions):
            faults += _expression_faults(expression, at / index / "matchExpressions" / number)
        for number, expression in enumerate(term.match_fields):
            faults += _field_faults(expression, at / index / "matchFields" / number)
    return faults


def _expression_faults(expression: NodeSelectorRequirement, path: FieldPath) -> Iterator[FieldError]:
    operator, values = expression.operator, expression.values
    if operator in _SETS:
        if not values:
            yield required(path / "values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in _EXISTENCE:
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden(path / "values", detail, hint="remove values")
    elif operator in _COMPARISONS:
        if len(values) != 1:
            yield required(path / "values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
    else:
        yield invalid(path / "operator", operator, _UNKNOWN, hint=f"use {', '.join(NodeSelectorOperator)}")
    yield from check_label_key(expression.key, path / "key")
    for index, value in enumerate(values):
        yield from check_label_value(value, path / "values" / index)


def _field_faults(expression: NodeSelectorRequirement, path: FieldPath) -> Iterator[FieldError]:
    if expression.operator not in _SETS:
        yield invalid(path / "operator", expression.operator, _UNKNOWN, hint="use In or NotIn")
    elif len(expression.values) != 1:
        detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        yield required(path / "values", detail)
    if expression.key != "metadata.name":
        yield invalid(path / "key", expression.key, "not a valid field selector key", hint="use metadata.name")
        return
    for index, value in enumerate(expression.values):
        yield from check_node_name(value, path / "values" / index)
