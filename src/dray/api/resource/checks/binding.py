"""Binding conditions: what a driver still has to report of a device before a pod may be bound to its node."""

from collections.abc import Sequence

from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_label_key
from dray.api.resource.checks.report import Report
from dray.errors import invalid
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_binding_conditions"]

_MAX_CONDITIONS = 4


def inspect_binding_conditions(
    conditions: Sequence[str], failures: Sequence[str], path: FieldPath, report: Report
) -> None:
    """Both lists are given or none, and no condition stands twice. `path` is that of the object that has the lists."""
    if not conditions and not failures:
        return
    at, failed_at = path / "bindingConditions", path / "bindingFailureConditions"
    for listed, list_path in ((conditions, at), (failures, failed_at)):
        if fits(listed, _MAX_CONDITIONS, list_path, report.declare):
            for index, condition in enumerate(listed):
                report.add_all(check_label_key(condition, list_path / index))
    note_duplicates(conditions, conditions, at, report.add)
    note_duplicates(failures, failures, failed_at, report.add)
    for index, condition in enumerate(failures):
        if condition in conditions:
            detail = "bindingFailureConditions must not overlap with bindingConditions"
            report.add(invalid(failed_at / index, condition, detail))
    if not conditions:
        detail = "bindingConditions are required to use bindingFailureConditions"
        report.add(invalid(at, None, detail, hint="add bindingConditions, or remove bindingFailureConditions"))
    if not failures:
        detail = "bindingFailureConditions are required to use bindingConditions"
        report.add(invalid(failed_at, None, detail, hint="add bindingFailureConditions, or remove bindingConditions"))
