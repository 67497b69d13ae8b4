"""Text for people and for machines. No other module of the command words an error."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:  # verbs that print no reports start faster without all kinds
    from dray.app.offline import Finding, Report

__all__ = ["Listing", "Output", "render_columns", "render_error", "render_json", "render_report", "render_summary"]


class Output(StrEnum):
    """How a verb prints its answer."""

    TEXT = "text"
    JSON = "json"


class Listing(StrEnum):
    """How a verb prints what there is, as kubectl does."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


def render_error(message: str, *, hint: str | None = None) -> str:
    """One line that says what is wrong, and one that says what to do about it."""
    return f"error: {message}\n" + (f"  try: {hint}\n" if hint else "")


def render_report(report: "Report", place: str) -> str:
    """Everything that is wrong with one object, or that nothing is."""
    warnings = "".join(f"  warning: {warning}\n" for warning in report.warnings)
    if not report.findings:
        return f"{report.title} is valid ({place})\n{warnings}"
    faults = "".join(_render_finding(finding) for finding in report.findings)
    return f"error: {report.title} is invalid ({place})\n{faults}{warnings}"


def _render_finding(finding: "Finding") -> str:
    text = f"{finding.field}: {finding.message}" if finding.field else finding.message
    first, *more = text.splitlines() or [""]
    lines = [f"  {first}", *(f"    {line}" for line in more)]
    if finding.hint:
        lines.append(f"  {finding.hint}" if finding.hint.startswith("did you mean") else f"  try: {finding.hint}")
    return "".join(f"{line}\n" for line in lines)


def render_summary(reports: "Sequence[Report]") -> str:
    """How many objects were looked at, and how many of them have how many faults."""
    invalid = [report for report in reports if report.findings]
    faults = sum(len(report.findings) for report in invalid)
    looked_at = _count(len(reports), "object")
    return (
        f"{looked_at}: {len(invalid)} invalid, {_count(faults, 'fault')}\n" if invalid else f"{looked_at}: all valid\n"
    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def render_json(answer: object) -> str:
    """An answer for machines, indented."""
    return msgspec.json.format(msgspec.json.encode(answer, enc_hook=str), indent=2).decode() + "\n"


def render_columns(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Columns as kubectl lines them up: three spaces apart, capital headings."""
    lines = [[name.upper() for name in header], *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    padded = ("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
    return "".join(f"{line.rstrip()}\n" for line in padded)
