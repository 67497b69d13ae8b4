"""Calls to a driver that nodes may leave out."""

from collections.abc import Sequence

from dray.api.resource.allocation import SkippableNodeOperation
from dray.api.resource.checks.lists import note_duplicates
from dray.api.resource.checks.report import Report
from dray.errors import invalid, not_supported
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_skipped_operations"]

_KNOWN = frozenset(SkippableNodeOperation)
_UNPREPARED = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"


def inspect_skipped_operations(
    operations: Sequence[str], path: FieldPath, report: Report, *, are_stored: bool = False
) -> None:
    """Operations are known and stand once, and nothing is unprepared that was not prepared.

    `are_stored` says that the very same list is stored already; then unknown operations may stay.
    """
    if not are_stored:
        note_duplicates(operations, operations, path, report.declare)
        for index, operation in enumerate(operations):
            if operation not in _KNOWN:
                report.declare(not_supported(path / index, operation, SkippableNodeOperation))
    skips_unprepare = SkippableNodeOperation.UNPREPARE in operations or SkippableNodeOperation.ALL in operations
    if SkippableNodeOperation.PREPARE in operations and not skips_unprepare:
        report.add(invalid(path, operations, _UNPREPARED, hint="add NodeUnprepareResources"))
