"""Which nodes a node selector selects. Terms are alternatives; an empty term selects nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping

from dray.api.core.node import Node
from dray.api.core.nodeselector import (
    NodeSelector,
    NodeSelectorOperator,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from dray.api.resource.device import Device
from dray.api.resource.slice import ResourceSliceSpec

__all__ = ["NodeSelectorError", "find_only_node", "is_reachable", "selects"]

_NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")


class NodeSelectorError(ValueError):
    """A requirement of a node selector does not make sense."""


def is_reachable(place: ResourceSliceSpec | Device, node: Node) -> bool:
    """Whether the devices of a slice, or one device of a slice that leaves it to them, can be used from the node.

    Node name, then all nodes, then the selector: the first that is set decides.
    """
    if place.node_name:
        return place.node_name == node.metadata.name
    if place.all_nodes:
        return True
    return place.node_selector is not None and selects(place.node_selector, node)


def find_only_node(selector: NodeSelector | None) -> str:
    """The one node that a selector names; empty if there may be several, or all."""
    terms = () if selector is None else selector.node_selector_terms
    fields = [each for term in terms for each in term.match_fields]
    return fields[0].values[0] if len(fields) == 1 and len(fields[0].values) == 1 else ""


def selects(selector: NodeSelector, node: Node) -> bool:
    """Whether one of the terms holds. Raises `NodeSelectorError` if any requirement in it is malformed."""
    verdicts = [_holds(term, node) for term in selector.node_selector_terms]
    return any(verdicts)


def _holds(term: NodeSelectorTerm, node: Node) -> bool:
    labels = node.metadata.labels
    fields = {_NAME_FIELD: node.metadata.name}
    verdicts = [_label_holds(requirement, labels) for requirement in term.match_expressions]
    verdicts += [_field_holds(requirement, fields) for requirement in term.match_fields]
    return bool(verdicts) and all(verdicts)


def _label_holds(requirement: NodeSelectorRequirement, labels: Mapping[str, str]) -> bool:
    values = requirement.values
    value = labels.get(requirement.key)
    match requirement.operator:
        case NodeSelectorOperator.IN | NodeSelectorOperator.NOT_IN:
            _require(requirement, "for 'in', 'notin' operators, values set can't be empty", that=bool(values))
            return (value is not None and value in values) == (requirement.operator == NodeSelectorOperator.IN)
        case NodeSelectorOperator.EXISTS | NodeSelectorOperator.DOES_NOT_EXIST:
            _require(requirement, "values set must be empty for exists and does not exist", that=not values)
            return (value is not None) == (requirement.operator == NodeSelectorOperator.EXISTS)
        case NodeSelectorOperator.GT | NodeSelectorOperator.LT:
            _require(requirement, "for 'Gt', 'Lt' operators, exactly one value is required", that=len(values) == 1)
            bound = _integer(values[0])
            _require(requirement, "for 'Gt', 'Lt' operators, the value must be an integer", that=bound is not None)
            number = _integer(value)
            if bound is None or number is None:
                return False
            return number > bound if requirement.operator == NodeSelectorOperator.GT else number < bound
    raise NodeSelectorError(f'key "{requirement.key}": "{requirement.operator}" is not a valid label selector operator')


def _field_holds(requirement: NodeSelectorRequirement, fields: Mapping[str, str]) -> bool:
    is_in = requirement.operator == NodeSelectorOperator.IN
    if not is_in and requirement.operator != NodeSelectorOperator.NOT_IN:
        detail = f'"{requirement.operator}" is not a valid field selector operator'
        raise NodeSelectorError(f'key "{requirement.key}": {detail}')
    _require(requirement, "must have one element", that=len(requirement.values) == 1)
    return (fields.get(requirement.key, "") == requirement.values[0]) == is_in


def _integer(text: str | None) -> int | None:
    return int(text) if text is not None and _INTEGER.fullmatch(text) else None


def _require(requirement: NodeSelectorRequirement, detail: str, *, that: bool) -> None:
    if not that:
        raise NodeSelectorError(f'key "{requirement.key}": {detail}')
