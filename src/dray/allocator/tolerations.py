"""Taints that keep a device from a request, and the tolerations that let it through."""

from __future__ import annotations

from collections.abc import Iterable

from dray.api.resource.device import DeviceTaint
from dray.api.resource.request import DeviceToleration, TaintEffect, TolerationOperator

__all__ = ["first_intolerable", "is_blocking", "is_tolerated", "render_taint"]

_BLOCKING = frozenset({TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE})


def first_intolerable(taints: Iterable[DeviceTaint], tolerations: tuple[DeviceToleration, ...]) -> DeviceTaint | None:
    """Find the first taint that keeps the device away: it blocks, and no toleration matches it.

    Effects that are not known inform only, as `None` does.
    """
    for taint in taints:
        if is_blocking(taint) and not any(is_tolerated(taint, each) for each in tolerations):
            return taint
    return None


def is_blocking(taint: DeviceTaint) -> bool:
    """Whether a taint keeps away who does not tolerate it, and does not only inform."""
    return taint.effect in _BLOCKING


def render_taint(taint: DeviceTaint) -> str:
    """`key=value:Effect`, or `key:Effect` without a value."""
    return f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"


def is_tolerated(taint: DeviceTaint, toleration: DeviceToleration) -> bool:
    """Whether one toleration matches one taint. Empty effect and key match all; the operator decides on the value."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == TolerationOperator.EXISTS:
        return True
    return toleration.operator in ("", TolerationOperator.EQUAL) and toleration.value == taint.value
