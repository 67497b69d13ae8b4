"""Whether a taint keeps a device from a request."""

from __future__ import annotations

from collections.abc import Iterable

from dray.api.resource.device import DeviceTaint
from dray.api.resource.request import DeviceToleration, TaintEffect, TolerationOperator

__all__ = ["is_blocked"]


def is_blocked(taint: DeviceTaint, tolerations: Iterable[DeviceToleration]) -> bool:
    """A taint blocks if its effect concerns scheduling and no toleration matches its effect, key and value."""
    if taint.effect not in (TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE):
        return False
    return not any(_matches(toleration, taint) for toleration in tolerations)


def _matches(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    matches_effect = toleration.effect in ("", taint.effect)
    matches_key = toleration.key in ("", taint.key)
    matches_value = toleration.operator == TolerationOperator.EXISTS or (
        toleration.operator in ("", TolerationOperator.EQUAL) and toleration.value == taint.value
    )
    return matches_effect and matches_key and matches_value
