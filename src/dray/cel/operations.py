"""The steps of variables, calls and operators."""

from __future__ import annotations

from collections.abc import Callable

from dray.cel.access import index_value
from dray.cel.checker import OPTIONAL_SELECT
from dray.cel.errors import EvaluationError, no_such_overload
from dray.cel.frames import Frame, Step, read_slot
from dray.cel.functions import Function, Implementation, Overload
from dray.cel.library.standard import not_ordered
from dray.cel.macros import NOT_STRICTLY_FALSE
from dray.cel.runcost import hidden_work, run_cost
from dray.cel.values import Optional, Value, type_name

__all__ = [
    "SPECIAL_OPERATORS",
    "plan_conditional",
    "plan_invocation",
    "plan_pending",
    "plan_variable",
    "require_text",
]


def plan_variable(slot: int) -> Step:
    """Read an iteration variable."""

    def variable(frame: Frame) -> Value:
        frame.charge(1)
        return frame.slots[slot]

    return variable


def plan_pending(slot: int) -> Step:
    """Read an accumulator or binding, computing it first if need be."""

    def variable(frame: Frame) -> Value:
        frame.charge(1)
        return read_slot(frame, slot)

    return variable


def plan_invocation(function: Function, overloads: tuple[Overload, ...], steps: tuple[Step, ...]) -> Step:
    """Call a function: the one overload that is meant, or whichever takes the values."""
    overload_id = overloads[0].id if len(overloads) == 1 else ""
    price = run_cost(function.name, overload_id)
    work = hidden_work(function.name)
    invoke = _find_implementation(function, overloads)

    def call(frame: Frame) -> Value:
        args = tuple([step(frame) for step in steps])
        frame.charge(price(args))
        if work is not None:
            frame.spend(work(args))
        result = invoke(args)
        if isinstance(result, str | bytes | tuple):
            frame.spend(len(result))
        return result

    return call


def require_text(step: Step) -> Step:
    """What a constant pattern is held against. A prepared pattern does not say what it was given instead."""

    def text(frame: Frame) -> Value:
        value = step(frame)
        if not isinstance(value, str):
            raise no_such_overload()
        return value

    return text


def _find_implementation(function: Function, overloads: tuple[Overload, ...]) -> Callable[[tuple[Value, ...]], Value]:
    if function.operator is not None:
        return _operate(function.name, function.operator, function.operands)
    return _guard(overloads[0]) if len(overloads) == 1 else function.call


def _guard(overload: Overload) -> Callable[[tuple[Value, ...]], Value]:
    def invoke(args: tuple[Value, ...]) -> Value:
        if not overload.accepts(args):
            raise no_such_overload(overload.function, *map(type_name, args))
        return overload.implement(*args)

    return invoke


def _operate(
    name: str, implement: Implementation, operands: frozenset[str] | None
) -> Callable[[tuple[Value, ...]], Value]:
    def invoke(args: tuple[Value, ...]) -> Value:
        if operands is not None and type_name(args[0]) not in operands:
            raise not_ordered(name, args[0])
        return implement(*args)

    return invoke


# Operators that do not evaluate all their operands, or look into them


def _plan_logical(steps: tuple[Step, ...], *, deciding: bool) -> Step:
    """`&&` and `||`: the deciding value wins over an error on either side."""
    one, other = steps

    def logical(frame: Frame) -> Value:
        fault: EvaluationError | None = None
        for step in (one, other):
            try:
                value = step(frame)
            except EvaluationError as error:
                fault = fault or error
                continue
            if value is deciding:
                return deciding
            if not isinstance(value, bool):
                fault = fault or no_such_overload()
        if fault is not None:
            raise fault
        return not deciding

    return logical


def _plan_and(steps: tuple[Step, ...]) -> Step:
    return _plan_logical(steps, deciding=False)


def _plan_or(steps: tuple[Step, ...]) -> Step:
    return _plan_logical(steps, deciding=True)


def plan_conditional(steps: tuple[Step, ...]) -> Step:
    """`c ? a : b`."""
    condition, if_true, if_false = steps

    def choose(frame: Frame) -> Value:
        chosen = condition(frame)
        if not isinstance(chosen, bool):
            raise no_such_overload()
        return if_true(frame) if chosen else if_false(frame)

    return choose


def _plan_index(steps: tuple[Step, ...], *, is_optional: bool = False) -> Step:
    operand, position = steps

    def index(frame: Frame) -> Value:
        value = operand(frame)
        key = position(frame)
        frame.charge(1)
        return index_value(value, key, is_optional=is_optional)

    return index


def _plan_optional_index(steps: tuple[Step, ...]) -> Step:
    return _plan_index(steps, is_optional=True)


def _plan_optional_or(steps: tuple[Step, ...]) -> Step:
    one, other = steps

    def either(frame: Frame) -> Value:
        first = one(frame)
        if not isinstance(first, Optional):
            raise no_such_overload()
        frame.charge(1)
        return first if first.is_present else other(frame)

    return either


def _plan_or_value(steps: tuple[Step, ...]) -> Step:
    one, other = steps

    def either(frame: Frame) -> Value:
        first = one(frame)
        if not isinstance(first, Optional):
            raise no_such_overload()
        frame.charge(1)
        return first.value if first.is_present else other(frame)

    return either


def _plan_not_strictly_false(steps: tuple[Step, ...]) -> Step:
    """True for all but false, an error included: whether a fold goes on."""
    (operand,) = steps

    def test(frame: Frame) -> Value:
        frame.charge(1)
        try:
            return operand(frame) is not False
        except EvaluationError:
            return True

    return test


SPECIAL_OPERATORS: dict[tuple[str, int], Callable[[tuple[Step, ...]], Step]] = {
    ("_&&_", 2): _plan_and,
    ("_||_", 2): _plan_or,
    ("_?_:_", 3): plan_conditional,
    ("_[_]", 2): _plan_index,
    ("_[?_]", 2): _plan_optional_index,
    (OPTIONAL_SELECT, 2): _plan_optional_index,
    ("or", 2): _plan_optional_or,
    ("orValue", 2): _plan_or_value,
    (NOT_STRICTLY_FALSE, 1): _plan_not_strictly_false,
}
