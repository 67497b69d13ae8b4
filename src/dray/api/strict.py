"""Strict decoding: every field that is not declared, and every field that is given twice.

The fast decoder can do neither: it skips the one and takes the last of the other. Here two cheap and exact tests decide
whether there is any such field; only then is the text walked, in its own order and with the field names of the version
that was sent.
"""

import json
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Any

import msgspec

from dray.api.mending import decode_custom
from dray.api.shapes import ListShape, MapShape, ObjectShape, Shape, get_shape, refuse_unknown_fields
from dray.api.struct import ApiStruct
from dray.values.quoting import quote

__all__ = ["StrictFault", "StrictProblem", "StrictReader"]

MAX_STRICT_FAULTS = 100
"""The API server stops counting here."""


class StrictProblem(StrEnum):
    """What is wrong with a field name."""

    UNKNOWN = "unknown field"
    DUPLICATE = "duplicate field"


@dataclass(frozen=True, slots=True)
class StrictFault:
    """One field that strict decoding refuses. Prints as the API server words it."""

    problem: StrictProblem
    path: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"{self.problem} {quote(self.path)}"


class StrictReader:
    """Finds the strict faults in texts of one type."""

    def __init__(self, struct: type[ApiStruct]) -> None:
        self._shape = get_shape(struct)
        self._refusing = msgspec.json.Decoder(refuse_unknown_fields(struct), dec_hook=decode_custom)

    def find_faults(self, text: bytes) -> list[StrictFault]:
        """All strict faults, in the order of the text, which must be JSON that fits the type."""
        if self._has_unknown_fields(text) or _may_repeat_keys(text):
            return _Walk().find(self._shape, text)
        return []

    def _has_unknown_fields(self, text: bytes) -> bool:
        """Exact, except that a text with nulls may be suspected without reason."""
        try:
            self._refusing.decode(text)
        except msgspec.ValidationError:
            return True
        return False


def _may_repeat_keys(text: bytes) -> bool:
    """Whether a key stands twice in an object; exact, except for quotes escaped as numbers, and numbers too large.

    Parsing and printing drops repeated keys and nothing else. In compact JSON a quote and a colon end a key, or the
    quote is an escaped one within a string, which survives printing; so their number shrinks only if a key was lost.
    """
    if b"\\u0022" in text:
        return True
    try:
        printed = msgspec.json.encode(msgspec.json.decode(text))
    except msgspec.ValidationError:  # a number that no float holds, in a part that is kept as it stands
        return True
    return printed.count(b'":') != msgspec.json.format(text, indent=-1).count(b'":')


class _Pairs(list[tuple[str, Any]]):
    """An object with all its keys, repeated ones too."""


class _Walk:
    """Goes through a document along the shape of its type."""

    def __init__(self) -> None:
        self._faults: dict[str, StrictFault] = {}

    def find(self, shape: ObjectShape, text: bytes) -> list[StrictFault]:
        document = json.loads(text, object_pairs_hook=_Pairs, parse_int=str, parse_float=str)
        self._visit(shape, document, "")
        return list(self._faults.values())[:MAX_STRICT_FAULTS]

    def _visit(self, shape: Shape, value: Any, path: str) -> None:
        if isinstance(shape, ObjectShape) and isinstance(value, _Pairs):
            self._visit_object(shape, value, f"{path}." if path else "")
        elif isinstance(shape, MapShape) and isinstance(value, _Pairs):
            seen: set[str] = set()
            for key, each in value:
                self._check_repeated(key, seen, f"{path}.{key}")
                self._visit(shape.value, each, f"{path}.{key}")
        elif isinstance(shape, ListShape) and isinstance(value, list):
            for index, each in enumerate(value):
                self._visit(shape.item, each, f"{path}[{index}]")

    def _visit_object(self, shape: ObjectShape, pairs: _Pairs, prefix: str) -> None:
        seen: set[str] = set()
        for key, each in pairs:
            declared = shape.fields.get(key)
            if declared is None:
                self._add(StrictFault(StrictProblem.UNKNOWN, prefix + key, _suggest(key, shape)))
                continue
            self._check_repeated(key, seen, prefix + key)
            self._visit(declared.shape, each, prefix + key)

    def _check_repeated(self, key: str, seen: set[str], path: str) -> None:
        if key in seen:
            self._add(StrictFault(StrictProblem.DUPLICATE, path))
        seen.add(key)

    def _add(self, fault: StrictFault) -> None:
        self._faults.setdefault(str(fault), fault)


def _suggest(key: str, shape: ObjectShape) -> str | None:
    by_lower = {name.lower(): name for name in shape.fields}
    close = get_close_matches(key.lower(), by_lower, n=1, cutoff=0.75)
    return f"did you mean {by_lower[close[0]]}?" if close else None
