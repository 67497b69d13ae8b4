"""Functions on text. Positions count code points."""

from __future__ import annotations

from dray.cel.errors import CostLimitExceeded, EvaluationError
from dray.cel.functions import Overload, declare
from dray.cel.library.conversions import to_string
from dray.cel.library.formatting import format_text

__all__ = ["STRINGS"]

MAX_TEXT = 8_000_000
"""Code points a function may make of its arguments. Kubernetes counts too little for replace(); we stop there instead
of running out of memory."""

_GO_SPACES = (
    "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
)
"""What trim() removes: white space as Unicode has it."""


def _out_of_range(position: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {position}")


def _char_at(text: str, at: int) -> str:
    if not 0 <= at <= len(text):
        raise _out_of_range(at)
    return text[at : at + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    return text.find(part, start)


def _last_index_of(text: str, part: str, start: int | None = None) -> int:
    if start is None:
        return text.rfind(part)
    if start < 0:
        raise _out_of_range(start)
    if not part:
        return min(start, len(text))
    if start >= len(text):
        return -1
    return text.rfind(part, 0, start + len(part))


def _change_case(first: str, last: str, distance: int) -> dict[int, int]:
    return {code: code + distance for code in range(ord(first), ord(last) + 1)}


_LOWER = _change_case("A", "Z", 32)
_UPPER = _change_case("a", "z", -32)


def _replace(text: str, old: str, new: str, limit: int = -1) -> str:
    count = text.count(old) if limit < 0 else min(text.count(old), limit)
    if len(text) + count * len(new) > MAX_TEXT:
        raise CostLimitExceeded
    return text.replace(old, new, count)


def _split(text: str, separator: str, limit: int = -1) -> tuple[str, ...]:
    if limit == 0:
        return ()
    if separator:
        return tuple(text.split(separator, limit - 1 if limit > 0 else -1))
    if limit < 0 or limit >= len(text):
        return tuple(text)
    return (*text[: limit - 1], text[limit - 1 :])


def _substring(text: str, start: int, end: int | None = None) -> str:
    if end is not None and start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    if end is not None and not 0 <= end <= len(text):
        raise _out_of_range(end)
    return text[start:end]


def _join(parts: tuple[str, ...], separator: str = "") -> str:
    for part in parts:
        if not isinstance(part, str):
            raise EvaluationError(f"join: invalid input: {to_string(part)}")
    if sum(map(len, parts)) + len(separator) * len(parts) > MAX_TEXT:
        raise CostLimitExceeded
    return separator.join(parts)


_ESCAPES = str.maketrans(
    {
        "\a": "\\a",
        "\b": "\\b",
        "\f": "\\f",
        "\n": "\\n",
        "\r": "\\r",
        "\t": "\\t",
        "\v": "\\v",
        "\\": "\\\\",
        '"': '\\"',
    }
)


def _quote(text: str) -> str:
    return f'"{text.translate(_ESCAPES)}"'


STRINGS: list[Overload] = declare(
    ("string_char_at_int: string::charAt(int) -> string", _char_at),
    ("string_index_of_string: string::indexOf(string) -> int", _index_of),
    ("string_index_of_string_int: string::indexOf(string, int) -> int", _index_of),
    ("string_last_index_of_string: string::lastIndexOf(string) -> int", _last_index_of),
    ("string_last_index_of_string_int: string::lastIndexOf(string, int) -> int", _last_index_of),
    ("string_lower_ascii: string::lowerAscii() -> string", lambda text: text.translate(_LOWER)),
    ("string_upper_ascii: string::upperAscii() -> string", lambda text: text.translate(_UPPER)),
    ("string_replace_string_string: string::replace(string, string) -> string", _replace),
    ("string_replace_string_string_int: string::replace(string, string, int) -> string", _replace),
    ("string_split_string: string::split(string) -> list(string)", _split),
    ("string_split_string_int: string::split(string, int) -> list(string)", _split),
    ("string_substring_int: string::substring(int) -> string", _substring),
    ("string_substring_int_int: string::substring(int, int) -> string", _substring),
    ("string_trim: string::trim() -> string", lambda text: text.strip(_GO_SPACES)),
    ("string_format: string::format(list(dyn)) -> string", format_text),
    ("strings_quote: strings.quote(string) -> string", _quote),
    ("list_join: list(string)::join() -> string", _join),
    ("list_join_string: list(string)::join(string) -> string", _join),
)
