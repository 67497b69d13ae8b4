"""Conditions in a status: the rules that all kinds share. How many there may be is each kind's own."""

from collections.abc import Iterator, Sequence

from dray.api.meta import Condition
from dray.api.resource.checks.lists import note_duplicates
from dray.api.resource.checks.names import check_label_key
from dray.api.resource.checks.report import Report
from dray.errors import FieldError, invalid, not_supported, required, too_long
from dray.values.fieldpath import FieldPath
from dray.values.names import byte_length, condition_reason_faults

__all__ = ["inspect_conditions"]

_STATUSES = ("False", "True", "Unknown")
_MAX_REASON_BYTES = 1024
_MAX_MESSAGE_BYTES = 32 * 1024


def inspect_conditions(conditions: Sequence[Condition], path: FieldPath, report: Report) -> None:
    """Types differ, and every condition is complete."""
    types = [each.type for each in conditions]
    note_duplicates(types, types, path, report.add)
    for index, condition in enumerate(conditions):
        report.add_all(_condition_faults(condition, path / index))


def _condition_faults(condition: Condition, path: FieldPath) -> Iterator[FieldError]:
    if condition.type:
        yield from check_label_key(condition.type, path / "type")
    else:
        yield required(path / "type", "is required")
    if not condition.status:
        yield required(path / "status", hint="set status to True, False or Unknown")
    elif condition.status not in _STATUSES:
        yield not_supported(path / "status", condition.status, _STATUSES)
    if condition.observed_generation < 0:
        detail = "must be greater than or equal to zero"
        yield invalid(path / "observedGeneration", condition.observed_generation, detail)
    if condition.last_transition_time is None or condition.last_transition_time.is_zero:
        yield required(path / "lastTransitionTime")
    yield from _reason_faults(condition.reason, path / "reason")
    if byte_length(condition.message) > _MAX_MESSAGE_BYTES:
        yield too_long(path / "message", _MAX_MESSAGE_BYTES)


def _reason_faults(reason: str, path: FieldPath) -> Iterator[FieldError]:
    if not reason:
        yield required(path, hint="give one CamelCase word")
        return
    for detail in condition_reason_faults(reason):
        yield invalid(path, reason, detail)
    if byte_length(reason) > _MAX_REASON_BYTES:
        yield too_long(path, _MAX_REASON_BYTES)
