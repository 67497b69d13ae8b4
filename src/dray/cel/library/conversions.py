"""Conversions between the plain types, with Go's notions of what a number or a duration looks like in text."""

from __future__ import annotations

import math
import re

from dray.cel.errors import EvaluationError
from dray.cel.library.moments import format_duration, format_timestamp, parse_duration, parse_timestamp
from dray.cel.operators import timestamp
from dray.cel.values import INT_MAX, INT_MIN, UINT_MAX, Duration, Timestamp, Uint, Value, type_name

__all__ = [
    "format_double",
    "to_bool",
    "to_bytes",
    "to_double",
    "to_duration",
    "to_int",
    "to_string",
    "to_timestamp",
    "to_uint",
]

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_INTEGER = re.compile(r"[+-]?[0-9]+")
_UNSIGNED = re.compile(r"[0-9]+")
_DOUBLE = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?|nan)", re.IGNORECASE)
_HEX_DOUBLE = re.compile(r"[+-]?0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+")
_MAX_DIGITS = 4_000
"""Python converts at most 4,300 digits; no integer here has more than 20."""
_NANOS = 1_000_000_000


def not_convertible(value: Value, to: str) -> EvaluationError:
    """The text or number has no counterpart of that type."""
    return EvaluationError(f"type conversion error from '{type_name(value)}' to '{to}'")


def to_bool(text: str) -> bool:
    """`bool("true")`, with the spellings Go knows."""
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    raise not_convertible(text, "bool")


def to_bytes(text: str) -> bytes:
    """UTF-8."""
    return text.encode()


def to_int(value: Value) -> int:
    """`int(x)`: doubles lose their fraction, durations count nanoseconds, moments seconds."""
    match value:
        case str():
            if _INTEGER.fullmatch(value) and len(value) <= _MAX_DIGITS and INT_MIN <= int(value) <= INT_MAX:
                return int(value)
            raise not_convertible(value, "int")
        case float():
            if math.isnan(value) or not INT_MIN < value < INT_MAX:
                raise EvaluationError("integer overflow")
            return int(value)
        case Duration():
            return value.nanoseconds
        case Timestamp():
            return value.nanoseconds // _NANOS
        case int():
            if value > INT_MAX:
                raise EvaluationError("integer overflow")
            return int(value)
        case _:
            raise not_convertible(value, "int")


def to_uint(value: Value) -> Uint:
    """`uint(x)`."""
    match value:
        case str():
            if _UNSIGNED.fullmatch(value) and len(value) <= _MAX_DIGITS and int(value) <= UINT_MAX:
                return Uint(value)
            raise not_convertible(value, "uint")
        case float():
            if math.isnan(value) or not -1 < value < UINT_MAX:
                raise EvaluationError("unsigned integer overflow")
            return Uint(int(value))
        case int():
            if value < 0:
                raise EvaluationError("unsigned integer overflow")
            return Uint(value)
        case _:
            raise not_convertible(value, "uint")


def to_double(value: Value) -> float:
    """`double(x)`."""
    if isinstance(value, int | float):
        return float(value)
    assert isinstance(value, str)
    if _HEX_DOUBLE.fullmatch(value):
        return float.fromhex(value)
    if not _DOUBLE.fullmatch(value):
        raise not_convertible(value, "double")
    number = float(value)
    if math.isinf(number) and "i" not in value.lower():
        raise not_convertible(value, "double")
    return number


def to_string(value: Value) -> str:
    """`string(x)`, printed as Go prints it."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(int(value))
        case float():
            return format_double(value)
        case bytes():
            return _decode(value)
        case Duration():
            return format_duration(value)
        case Timestamp():
            return format_timestamp(value)
        case _:
            return str(value)


def _decode(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def to_timestamp(value: Value) -> Timestamp:
    """`timestamp(x)`: RFC 3339 text, or seconds since 1970."""
    if isinstance(value, int):
        return timestamp(value * _NANOS)
    assert isinstance(value, str)
    parsed = parse_timestamp(value)
    if parsed is None:
        raise not_convertible(value, "google.protobuf.Timestamp")
    return timestamp(parsed.nanoseconds, parsed.offset_seconds)


def to_duration(text: str) -> Duration:
    """`duration("1h30m")`."""
    parsed = parse_duration(text)
    if parsed is None:
        raise not_convertible(text, "google.protobuf.Duration")
    return parsed


def format_double(number: float) -> str:
    """The shortest digits that read back as the same number, in Go's `%g`: an exponent from 1e+06 and below 1e-04."""
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    mantissa, _, exponent_text = repr(number).partition("e")
    if number == 0:
        return "-0" if math.copysign(1, number) < 0 else "0"
    sign = "-" if number < 0 else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    leading_zeros = len(whole + fraction) - len(digits)
    exponent = int(exponent_text or 0) + len(whole) - leading_zeros - 1
    digits = digits.rstrip("0") or "0"
    if exponent < -4 or exponent >= 6:
        point = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{point}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    padded = digits.ljust(exponent + 1, "0")
    rest = padded[exponent + 1 :]
    return f"{sign}{padded[: exponent + 1]}{'.' + rest if rest else ''}"
