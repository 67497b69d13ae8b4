"""Expressions ready to run: compiled once, evaluated on devices, remembered by what they read.

`matches` asks again only when a value that the expression reads is new: any number of devices that differ in nothing
else cost one evaluation.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache

from dray.api.resource.device import Device, DeviceAttribute
from dray.cel.compiling import Compiled, Purpose, compile_expression
from dray.cel.cost import COST_LIMIT, estimate_cost
from dray.cel.errors import CompileFault, CostLimitExceeded, EvaluationError, RuntimeFault
from dray.cel.facts import DeviceFacts, describe_device
from dray.cel.frames import Frame
from dray.cel.reads import Reads, find_reads
from dray.cel.results import to_attribute, to_bool
from dray.cel.values import Value

__all__ = [
    "Program",
    "compile_derived_attribute",
    "compile_selector",
    "evaluate_derived",
    "evaluate_selector",
    "facts_of",
    "matches",
]

_REMEMBERED_PROGRAMS = 1024
_REMEMBERED_VERDICTS = 4096
"""Verdicts one program keeps; beyond that it starts afresh."""
_REMEMBERED_DEVICES = 65_536
"""Devices whose facts are kept; beyond that they are made afresh."""


class Program:
    """A compiled expression. Immutable but for the verdicts it remembers."""

    __slots__ = ("_attributes", "_compiled", "_max_cost", "_token_names", "_verdicts", "expression", "reads")

    def __init__(self, expression: str, compiled: Compiled) -> None:
        self.expression = expression
        self.reads: Reads = find_reads(compiled.checked.root)
        self._compiled = compiled
        self._token_names = self.reads.token_names()
        self._max_cost: int | None = None
        self._verdicts: dict[Hashable, bool | RuntimeFault] = {}
        self._attributes: dict[Hashable, DeviceAttribute | RuntimeFault] = {}

    @property
    def max_cost(self) -> int:
        """The most one evaluation can cost, as the API server estimates it."""
        if self._max_cost is None:
            self._max_cost = estimate_cost(self._compiled.checked)
        return self._max_cost

    def matches(self, facts: DeviceFacts) -> bool | RuntimeFault:
        """Whether a device satisfies this selector, from memory where possible."""
        if facts.fault is not None:
            return RuntimeFault(facts.fault)
        key = self._key(facts)
        verdict = self._verdicts.get(key)
        if verdict is None:
            verdict = self.evaluate_selector(facts)
            if len(self._verdicts) >= _REMEMBERED_VERDICTS:
                self._verdicts.clear()
            self._verdicts[key] = verdict
        return verdict

    def derive(self, facts: DeviceFacts) -> DeviceAttribute | RuntimeFault:
        """The value of this derived attribute, from memory where possible."""
        if facts.fault is not None:
            return RuntimeFault(facts.fault)
        key = self._key(facts)
        attribute = self._attributes.get(key)
        if attribute is None:
            attribute = self._evaluate_derived(facts)
            if len(self._attributes) >= _REMEMBERED_VERDICTS:
                self._attributes.clear()
            self._attributes[key] = attribute
        return attribute

    def evaluate_selector(self, facts: DeviceFacts) -> bool | RuntimeFault:
        """Whether a device satisfies this selector, without looking at memory."""
        if facts.fault is not None:
            return RuntimeFault(facts.fault)
        value = self.evaluate(facts)
        return value if isinstance(value, bool | RuntimeFault) else to_bool(value)

    def _evaluate_derived(self, facts: DeviceFacts) -> DeviceAttribute | RuntimeFault:
        value = self.evaluate(facts)
        return value if isinstance(value, RuntimeFault) else to_attribute(value)

    def evaluate(self, facts: DeviceFacts) -> Value | RuntimeFault:
        """The value of the expression for a device whose attributes are sound."""
        frame = Frame(facts.value, self._compiled.slots, COST_LIMIT)
        try:
            return self._compiled.step(frame)
        except EvaluationError as fault:
            return RuntimeFault(fault.message)
        except CostLimitExceeded as fault:
            return RuntimeFault(str(fault))

    def _key(self, facts: DeviceFacts) -> Hashable:
        if self.reads.everything:
            return facts.everything
        return tuple(map(facts.tokens.get, self._token_names))


@lru_cache(maxsize=_REMEMBERED_PROGRAMS)
def _compile(purpose: Purpose, expression: str) -> Program | CompileFault:
    compiled = compile_expression(expression, purpose)
    return compiled if isinstance(compiled, CompileFault) else Program(expression, compiled)


def compile_selector(expression: str) -> Program | CompileFault:
    """Compile a device selector; the same text gives the same program while it is remembered."""
    return _compile(Purpose.SELECTOR, expression)


def compile_derived_attribute(expression: str) -> Program | CompileFault:
    """Compile the expression of a derived attribute."""
    return _compile(Purpose.DERIVED_ATTRIBUTE, expression)


_facts_by_identity: dict[tuple[int, str], tuple[Device, DeviceFacts]] = {}


def facts_of(driver: str, device: Device) -> DeviceFacts:
    """The facts of a device, made once for the very same object."""
    key = (id(device), driver)
    known = _facts_by_identity.get(key)
    if known is not None and known[0] is device:
        return known[1]
    facts = describe_device(driver, device)
    if len(_facts_by_identity) >= _REMEMBERED_DEVICES:
        _facts_by_identity.clear()
    # The device is kept too, so that its id cannot come to mean another.
    _facts_by_identity[key] = (device, facts)
    return facts


def matches(program: Program, driver: str, device: Device) -> bool | RuntimeFault:
    """Whether a device satisfies a selector: true, false, or why that cannot be said."""
    return program.matches(facts_of(driver, device))


def evaluate_selector(program: Program, driver: str, device: Device) -> bool | RuntimeFault:
    """As `matches`, but evaluated afresh."""
    return program.evaluate_selector(describe_device(driver, device))


def evaluate_derived(program: Program, driver: str, device: Device) -> DeviceAttribute | RuntimeFault:
    """The value of a derived attribute on a device, or why it has none."""
    return program.derive(facts_of(driver, device))
