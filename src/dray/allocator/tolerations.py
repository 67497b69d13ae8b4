"""Taints that keep a device from a request, and the tolerations that let it through."""

from __future__ import annotations

from collections.abc import Iterable

from dray.api.resource.device import DeviceTaint
from dray.api.resource.request import DeviceToleration, TaintEffect, TolerationOperator

__all__ = ["first_intolerable", "is_tolerated"]

_BLOCKING = frozenset({TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE})


def first_intolerable(taints: Iterable[DeviceTaint], tolerations: tuple[DeviceToleration, ...]) -> DeviceTaint | None:
    """Find the first taint that keeps the device away: it blocks, and no toleration matches it.

    Effects that are not known inform only, as `None` does.
    """
    for taint in taints:
        if taint.effect in _BLOCKING and not any(is_tolerated(taint, each) for each in tolerations):
            return taint
    return None


def is_tolerated(taint: DeviceTaint, toleration: DeviceToleration) -> bool:
    """Whether one toleration matches one taint. Empty effect and key match all; the operator decides on the value."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == TolerationOperator.EXISTS:
        return True
    return toleration.operator in ("", TolerationOperator.EQUAL) and toleration.value == taint.value
