"""JSON values as the API server's language prints them, for error texts that quote a value.

A number without fraction and exponent is an int64 there and an int here; every other number is a float64 and a float.
"""

from decimal import Decimal
from typing import Any, Final

import msgspec

from dray.values.quoting import quote

__all__ = ["encode_json", "format_plain", "format_source", "format_type"]

_HTML: Final = str.maketrans({character: f"\\u{ord(character):04x}" for character in "<>&\u2028\u2029"})
"""What Go's JSON encoder escapes for the sake of browsers."""

_FIRST_WITH_EXPONENT: Final = 6

_TYPES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int64",
    float: "float64",
    str: "string",
    list: "[]interface {}",
    dict: "map[string]interface {}",
    type(None): "<nil>",
}


def format_type(value: Any) -> str:
    """The type of a value: Go's `%T`."""
    return _TYPES[type(value)]


def format_plain(value: Any) -> str:
    """A value without quotes, as in `map[image:x ports:[80]]`: Go's `%v`."""
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{format_plain(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(format_plain, value))}]"
    return value if isinstance(value, str) else _format_scalar(value, nothing="<nil>")


def format_source(value: Any) -> str:
    """A value as source code would spell it: Go's `%#v`."""
    if isinstance(value, dict):
        entries = (f"{quote(key)}:{format_source(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{', '.join(entries)}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(format_source, value))}}}"
    return quote(value) if isinstance(value, str) else _format_scalar(value, nothing="interface {}(nil)")


def _format_scalar(value: Any, *, nothing: str) -> str:
    if value is None:
        return nothing
    if isinstance(value, bool):
        return "true" if value else "false"
    return _format_float(value) if isinstance(value, float) else str(value)


def _format_float(value: float) -> str:
    """The shortest digits that give the number back; an exponent below 1e-4 and from a million on."""
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    if not value:
        return "-0" if sign else "0"
    assert isinstance(exponent, int)  # JSON knows neither infinity nor NaN
    scale = len(digits) + exponent - 1
    if -5 < scale < _FIRST_WITH_EXPONENT:
        return f"{Decimal(repr(value)).normalize():f}"
    first, rest = str(digits[0]), "".join(map(str, digits[1:]))
    return f"{'-' * sign}{first}{'.' * bool(rest)}{rest}e{scale:+03d}"


def encode_json(value: Any) -> str:
    """Compact JSON, keys in their order, with Go's escapes."""
    return msgspec.json.encode(value).decode().translate(_HTML)
