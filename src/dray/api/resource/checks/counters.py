"""Counters that devices of a pool draw on together: the sets, and what devices take of them."""

from collections.abc import Mapping, Sequence

from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_declared_label
from dray.api.resource.checks.report import Report
from dray.api.resource.device import Counter, CounterSet, DeviceCounterConsumption
from dray.errors import required
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_consumptions", "inspect_counter_sets"]

_MAX_COUNTER_SETS = 8
_MAX_COUNTERS = 32
_MAX_CONSUMPTIONS = 2
_MAX_COMPATIBILITY_GROUPS = 2


def inspect_counter_sets(counter_sets: Sequence[CounterSet], path: FieldPath, report: Report) -> None:
    """Sets have different names and at least one counter each. Other slices of the pool are not looked at."""
    if not counter_sets or not fits(counter_sets, _MAX_COUNTER_SETS, path, report.declare):
        return
    note_duplicates([each.name for each in counter_sets], counter_sets, path, report.declare)
    for index, counter_set in enumerate(counter_sets):
        _inspect_set_name(counter_set.name, path / index / "name", report)
        _inspect_counters(counter_set.counters, path / index / "counters", report)


def inspect_consumptions(
    consumptions: Sequence[DeviceCounterConsumption],
    stored: Sequence[DeviceCounterConsumption],
    path: FieldPath,
    report: Report,
) -> None:
    """A device draws on different sets. Whether they exist is seen at allocation: they lie in another slice."""
    if not consumptions or not fits(consumptions, _MAX_CONSUMPTIONS, path, report.declare):
        return
    note_duplicates([each.counter_set for each in consumptions], consumptions, path, report.declare)
    for index, consumption in enumerate(consumptions):
        at = path / index
        _inspect_set_name(consumption.counter_set, at / "counterSet", report)
        _inspect_counters(consumption.counters, at / "counters", report)
        if consumption.compatibility_groups and consumption not in stored:
            _inspect_groups(consumption.compatibility_groups, at / "compatibilityGroups", report)


def _inspect_set_name(name: str, path: FieldPath, report: Report) -> None:
    if name:
        report.declare_all(check_declared_label(name, path))
    else:
        report.declare(required(path))


def _inspect_counters(counters: Mapping[str, Counter], path: FieldPath, report: Report) -> None:
    if not counters:
        report.declare(required(path, hint="name at least one counter"))
        return
    fits(counters, _MAX_COUNTERS, path, report.add)
    for name in counters:
        report.declare_all(check_declared_label(name, path))


def _inspect_groups(groups: Sequence[str], path: FieldPath, report: Report) -> None:
    if not fits(groups, _MAX_COMPATIBILITY_GROUPS, path, report.declare):
        return
    note_duplicates(groups, groups, path, report.declare)
    for index, group in enumerate(groups):
        report.declare_all(check_declared_label(group, path / index))
