"""Checks of `DeviceTaintRule`."""

from dray.api.checks import CheckContext
from dray.api.resource.checks.conditions import inspect_conditions
from dray.api.resource.checks.names import check_driver_name, check_label, check_pool_name
from dray.api.resource.checks.report import Report
from dray.api.resource.checks.taints import inspect_taint
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintSelector
from dray.errors import FieldError, too_many
from dray.values.fieldpath import SPEC, STATUS, FieldPath

__all__ = ["create_checks", "status_checks", "update_checks"]

_MAX_CONDITIONS = 8


def check_rule(new: DeviceTaintRule, old: DeviceTaintRule | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a rule."""
    report = Report(context)
    if new.spec.device_selector is not None:
        _inspect_selector(new.spec.device_selector, SPEC / "deviceSelector", report)
    stored_effect = old.spec.taint.effect if old is not None else None
    inspect_taint(new.spec.taint, SPEC / "taint", report, stored_effect=stored_effect)
    return report.faults()


def check_status(new: DeviceTaintRule, old: DeviceTaintRule | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a rule's status."""
    report = Report(context)
    at, conditions = STATUS / "conditions", new.status.conditions
    inspect_conditions(conditions, at, report)
    if len(conditions) > _MAX_CONDITIONS:
        report.add(too_many(at, len(conditions), _MAX_CONDITIONS))
    return report.faults()


create_checks = (check_rule,)
update_checks = (check_rule,)
status_checks = (check_status,)


def _inspect_selector(selector: DeviceTaintSelector, path: FieldPath, report: Report) -> None:
    if selector.driver is not None:
        report.add_all(check_driver_name(selector.driver, path / "driver"))
    if selector.pool is not None:
        report.add_all(check_pool_name(selector.pool, path / "pool"))
    if selector.device is not None:
        report.add_all(check_label(selector.device, path / "device"))
