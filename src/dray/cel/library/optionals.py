"""Values that may be absent."""

from __future__ import annotations

from dray.cel.errors import EvaluationError
from dray.cel.functions import Overload, declare
from dray.cel.values import NONE, Duration, MapValue, Optional, Value

__all__ = ["OPTIONALS"]


def _of(value: Value) -> Optional:
    return Optional(value, is_present=True)


def _of_non_zero(value: Value) -> Optional:
    return NONE if _is_zero(value) else _of(value)


def _is_zero(value: Value) -> bool:
    match value:
        case None:
            return True
        case bool() | int() | float() | str() | bytes() | tuple():
            return not value
        case MapValue():
            return len(value) == 0
        case Duration():
            return value.nanoseconds == 0
        case _:
            return False


def _unwrap(values: tuple[Value, ...]) -> tuple[Value, ...]:
    for each in values:
        if not isinstance(each, Optional):
            raise EvaluationError(f"value {each} is not optional")
    return tuple(each.value for each in values if isinstance(each, Optional) and each.is_present)


def _by_planner(*_: Value) -> Value:
    """`or` and `orValue` evaluate their second operand only when it is needed: the planner does them."""
    raise EvaluationError("no such overload")


OPTIONALS: list[Overload] = declare(
    ("optional_of: optional.of(V) -> optional(V)", _of),
    ("optional_ofNonZeroValue: optional.ofNonZeroValue(V) -> optional(V)", _of_non_zero),
    ("optional_none: optional.none() -> optional(V)", lambda: NONE),
    ("optional_value: optional(V)::value() -> V", lambda optional: optional.get()),
    ("optional_hasValue: optional(V)::hasValue() -> bool", lambda optional: optional.is_present),
    ("optional_or_optional: optional(V)::or(optional(V)) -> optional(V)", _by_planner),
    ("optional_orValue_value: optional(V)::orValue(V) -> V", _by_planner),
    ("list_last: list(V)::last() -> optional(V)", lambda values: _of(values[-1]) if values else NONE),
    ("list_first: list(V)::first() -> optional(V)", lambda values: _of(values[0]) if values else NONE),
    ("optional_unwrap: optional.unwrap(list(optional(V))) -> list(V)", _unwrap),
    ("optional_unwrapOpt: list(optional(V))::unwrapOpt() -> list(V)", _unwrap),
)
