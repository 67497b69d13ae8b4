"""What `==`, `<`, `+`, `in` and their kin do with values.

Numbers compare across int, uint and double; everything else only with its own kind. Overflow and division by zero are
errors, as is a comparison that has no meaning.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dray.cel.errors import EvaluationError, no_such_overload
from dray.cel.values import (
    INT_MAX,
    INT_MIN,
    UINT_MAX,
    Duration,
    LibraryObject,
    MapValue,
    Optional,
    Sum,
    Timestamp,
    Uint,
    Value,
)
from dray.values.quantity import Quantity
from dray.values.semver import Semver

__all__ = [
    "add",
    "compare",
    "contains",
    "divide",
    "equal",
    "equal_or_false",
    "is_at_least",
    "is_at_most",
    "is_greater",
    "is_less",
    "is_not",
    "modulo",
    "multiply",
    "negate",
    "not_equal",
    "size_of",
    "subtract",
    "timestamp",
]

_NUMBERS = (int, Uint, float)
_WHOLE = (int, Uint)

MIN_TIMESTAMP_SECONDS, MAX_TIMESTAMP_SECONDS = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999."""
_NANOS = 1_000_000_000


def equal(one: Value, other: Value) -> bool:
    """`==` of expressions; refuses to compare a library's object with anything else."""
    if one is None or other is None:
        return one is None and other is None
    kind = type(one)
    if kind in _NUMBERS:
        return _equal_numbers(one, other)
    if kind is tuple:
        return _equal_lists(one, other)
    if kind is MapValue:
        return _equal_maps(one, other)
    if kind is Optional:
        return _equal_optionals(one, other)
    if isinstance(one, Quantity | Sum | Semver | LibraryObject):
        return _equal_objects(one, other)
    return type(other) is kind and one == other


def equal_or_false(one: Value, other: Value) -> bool:
    """Equality where a comparison without meaning counts as different: `!=`, `in`, `includes`."""
    try:
        return equal(one, other)
    except EvaluationError:
        return False


def not_equal(one: Value, other: Value) -> bool:
    """`!=`: true also where the values cannot be compared."""
    return not equal_or_false(one, other)


def _equal_numbers(one: Value, other: Value) -> bool:
    if type(other) not in _NUMBERS:
        return False
    assert isinstance(one, int | float)
    assert isinstance(other, int | float)
    if isinstance(one, float) or isinstance(other, float):
        return _compare_with_double(one, other) == 0
    return one == other


def _equal_lists(one: Value, other: Value) -> bool:
    """Elements that cannot be compared do not make lists differ; so it is upstream."""
    assert isinstance(one, tuple)
    if not isinstance(other, tuple) or len(one) != len(other):
        return False
    return all(_not_known_different(a, b) for a, b in zip(one, other, strict=True))


def _equal_maps(one: Value, other: Value) -> bool:
    assert isinstance(one, MapValue)
    if not isinstance(other, MapValue) or len(one) != len(other):
        return False
    for key, value in one.items():
        is_found, counterpart = other.find(key)
        if not is_found or not _not_known_different(value, counterpart):
            return False
    return True


def _not_known_different(one: Value, other: Value) -> bool:
    try:
        return equal(one, other)
    except EvaluationError:
        return True


def _equal_optionals(one: Value, other: Value) -> bool:
    assert isinstance(one, Optional)
    if not isinstance(other, Optional) or one.is_present is not other.is_present:
        return False
    return not one.is_present or equal(one.value, other.value)


def _equal_objects(one: Value, other: Value) -> bool:
    if isinstance(one, Sum):
        one = one.quantity
    if type(one) is not type(other):
        raise no_such_overload()
    return one == other


def compare(one: Value, other: Value) -> int:
    """-1, 0 or 1 for ordered kinds; an error for others."""
    kind = type(one)
    if kind in _NUMBERS and type(other) in _NUMBERS:
        assert isinstance(one, int | float)
        assert isinstance(other, int | float)
        if isinstance(one, float) or isinstance(other, float):
            if math.isnan(one) or math.isnan(other):
                raise EvaluationError("NaN values cannot be ordered")
            return _compare_with_double(one, other)
        return (one > other) - (one < other)
    if type(other) is not kind:
        raise no_such_overload()
    if isinstance(one, Duration) and isinstance(other, Duration):
        return (one.nanoseconds > other.nanoseconds) - (one.nanoseconds < other.nanoseconds)
    if isinstance(one, Timestamp) and isinstance(other, Timestamp):
        return (one.nanoseconds > other.nanoseconds) - (one.nanoseconds < other.nanoseconds)
    if isinstance(one, str) and isinstance(other, str):
        return (one > other) - (one < other)
    if isinstance(one, bytes) and isinstance(other, bytes):
        return (one > other) - (one < other)
    if isinstance(one, bool) and isinstance(other, bool):
        return one - other
    raise no_such_overload()


def _compare_with_double(one: float, other: float) -> int:
    """Compare as doubles, but for integers a double cannot reach; NaN is never equal."""
    if math.isnan(one) or math.isnan(other):
        return -1
    if isinstance(other, int) and isinstance(one, float):
        return -_compare_with_double(other, one)
    if isinstance(one, int):
        if other < (0 if isinstance(one, Uint) else INT_MIN):
            return 1
        if other > (UINT_MAX if isinstance(one, Uint) else INT_MAX):
            return -1
    first, second = float(one), float(other)
    return (first > second) - (first < second)


