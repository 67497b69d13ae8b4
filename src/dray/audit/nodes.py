"""From which nodes something can be used, and which node selector follows from the devices of a claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dray.api.core.node import Node
from dray.api.core.nodeselector import (
    NodeSelector,
    NodeSelectorOperator,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from dray.api.resource.device import Device
from dray.api.resource.slice import ResourceSliceSpec
from dray.audit.world import Published

__all__ = ["expected_node_selector", "is_usable_from", "placement", "selects", "unsupported_selectors"]


def selects(selector: NodeSelector, node: Node) -> bool:
    """One term holds. A term without requirements never does, and neither does a malformed requirement."""
    return any(_term_holds(term, node) for term in selector.node_selector_terms)


def _term_holds(term: NodeSelectorTerm, node: Node) -> bool:
    labels = node.metadata.labels
    fields = {"metadata.name": node.metadata.name}
    holding = [_requirement_holds(requirement, labels) for requirement in term.match_expressions]
    holding += [_requirement_holds(requirement, fields) for requirement in term.match_fields]
    return bool(holding) and all(holding)


def _requirement_holds(requirement: NodeSelectorRequirement, facts: Mapping[str, str]) -> bool:
    value = facts.get(requirement.key)
    match requirement.operator:
        case NodeSelectorOperator.IN:
            return value is not None and value in requirement.values
        case NodeSelectorOperator.NOT_IN:
            return value is None or value not in requirement.values
        case NodeSelectorOperator.EXISTS:
            return value is not None
        case NodeSelectorOperator.DOES_NOT_EXIST:
            return value is None
        case NodeSelectorOperator.GT | NodeSelectorOperator.LT:
            try:
                number, bound = int(value or ""), int(requirement.values[0])
            except (ValueError, IndexError):
                return False
            return number > bound if requirement.operator == NodeSelectorOperator.GT else number < bound
    return False


def is_usable_from(place: ResourceSliceSpec | Device, node: Node) -> bool:
    """A slice, or a device of a slice that leaves it to its devices, names this node, all nodes, or selects it."""
    if place.node_name:
        return place.node_name == node.metadata.name
    if place.all_nodes:
        return True
    return place.node_selector is not None and selects(place.node_selector, node)


def placement(published: Published) -> ResourceSliceSpec | Device:
    """Where it is said from which nodes a device can be used."""
    spec = published.source.spec
    return published.device if spec.per_device_node_selection else spec


def expected_node_selector(devices: Sequence[Published], node: Node) -> NodeSelector | None:
    """The node alone if any device belongs to one node or binds to it; else all conditions of all devices together."""
    if _is_bound(devices):
        name = NodeSelectorRequirement(
            key="metadata.name", operator=NodeSelectorOperator.IN, values=(node.metadata.name,)
        )
        return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(name,)),))
    terms = [
        selector.node_selector_terms[0]
        for published in devices
        if (selector := placement(published).node_selector) is not None and len(selector.node_selector_terms) == 1
    ]
    fields = _without_repetition([each for term in terms for each in term.match_fields])
    expressions = _without_repetition([each for term in terms for each in term.match_expressions])
    if not fields and not expressions:
        return None
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=fields, match_expressions=expressions),))


def unsupported_selectors(devices: Sequence[Published]) -> list[Published]:
    """Devices whose node selector has alternatives, which no selector of a claim can combine with others."""
    if _is_bound(devices):
        return []
    return [
        published
        for published in devices
        if (selector := placement(published).node_selector) is not None and len(selector.node_selector_terms) > 1
    ]


def _is_bound(devices: Sequence[Published]) -> bool:
    return any(placement(published).node_name or published.device.binds_to_node for published in devices)


def _without_repetition(requirements: Sequence[NodeSelectorRequirement]) -> tuple[NodeSelectorRequirement, ...]:
    """The first of those that agree in key, operator and the set of their values."""
    kept: dict[tuple[str, str, frozenset[str]], NodeSelectorRequirement] = {}
    for requirement in requirements:
        kept.setdefault((requirement.key, requirement.operator, frozenset(requirement.values)), requirement)
    return tuple(kept.values())
