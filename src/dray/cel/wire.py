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
from dray.values.protowire import read_fields, read_varints, to_int64

__all__ = ["ParsedTree", "decode_parsed_expr"]


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
        for number, _, value in read_fields(encoded):
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
        return to_int64(body.integer(3))
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
    optional = frozenset(read_varints(body.raw(2))) if 2 in body else frozenset[int]()
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