def contains(element: Value, container: Value) -> bool:
    """`element in container`: of a list its elements, of a map its keys."""
    if isinstance(container, tuple):
        return any(equal_or_false(element, each) for each in container)
    if isinstance(container, MapValue):
        return container.has(element)
    raise no_such_overload()


def add(one: Value, other: Value) -> Value:
    """`+` of numbers, texts, lists, durations and moments."""
    if type(one) in _WHOLE and type(one) is type(other):
        return _checked(one, _integer(one) + _integer(other))
    if isinstance(one, float) and isinstance(other, float):
        return one + other
    if isinstance(one, str) and isinstance(other, str):
        return one + other
    if isinstance(one, bytes) and isinstance(other, bytes):
        return one + other
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one + other
    if isinstance(one, Duration):
        if isinstance(other, Duration):
            return duration(one.nanoseconds + other.nanoseconds)
        if isinstance(other, Timestamp):
            return timestamp(other.nanoseconds + one.nanoseconds, other.offset_seconds)
    if isinstance(one, Timestamp) and isinstance(other, Duration):
        return timestamp(one.nanoseconds + other.nanoseconds, one.offset_seconds)
    raise no_such_overload()


def subtract(one: Value, other: Value) -> Value:
    """`-` of numbers, durations and moments."""
    if type(one) in _WHOLE and type(one) is type(other):
        return _checked(one, _integer(one) - _integer(other))
    if isinstance(one, float) and isinstance(other, float):
        return one - other
    if isinstance(one, Duration) and isinstance(other, Duration):
        return duration(one.nanoseconds - other.nanoseconds)
    if isinstance(one, Timestamp):
        if isinstance(other, Timestamp):
            return duration(one.nanoseconds - other.nanoseconds)
        if isinstance(other, Duration):
            return timestamp(one.nanoseconds - other.nanoseconds, one.offset_seconds)
    raise no_such_overload()


def multiply(one: Value, other: Value) -> Value:
    """`*` of numbers of one kind."""
    if type(one) in _WHOLE and type(one) is type(other):
        return _checked(one, _integer(one) * _integer(other))
    if isinstance(one, float) and isinstance(other, float):
        return one * other
    raise no_such_overload()


def divide(one: Value, other: Value) -> Value:
    """`/` of numbers of one kind; integers round towards zero."""
    if type(one) in _WHOLE and type(one) is type(other):
        dividend, divisor = _integer(one), _integer(other)
        if divisor == 0:
            raise EvaluationError("division by zero")
        quotient = abs(dividend) // abs(divisor)
        return _checked(one, quotient if (dividend < 0) == (divisor < 0) else -quotient)
    if isinstance(one, float) and isinstance(other, float):
        return _divide_doubles(one, other)
    raise no_such_overload()


def _divide_doubles(one: float, other: float) -> float:
    if other != 0:
        return one / other
    if one == 0 or math.isnan(one):
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1, other)


def modulo(one: Value, other: Value) -> Value:
    """`%` of integers of one kind; the sign is the dividend's."""
    if type(one) not in _WHOLE or type(one) is not type(other):
        raise no_such_overload()
    dividend, divisor = _integer(one), _integer(other)
    if divisor == 0:
        raise EvaluationError("modulus by zero")
    if dividend == INT_MIN and divisor == -1:
        raise EvaluationError("integer overflow")
    rest = abs(dividend) % abs(divisor)
    return _checked(one, -rest if dividend < 0 else rest)


def negate(one: Value) -> Value:
    """Unary `-`."""
    if type(one) is int:
        return _checked(one, -one)
    if isinstance(one, float):
        return -one
    if isinstance(one, Duration):
        return duration(-one.nanoseconds)
    if isinstance(one, bool):
        return not one
    raise no_such_overload()


def _integer(value: Value) -> int:
    assert isinstance(value, int)
    return int(value)


def _checked(like: Value, number: int) -> Value:
    """An integer of the same kind as `like`, if it fits."""
    if isinstance(like, Uint):
        if not 0 <= number <= UINT_MAX:
            raise EvaluationError("unsigned integer overflow")
        return Uint(number)
    if not INT_MIN <= number <= INT_MAX:
        raise EvaluationError("integer overflow")
    return number


def duration(nanoseconds: int) -> Duration:
    """A span, if it fits 64 bits."""
    if not INT_MIN <= nanoseconds <= INT_MAX:
        raise EvaluationError("duration overflow")
    return Duration(nanoseconds)


def timestamp(nanoseconds: int, offset_seconds: int = 0) -> Timestamp:
    """A moment, if it lies in the years 1 to 9999."""
    if not MIN_TIMESTAMP_SECONDS <= nanoseconds // _NANOS <= MAX_TIMESTAMP_SECONDS:
        raise EvaluationError("timestamp overflow")
    return Timestamp(nanoseconds, offset_seconds)


def is_less(one: Value, other: Value) -> bool:
    """`<`."""
    return compare(one, other) < 0


def is_at_most(one: Value, other: Value) -> bool:
    """`<=`."""
    return compare(one, other) <= 0


def is_greater(one: Value, other: Value) -> bool:
    """`>`."""
    return compare(one, other) > 0


def is_at_least(one: Value, other: Value) -> bool:
    """`>=`."""
    return compare(one, other) >= 0


def is_not(one: Value) -> bool:
    """`!`."""
    if not isinstance(one, bool):
        raise no_such_overload()
    return not one


def size_of(one: Value) -> int:
    """`size()`: code points, bytes, elements or entries."""
    assert isinstance(one, str | bytes | tuple | MapValue)
    return len(one)


BinaryOperator = Callable[[Value, Value], Value]
