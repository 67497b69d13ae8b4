"""Text to a checked tree and its plan, or to the fault the API server would report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dray.cel.checker import Checked, check
from dray.cel.environment import ATTRIBUTE_TYPE, SCOPE
from dray.cel.errors import CompileFault, suggest
from dray.cel.frames import Step
from dray.cel.macros import expand_macros
from dray.cel.parsing import parse
from dray.cel.planning import Planner, ProgramFault
from dray.cel.source import Source, SourceFault, render_faults
from dray.cel.types import ANY, BOOL, DYN, INT, STRING, Kind, Type, format_declared, parse_type
from dray.cel.validation import find_literal_faults

__all__ = ["Compiled", "Purpose", "compile_expression"]


class Purpose(Enum):
    """What an expression is for, which decides the type it must have."""

    SELECTOR = "selector"
    DERIVED_ATTRIBUTE = "derived attribute"


@dataclass(frozen=True, slots=True)
class Compiled:
    """A sound expression."""

    checked: Checked
    step: Step
    slots: int


_SCALARS = frozenset({BOOL, INT, STRING, ANY, DYN, parse_type("Semver")})


def compile_expression(text: str, purpose: Purpose) -> Compiled | CompileFault:
    """Parse, check and plan; nothing is remembered and nothing is run but constants."""
    parsed = parse(text)
    root = expand_macros(parsed)
    if root is None:
        return _compile_fault(parsed.source, parsed.faults)
    checked = check(root, SCOPE, parsed.source, parsed.offsets)
    faults = checked.faults or find_literal_faults(checked, parsed.source, parsed.offsets)
    if faults:
        return _compile_fault(parsed.source, faults)
    wrong_type = _check_result(checked.result_type, purpose)
    if wrong_type is not None:
        return CompileFault(wrong_type, _suggest_result(checked.result_type, purpose))
    planner = Planner(checked, SCOPE.functions)
    try:
        step = planner.plan(checked.root)
    except ProgramFault as fault:
        return CompileFault(str(fault), is_internal=True)
    return Compiled(checked, step, planner.slots)


def _compile_fault(source: Source, faults: list[SourceFault]) -> CompileFault:
    detail = f"compilation failed: {render_faults(source, faults)}"
    return CompileFault(detail, suggest(detail, tuple(SCOPE.functions)))


def _check_result(found: Type, purpose: Purpose) -> str | None:
    if purpose is Purpose.SELECTOR:
        if found in (BOOL, ATTRIBUTE_TYPE):
            return None
        return f"must evaluate to bool or the unknown type, not {format_declared(found)}"
    element = found.parameters[0] if found.kind is Kind.LIST else found
    if element in _SCALARS:
        return None
    return (
        "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars, "
        f"not {format_declared(found)}"
    )


def _suggest_result(found: Type, purpose: Purpose) -> str | None:
    if purpose is Purpose.DERIVED_ATTRIBUTE:
        return None
    if found.name == "kubernetes.Quantity":
        return 'compare it, as in .isGreaterThan(quantity("10Gi"))'
    return "a selector answers yes or no: compare the value with something"
