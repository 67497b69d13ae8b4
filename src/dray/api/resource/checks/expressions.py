"""Expressions of selectors and derived attributes: how long, of which type, and how costly they may be."""

from collections.abc import Sequence

from dray.api.checks import ExpressionVerdict
from dray.api.resource.checks.lists import fits
from dray.api.resource.checks.report import Report
from dray.api.resource.request import DeviceSelector
from dray.errors import forbidden, invalid, required, too_long
from dray.values.fieldpath import FieldPath
from dray.values.names import byte_length

__all__ = ["MAX_COST", "inspect_derived_expression", "inspect_selectors"]

MAX_COST = 1_000_000
"""Worst-case cost of one expression, and of all derived attributes of a claim together, in cost units."""

_MAX_SELECTORS = 32
_MAX_BYTES = 10 * 1024


def inspect_selectors(
    selectors: Sequence[DeviceSelector], path: FieldPath, report: Report, *, are_stored: bool = False
) -> None:
    """Every selector has an expression that compiles to a truth value at a bearable cost.

    `are_stored` says that the very same list is stored already. Its expressions were good once and are left alone, so
    that stricter rules of a later release do not lock up what exists.
    """
    if not selectors or not fits(selectors, _MAX_SELECTORS, path, report.declare):
        return
    for index, selector in enumerate(selectors):
        if selector.cel is None:
            report.add(required(path / index / "cel", hint="give the condition as cel.expression, or remove the entry"))
        elif not are_stored:
            _inspect_selector_expression(selector.cel.expression, path / index / "cel" / "expression", report)


def inspect_derived_expression(expression: str, path: FieldPath, report: Report) -> None:
    """The expression compiles to a value that an attribute can have. Its cost is added to the sum in the report."""
    if _is_too_long(expression, path, report):
        return
    verdict = report.context.judge_derived_attribute(expression)
    _inspect_verdict(verdict, expression, path, report)
    report.derived_cost += verdict.cost


def _inspect_selector_expression(expression: str, path: FieldPath, report: Report) -> None:
    if not _is_too_long(expression, path, report):
        _inspect_verdict(report.context.judge_selector(expression), expression, path, report)


def _inspect_verdict(verdict: ExpressionVerdict, expression: str, path: FieldPath, report: Report) -> None:
    if verdict.fault is not None:
        report.add(invalid(path, expression, verdict.fault, hint=verdict.hint))
    elif verdict.cost > MAX_COST:
        hint = verdict.hint or "avoid loops inside loops"
        report.add(forbidden(path, "too complex, exceeds cost limit", hint=hint))


def _is_too_long(expression: str, path: FieldPath, report: Report) -> bool:
    # Nothing too long is compiled: compiling is what an attacker would want to be costly.
    if byte_length(expression) <= _MAX_BYTES:
        return False
    report.add(too_long(path, _MAX_BYTES, hint="split the condition over several selectors"))
    return True
