"""What admission asks of an expression: is it sound, and what can it cost. The selector part of `CheckContext`."""

from __future__ import annotations

from dray.api.checks import ExpressionVerdict
from dray.cel.errors import CompileFault
from dray.cel.program import Program, compile_derived_attribute, compile_selector

__all__ = ["judge_derived_attribute", "judge_selector"]


def judge_selector(expression: str) -> ExpressionVerdict:
    """Compile a device selector for admission."""
    return _judge(compile_selector(expression))


def judge_derived_attribute(expression: str) -> ExpressionVerdict:
    """Compile the expression of a derived attribute for admission."""
    return _judge(compile_derived_attribute(expression))


def _judge(compiled: Program | CompileFault) -> ExpressionVerdict:
    if isinstance(compiled, CompileFault):
        return ExpressionVerdict(compiled.detail, 0, compiled.hint)
    return ExpressionVerdict(None, compiled.max_cost)
