"""Texts of patches: JSON to values, faults in the API server's words, names that are given twice."""

import json
import math
import re
from dataclasses import dataclass
from typing import Any, Final

from dray.api.jsonsyntax import TOO_DEEP, explain_json_syntax
from dray.errors import BadRequest
from dray.values.quoting import quote

__all__ = ["PatchText", "copy_value", "describe_kind", "read_object", "read_patch"]

_KINDS = {dict: "object", list: "array", str: "string", bool: "bool", type(None): "null"}
_MAP = "map[string]interface {}"
_HALVES: Final = re.compile("[\ud800-\udfff]")
_LIMIT: Final = 2**63
_LONGEST_INTEGER: Final = 20
"""Digits and sign of the longest number of 64 bits."""


@dataclass(frozen=True, slots=True)
class PatchText:
    """What a text says, and which names it gives twice: `duplicate field "metadata.labels.a"`. The last one counts."""

    value: Any
    strict_faults: tuple[str, ...] = ()


class _Pairs(list[tuple[str, Any]]):
    """An object with all its names, repeated ones too."""


def read_patch(text: bytes, *, prefix: str = "error decoding patch: ") -> PatchText:
    """Read any JSON. Raises BadRequest for what is none, and for what cannot be held, where `prefix` opens the message.

    What is not UTF-8 becomes the replacement character.
    """
    try:
        pairs = json.loads(
            text.decode(errors="replace"),
            object_pairs_hook=_Pairs,
            parse_constant=_refuse_constant,
            parse_int=_read_integer,
            parse_float=_read_float,
        )
        duplicates: dict[str, None] = {}
        value = _fold(pairs, "", duplicates)
    except RecursionError as fault:
        raise BadRequest(prefix + TOO_DEEP) from fault
    except ValueError as fault:
        is_json = explain_json_syntax(text) is None
        raise BadRequest(prefix + str(fault) if is_json else "invalid JSON patch") from fault
    return PatchText(value, tuple(f"duplicate field {quote(path)}" for path in duplicates))


def read_object(text: bytes, *, prefix: str = "error decoding patch: ") -> PatchText:
    """Read a JSON object, or null. Raises BadRequest for anything else."""
    read = read_patch(text, prefix=prefix)
    if read.value is not None and not isinstance(read.value, dict):
        raise BadRequest(f"{prefix}json: cannot unmarshal {describe_kind(read.value)} into Go value of type {_MAP}")
    return read


def describe_kind(value: Any) -> str:
    """JSON's word for a value."""
    return _KINDS.get(type(value), "number")


def copy_value(value: Any) -> Any:
    """The same value, sharing nothing that can change."""
    if isinstance(value, dict):
        return {key: copy_value(each) for key, each in value.items()}
    return [copy_value(each) for each in value] if isinstance(value, list) else value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"invalid character {name[0]!r} looking for beginning of value")


def _read_integer(text: str) -> int | float:
    """Whole numbers beyond 64 bits are floating-point numbers."""
    number = int(text) if len(text) <= _LONGEST_INTEGER else _LIMIT
    return number if -_LIMIT <= number < _LIMIT else _read_float(text)


def _read_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"json: cannot unmarshal number {text} into Go value of type float64")
    return number


def _fold(value: Any, path: str, duplicates: dict[str, None]) -> Any:
    if isinstance(value, _Pairs):
        folded: dict[str, Any] = {}
        for key, each in value:
            below = f"{path}.{key}" if path else key
            if key in folded:
                duplicates[below] = None
            folded[_mend_text(key)] = _fold(each, below, duplicates)
        return folded
    if isinstance(value, list):
        return [_fold(each, f"{path}[{index}]", duplicates) for index, each in enumerate(value)]
    return _mend_text(value) if isinstance(value, str) else value


def _mend_text(text: str) -> str:
    """Halves of characters, which only escapes can smuggle in, become the replacement character."""
    if text.isascii() or _HALVES.search(text) is None:
        return text
    return _HALVES.sub("\N{REPLACEMENT CHARACTER}", text)
