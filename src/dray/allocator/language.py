"""Expressions by `dray.cel`, as the allocator asks for them."""

from __future__ import annotations

from dray.allocator.expressions import Derivation, ExpressionFault, Score, Selector
from dray.allocator.slices import NO_READS, Reads
from dray.api.resource.device import Device, DeviceAttribute
from dray.cel.cost import COST_LIMIT
from dray.cel.errors import CompileFault, RuntimeFault
from dray.cel.program import Program, compile_derived_attribute, compile_selector
from dray.cel.program import evaluate_derived as derive
from dray.cel.program import matches as judge

__all__ = ["CelLanguage"]


class CelLanguage:
    """Compiles with the environment for stored expressions: what was admitted once keeps working."""

    def selector(self, expression: str) -> Selector:
        """Compile a condition."""
        return _CelSelector(compile_selector(expression))

    def derivation(self, expression: str) -> Derivation:
        """Compile a derived attribute."""
        return _CelDerivation(compile_derived_attribute(expression))

    def score(self, expression: str) -> Score:
        """Compile a score: like a derived attribute, of type int. Nobody admitted it, so its cost is judged here."""
        program = compile_derived_attribute(expression)
        if isinstance(program, Program) and program.max_cost > COST_LIMIT:
            program = CompileFault("too complex, exceeds cost limit")
        return _CelScore(program)


class _CelProgram:
    def __init__(self, program: Program | CompileFault) -> None:
        self._program = program
        self.reads = NO_READS if isinstance(program, CompileFault) else _reads(program)

    def _sound(self) -> Program:
        if isinstance(self._program, CompileFault):
            raise ExpressionFault(self._program.detail, is_compile_error=True)
        return self._program


class _CelSelector(_CelProgram):
    def matches(self, driver: str, device: Device) -> bool:
        verdict = judge(self._sound(), driver, device)
        if isinstance(verdict, RuntimeFault):
            raise ExpressionFault(verdict.message)
        return verdict


class _CelDerivation(_CelProgram):
    def value(self, driver: str, device: Device) -> DeviceAttribute:
        attribute = derive(self._sound(), driver, device)
        if isinstance(attribute, RuntimeFault):
            raise ExpressionFault(attribute.message)
        return attribute


class _CelScore(_CelDerivation):
    def score(self, driver: str, device: Device) -> int:
        number = self.value(driver, device).int
        if number is None:
            raise ExpressionFault("a score must be an int")
        return number


def _reads(program: Program) -> Reads:
    reads = program.reads
    return Reads(
        attributes=frozenset(f"{domain}/{name}" for domain, name in reads.attributes),
        capacities=frozenset(f"{domain}/{name}" for domain, name in reads.capacities),
        everything=reads.everything,
    )
