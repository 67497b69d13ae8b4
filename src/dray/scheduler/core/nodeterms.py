"""Which nodes the node selectors of pods select, all at once.

The same rules as for one node: terms are alternatives, a term without any condition selects nothing. A malformed
condition makes its term select nothing, as it does in Kubernetes' scheduler.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_, or_

from dray.api.core.nodeselector import NodeSelector, NodeSelectorOperator, NodeSelectorRequirement, NodeSelectorTerm
from dray.scheduler.core.domains import DomainIndex
from dray.scheduler.core.snapshot import Snapshot

__all__ = ["NodeTerms", "named_nodes"]

_NAME_FIELD = "metadata.name"
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}")


class NodeTerms:
    """Answers by label index, without a look at single nodes."""

    def __init__(self, snapshot: Snapshot, domains: DomainIndex) -> None:
        self._snapshot = snapshot
        self._domains = domains

    def with_labels(self, labels: Iterable[tuple[str, str]]) -> int:
        """The nodes that have all these labels."""
        found = self._snapshot.present
        for key, value in labels:
            found &= self._domains.masks(key).get(value, 0)
        return found

    def selected(self, selector: NodeSelector) -> int:
        """The nodes that some term selects."""
        return reduce(or_, map(self.matching, selector.node_selector_terms), 0)

    def matching(self, term: NodeSelectorTerm) -> int:
        """The nodes for which every condition of a term holds."""
        if not term.match_expressions and not term.match_fields:
            return 0
        found = reduce(and_, map(self._by_label, term.match_expressions), self._snapshot.present)
        return reduce(and_, map(self._by_field, term.match_fields), found)

    def _by_label(self, requirement: NodeSelectorRequirement) -> int:
        domains = self._domains.get(requirement.key)
        values = requirement.values
        match requirement.operator:
            case NodeSelectorOperator.IN:
                return _union(domains.masks, values)
            case NodeSelectorOperator.NOT_IN if values:
                return self._snapshot.present & ~_union(domains.masks, values)
            case NodeSelectorOperator.EXISTS if not values:
                return domains.having
            case NodeSelectorOperator.DOES_NOT_EXIST if not values:
                return self._snapshot.present & ~domains.having
            case NodeSelectorOperator.GT | NodeSelectorOperator.LT if len(values) == 1:
                return _compared(domains.masks, values[0], above=requirement.operator == NodeSelectorOperator.GT)
        return 0

    def _by_field(self, requirement: NodeSelectorRequirement) -> int:
        if requirement.key != _NAME_FIELD or len(requirement.values) != 1:
            return 0
        number = self._snapshot.find_number(requirement.values[0])
        named = 0 if number is None else 1 << number
        match requirement.operator:
            case NodeSelectorOperator.IN:
                return named
            case NodeSelectorOperator.NOT_IN:
                return self._snapshot.present & ~named
        return 0


def named_nodes(selector: NodeSelector) -> frozenset[str] | None:
    """The only nodes that could be selected, where every term names its nodes; else None.

    An empty set means that the terms contradict themselves.
    """
    names: set[str] = set()
    for term in selector.node_selector_terms:
        of_term = [
            set(each.values)
            for each in term.match_fields
            if each.key == _NAME_FIELD and each.operator == NodeSelectorOperator.IN
        ]
        if not of_term:
            return None
        names |= set.intersection(*of_term)
    return frozenset(names) if selector.node_selector_terms else None


def _union(masks: Mapping[str, int], values: Iterable[str]) -> int:
    return reduce(or_, (masks.get(value, 0) for value in values), 0)


def _compared(masks: Mapping[str, int], bound: str, *, above: bool) -> int:
    limit = _integer(bound)
    if limit is None:
        return 0
    found = 0
    for value, mask in masks.items():
        number = _integer(value)
        if number is not None and (number > limit if above else number < limit):
            found |= mask
    return found


def _integer(text: str) -> int | None:
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None
