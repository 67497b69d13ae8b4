"""Expressions as tests judge them: by `dray.cel`, with faults as values."""

from __future__ import annotations

from dataclasses import dataclass

from dray.api.resource.device import Device, DeviceAttribute
from dray.cel.errors import CompileFault, RuntimeFault, with_chaining_hint
from dray.cel.program import compile_derived_attribute, compile_selector, evaluate_derived, matches

__all__ = ["Fault", "derive", "derived_or_nothing", "is_true", "judge"]


@dataclass(frozen=True)
class Fault:
    """An expression does not compile, or fails on a device."""

    detail: str
    is_compile_error: bool


def judge(expression: str, driver: str, device: Device) -> bool | Fault:
    """Whether a selector is true of a device."""
    program = compile_selector(expression)
    if isinstance(program, CompileFault):
        return Fault(program.detail, is_compile_error=True)
    verdict = matches(program, driver, device)
    if isinstance(verdict, RuntimeFault):
        return Fault(with_chaining_hint(verdict.message), is_compile_error=False)
    return verdict


def derive(expression: str, driver: str, device: Device) -> DeviceAttribute | Fault:
    """What an expression makes of a device."""
    program = compile_derived_attribute(expression)
    if isinstance(program, CompileFault):
        return Fault(program.detail, is_compile_error=True)
    value = evaluate_derived(program, driver, device)
    return Fault(value.message, is_compile_error=False) if isinstance(value, RuntimeFault) else value


def is_true(expression: str, driver: str, device: Device) -> bool:
    """As the audit asks: what fails is not true."""
    return judge(expression, driver, device) is True


def derived_or_nothing(expression: str, driver: str, device: Device) -> DeviceAttribute | None:
    """As the audit asks: what fails is nothing."""
    value = derive(expression, driver, device)
    return None if isinstance(value, Fault) else value
