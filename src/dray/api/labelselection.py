"""Label selectors as objects write them, held against labels."""

from collections.abc import Mapping

from dray.api.meta import LabelSelector
from dray.values.selectors import requirement_of, selector_of

__all__ = ["selects"]


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """Whether the labels meet every condition. An empty selector selects everything, an absent one nothing."""
    if selector is None:
        return False
    requirements = (requirement_of(each.key, each.operator, each.values) for each in selector.match_expressions)
    return selector_of(selector.match_labels, requirements).matches(labels)
