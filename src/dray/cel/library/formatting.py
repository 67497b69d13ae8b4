"""`"%s of %d".format([...])`: its clauses, and how each kind of value prints in them."""

from __future__ import annotations

import math
import re

from dray.cel.errors import CostLimitExceeded, EvaluationError
from dray.cel.library.conversions import to_string
from dray.cel.values import Duration, MapValue, Timestamp, TypeValue, Value, type_name
from dray.values.quoting import quote

__all__ = ["CLAUSE", "FormatFault", "check_clause", "format_text", "split_clauses"]

CLAUSE = re.compile(r"(?:\.([0-9]*))?(.)", re.DOTALL)
"""What follows `%`: a precision and the letter of the clause."""

_DEFAULT_PRECISION = 6
_MAX_PRECISION = 10_000
"""More digits than any double has; asking for more is refused as too costly."""
_MAX_TEXT = 8_000_000

_ACCEPTED = {
    "d": ("int uint", "decimal clause can only be used on integers"),
    "f": ("double string", "fixed-point clause can only be used on doubles"),
    "e": ("double string", "scientific clause can only be used on doubles"),
    "b": ("int uint bool", "only integers and bools can be formatted as binary"),
    "x": ("int uint string bytes", "only integers, byte buffers, and strings can be formatted as hex"),
    "X": ("int uint string bytes", "only integers, byte buffers, and strings can be formatted as hex"),
    "o": ("int uint", "octal clause can only be used on integers"),
    "s": (
        "list map int uint double bool string google.protobuf.Timestamp bytes google.protobuf.Duration type null_type",
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, "
        "and timestamps",
    ),
}
"""By clause: the type names it takes, and the complaint about any other."""


class FormatFault(ValueError):
    """The format string or an argument of it is wrong."""


def check_clause(clause: str, kind: str) -> None:
    """Refuse an argument of a type the clause does not take."""
    accepted, complaint = _ACCEPTED[clause]
    if kind not in accepted.split():
        raise FormatFault(f"error during formatting: {complaint}, was given {kind}")


def split_clauses(text: str) -> list[str | tuple[str, int | None]]:
    """Split a format string into plain text and clauses (letter and precision)."""
    parts: list[str | tuple[str, int | None]] = []
    at = 0
    while (percent := text.find("%", at)) >= 0:
        parts.append(text[at:percent])
        if text.startswith("%%", percent):
            parts.append("%")
            at = percent + 2
            continue
        match = CLAUSE.match(text, percent + 1)
        if match is None:
            raise FormatFault("unexpected end of string")
        parts.append(_clause(match))
        at = match.end()
    parts.append(text[at:])
    return parts


def _clause(match: re.Match[str]) -> tuple[str, int | None]:
    digits, letter = match.groups()
    if digits == "":
        raise FormatFault(
            "could not parse formatting clause: error while parsing precision: error while converting precision to "
            'integer: strconv.Atoi: parsing "": invalid syntax'
        )
    if letter not in _ACCEPTED:
        raise FormatFault(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
    if digits is None:
        return letter, None
    if len(digits) > 9 or int(digits) > _MAX_PRECISION:
        raise CostLimitExceeded
    return letter, int(digits)


def format_text(text: str, args: tuple[Value, ...]) -> str:
    """Fill a format string."""
    try:
        return _format(text, args)
    except FormatFault as fault:
        raise EvaluationError(str(fault)) from None


def _format(text: str, args: tuple[Value, ...]) -> str:
    made: list[str] = []
    used = size = 0
    for part in split_clauses(text):
        if isinstance(part, str):
            made.append(part)
            continue
        if used >= len(args):
            raise FormatFault(f"index {used} out of range")
        made.append(_format_clause(part, args[used]))
        used += 1
        size += len(made[-1])
        if size > _MAX_TEXT:
            raise CostLimitExceeded
    return "".join(made)


def _format_clause(clause: tuple[str, int | None], value: Value) -> str:
    letter, given = clause
    check_clause(letter, type_name(value))
    precision = _DEFAULT_PRECISION if given is None else given
    match letter:
        case "s":
            return _text(value)
        case "d":
            return to_string(value)
        case "f" | "e":
            return _digits(value, letter, precision)
        case "x" | "X":
            return _hex(value, letter)
        case _:
            assert isinstance(value, int)
            return format(int(value), letter)


def _digits(value: Value, letter: str, precision: int) -> str:
    if isinstance(value, str):
        if value not in {"NaN", "Infinity", "-Infinity"}:
            kind = "fixed-point" if letter == "f" else "scientific"
            raise FormatFault(f"error during formatting: {kind} clause can only be used on doubles, was given string")
        value = float(value)
    assert isinstance(value, float)
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "\u221e" if value > 0 else "-\u221e"
    if letter == "f":
        return f"{value:,.{precision}f}"
    mantissa, _, exponent = f"{value:.{precision}e}".partition("e")
    return (
        f"{mantissa}\u202f\u00d7\u202f10{exponent[0].replace('+', '').replace('-', chr(0x207B))}{_raised(exponent[1:])}"
    )


def _raised(digits: str) -> str:
    return digits.zfill(2).translate(
        str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
    )


def _hex(value: Value, letter: str) -> str:
    if isinstance(value, str):
        value = value.encode()
    if isinstance(value, bytes):
        return value.hex() if letter == "x" else value.hex().upper()
    assert isinstance(value, int)
    return format(int(value), letter)


def _text(value: Value) -> str:
    """How `%s` prints a value that is not inside another."""
    match value:
        case tuple():
            return f"[{', '.join(map(_inside, value))}]"
        case MapValue():
            entries = sorted((_inside(key), _inside(each)) for key, each in value.items())
            return "{" + ", ".join(f"{key}:{each}" for key, each in entries) + "}"
        case TypeValue():
            return value.name
        case None:
            return "null"
        case _:
            return to_string(value)


def _inside(value: Value) -> str:
    """How a value prints in a list or map: as one could write it in an expression."""
    match value:
        case str():
            return quote(value)
        case bytes():
            return f"b{quote(to_string(value))}"
        case bool():
            return to_string(value)
        case float():
            if math.isnan(value) or math.isinf(value):
                return quote({"nan": "NaN", "inf": "+Inf", "-inf": "-Inf"}[str(value)])
            return f"{value:.{_DEFAULT_PRECISION}f}"
        case Duration():
            return f'duration("{to_string(value)}")'
        case Timestamp():
            return f'timestamp("{to_string(value)}")'
        case TypeValue():
            return f"type({value.name})"
        case tuple() | MapValue() | None | int():
            return _text(value)
        case _:
            raise FormatFault(f"error during formatting: no formatting function for {type_name(value)}")
