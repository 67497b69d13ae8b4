"""The syntax tree: what the parser yields and macros rewrite.

Every node has an id; positions, types and overloads live beside the tree, keyed by that id, because a macro copies
nodes but not what was found out about them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from dray.cel.values import Uint

__all__ = [
    "Call",
    "Comprehension",
    "Constant",
    "Expr",
    "Ident",
    "ListLiteral",
    "Literal",
    "MapEntry",
    "MapLiteral",
    "MessageLiteral",
    "Select",
    "children",
    "walk",
]

Constant: TypeAlias = bool | int | Uint | float | str | bytes | None


@dataclass(slots=True)
class Literal:
    """A constant written in the text."""

    id: int
    value: Constant


@dataclass(slots=True)
class Ident:
    """A name: a variable, a type, or an iteration variable."""

    id: int
    name: str


@dataclass(slots=True)
class Select:
    """`operand.field`; with `is_test` the presence test `has(operand.field)`."""

    id: int
    operand: Expr
    field: str
    is_test: bool = False


@dataclass(slots=True)
class Call:
    """A function or operator call; `target` is the receiver of a method call."""

    id: int
    function: str
    target: Expr | None
    args: tuple[Expr, ...]


@dataclass(slots=True)
class ListLiteral:
    """`[a, ?b]`; `optional` holds the positions marked with `?`."""

    id: int
    elements: tuple[Expr, ...]
    optional: frozenset[int] = frozenset()


@dataclass(slots=True)
class MapEntry:
    """One `key: value` of a map literal, or `field: value` of a message, then `key` is a string literal."""

    id: int
    key: Expr
    value: Expr
    is_optional: bool = False


@dataclass(slots=True)
class MapLiteral:
    """`{key: value}`."""

    id: int
    entries: tuple[MapEntry, ...]


@dataclass(slots=True)
class MessageLiteral:
    """`Type{field: value}`: no such type exists for devices, so it only ever leads to a fault."""

    id: int
    name: str
    entries: tuple[MapEntry, ...]


@dataclass(slots=True)
class Comprehension:
    """What the iterating macros become: fold `step` over `range`, starting from `start`."""

    id: int
    variable: str
    second_variable: str
    range: Expr
    accumulator: str
    start: Expr
    condition: Expr
    step: Expr
    result: Expr

    @property
    def is_binding(self) -> bool:
        """Whether this only names a value (`cel.bind` and what is made of it) and iterates over nothing."""
        return (
            isinstance(self.range, ListLiteral)
            and not self.range.elements
            and isinstance(self.condition, Literal)
            and self.condition.value is False
        )


Expr: TypeAlias = Literal | Ident | Select | Call | ListLiteral | MapLiteral | MessageLiteral | Comprehension


def children(node: Expr) -> tuple[Expr, ...]:
    """The nodes directly below, in source order."""
    match node:
        case Select(operand=operand):
            return (operand,)
        case Call(target=target, args=args):
            return args if target is None else (target, *args)
        case ListLiteral(elements=elements):
            return elements
        case MapLiteral(entries=entries) | MessageLiteral(entries=entries):
            return tuple(part for entry in entries for part in (entry.key, entry.value))
        case Comprehension():
            return (node.range, node.start, node.condition, node.step, node.result)
        case _:
            return ()


def walk(root: Expr) -> Iterator[Expr]:
    """Every node, parents before children, in source order."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))
