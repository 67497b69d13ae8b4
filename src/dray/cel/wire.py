"""Reads the library's serialized syntax tree: the protobuf messages ParsedExpr, Expr and SourceInfo of cel.expr.

Only what the parser can produce is read. The tree comes from our own process, so a malformed one is a bug, not input.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dray.cel.syntax import (
    Call,
    Comprehension,
    Constant,
    Expr,
    Ident,
    ListLiteral,
    Literal,
    MapEntry,
    MapLiteral,
    MessageLiteral,
    Select,
)
from dray.cel.values import Uint
from dray.errors import InternalError

__all__ = ["ParsedTree", "decode_parsed_expr"]

_VARINT, _FIXED64, _BYTES = 0, 1, 2


@dataclass(frozen=True, slots=True)
class ParsedTree:
    """The tree and where in the text, as a count of code points, each node of it stands."""

    root: Expr
    offsets: dict[int, int]


class _Message:
    """The fields of one message, each as the list of its occurrences."""

    __slots__ = ("_fields",)

    def __init__(self, encoded: bytes) -> None:
        self._fields: dict[int, list[int | bytes]] = {}
        for number, value in _fields(encoded):
            self._fields.setdefault(number, []).append(value)

    def __contains__(self, number: int) -> bool:
        return number in self._fields

    def integer(self, number: int) -> int:
        value = self._fields.get(number, [0])[-1]
        if not isinstance(value, int):
            raise InternalError(f"field {number} of the syntax tree is not a number")
        return value

    def raw(self, number: int) -> bytes:
        value = self._fields.get(number, [b""])[-1]
        if not isinstance(value, bytes):
            raise InternalError(f"field {number} of the syntax tree is not text")
        return value

    def text(self, number: int) -> str:
        return self.raw(number).decode()

    def message(self, number: int) -> _Message:
        return _Message(self.raw(number))

    def messages(self, number: int) -> Iterator[_Message]:
        for value in self._fields.get(number, ()):
            if isinstance(value, bytes):
                yield _Message(value)


def decode_parsed_expr(serialized: bytes) -> ParsedTree:
    """Read a ParsedExpr wrapped in a google.protobuf.Any."""
    parsed = _Message(serialized).message(2)
    positions = parsed.message(3).messages(4)
    return ParsedTree(_expr(parsed.message(2)), {each.integer(1): each.integer(2) for each in positions})


def _expr(message: _Message) -> Expr:
    number = next((number for number in _DECODERS if number in message), None)
    if number is None:
        raise InternalError("a node of the syntax tree has no kind")
    return _DECODERS[number](message.integer(2), message.message(number))


def _literal(node_id: int, body: _Message) -> Expr:
    return Literal(node_id, _constant(body))


def _constant(body: _Message) -> Constant:
    if 2 in body:
        return bool(body.integer(2))
    if 3 in body:
        number = body.integer(3)
        return number - (1 << 64) if number >> 63 else number
    if 4 in body:
        return Uint(body.integer(4))
    if 5 in body:
        (double,) = struct.unpack("<d", struct.pack("<Q", body.integer(5)))
        return float(double)
    if 6 in body:
        return body.text(6)
    if 7 in body:
        return body.raw(7)
    return None


def _select(node_id: int, body: _Message) -> Expr:
    return Select(node_id, _expr(body.message(1)), body.text(2), is_test=bool(body.integer(3)))


def _call(node_id: int, body: _Message) -> Expr:
    target = _expr(body.message(1)) if 1 in body else None
    return Call(node_id, body.text(2), target, tuple(map(_expr, body.messages(3))))


def _list(node_id: int, body: _Message) -> Expr:
    optional = frozenset(_varints(body.raw(2))) if 2 in body else frozenset[int]()
    return ListLiteral(node_id, tuple(map(_expr, body.messages(1))), optional)


def _struct(node_id: int, body: _Message) -> Expr:
    entries = tuple(map(_entry, body.messages(2)))
    if 1 in body:
        return MessageLiteral(node_id, body.text(1), entries)
    return MapLiteral(node_id, entries)


def _entry(message: _Message) -> MapEntry:
    entry_id = message.integer(1)
    key = _expr(message.message(3)) if 3 in message else Literal(entry_id, message.text(2))
    return MapEntry(entry_id, key, _expr(message.message(4)), is_optional=bool(message.integer(5)))


def _comprehension(node_id: int, body: _Message) -> Expr:
    return Comprehension(
        node_id,
        variable=body.text(1),
        second_variable=body.text(8),
        range=_expr(body.message(2)),
        accumulator=body.text(3),
        start=_expr(body.message(4)),
        condition=_expr(body.message(5)),
        step=_expr(body.message(6)),
        result=_expr(body.message(7)),
    )


_DECODERS: dict[int, Callable[[int, _Message], Expr]] = {
    3: _literal,
    4: lambda node_id, body: Ident(node_id, body.text(1)),
    5: _select,
    6: _call,
    7: _list,
    8: _struct,
    9: _comprehension,
}


def _fields(encoded: bytes) -> Iterator[tuple[int, int | bytes]]:
    at = 0
    while at < len(encoded):
        tag, at = _varint(encoded, at)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, at = _varint(encoded, at)
            yield number, value
        elif wire_type == _BYTES:
            size, at = _varint(encoded, at)
            yield number, encoded[at : at + size]
            at += size
        elif wire_type == _FIXED64:
            yield number, int.from_bytes(encoded[at : at + 8], "little")
            at += 8
        else:
            raise InternalError(f"the syntax tree holds wire type {wire_type}")


def _varint(encoded: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = encoded[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7


def _varints(packed: bytes) -> Iterator[int]:
    at = 0
    while at < len(packed):
        value, at = _varint(packed, at)
        yield value
