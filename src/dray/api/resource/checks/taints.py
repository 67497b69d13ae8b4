"""Taints of devices and the tolerations that answer them."""

from collections.abc import Sequence

from dray.api.resource.checks.names import check_label_key, check_label_value
from dray.api.resource.checks.report import Report
from dray.api.resource.device import DeviceTaint
from dray.api.resource.request import DeviceToleration, TaintEffect, TolerationOperator
from dray.errors import invalid, not_supported, required
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_taint", "inspect_tolerations"]

_EFFECTS = frozenset(TaintEffect)


def inspect_taint(taint: DeviceTaint, path: FieldPath, report: Report, *, stored_effect: str | None = None) -> None:
    """A taint has a key and a known effect. An unknown effect that is stored already may stay: it counts as None."""
    report.add_all(check_label_key(taint.key, path / "key"))
    if taint.value:
        report.add_all(check_label_value(taint.value, path / "value"))
    if taint.effect in _EFFECTS or taint.effect == stored_effect:
        return
    if taint.effect:
        report.declare(not_supported(path / "effect", taint.effect, TaintEffect))
    else:
        report.declare(required(path / "effect", hint="set effect to NoSchedule, NoExecute or None"))


def inspect_tolerations(tolerations: Sequence[DeviceToleration], path: FieldPath, report: Report) -> None:
    """Tolerations are well-formed; how many there are is nobody's business."""
    for index, toleration in enumerate(tolerations):
        _inspect_toleration(toleration, path / index, report)


def _inspect_toleration(toleration: DeviceToleration, path: FieldPath, report: Report) -> None:
    if toleration.key:
        report.declare_all(check_label_key(toleration.key, path / "key"))
    if toleration.operator == TolerationOperator.EXISTS:
        if toleration.value:
            detail = "must be empty for operator `Exists`"
            hint = "remove value, or set operator to Equal"
            report.add(invalid(path / "value", toleration.value, detail, hint=hint))
    elif toleration.operator == TolerationOperator.EQUAL:
        report.add_all(check_label_value(toleration.value, path / "value"))
    elif toleration.operator:
        report.declare(not_supported(path / "operator", toleration.operator, TolerationOperator))
    else:
        report.declare(required(path / "operator"))
    if toleration.effect and toleration.effect not in _EFFECTS:
        report.declare(not_supported(path / "effect", toleration.effect, TaintEffect))
