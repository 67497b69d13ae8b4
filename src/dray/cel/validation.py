"""Faults of a well-typed tree that only its literals show: patterns, durations, moments, formats, mixed lists."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

from dray.cel.checker import Checked
from dray.cel.errors import CostLimitExceeded, EvaluationError
from dray.cel.library.conversions import to_duration, to_timestamp
from dray.cel.library.formatting import FormatFault, check_clause, split_clauses
from dray.cel.library.regex import BadPattern, compile_pattern
from dray.cel.source import Source, SourceFault
from dray.cel.syntax import Call, Expr, ListLiteral, Literal, MapLiteral, walk
from dray.cel.types import Kind, Type, format_type

__all__ = ["find_literal_faults"]

_Fault = tuple[int, str]


def find_literal_faults(checked: Checked, source: Source, offsets: Mapping[int, int]) -> list[SourceFault]:
    """All such faults of a tree that passed the type checker."""
    nodes = list(walk(checked.root))
    faults = [
        *_bad_arguments(nodes, "duration", 0, to_duration),
        *_bad_arguments(nodes, "timestamp", 0, to_timestamp),
        *_bad_arguments(nodes, "matches", 0, compile_pattern),
        *_mixed_literals(checked, nodes),
        *_bad_formats(checked, nodes),
    ]
    return [SourceFault(source.place(offsets.get(node_id)), message) for node_id, message in faults]


def _bad_arguments(nodes: list[Expr], function: str, position: int, read: Callable[[str], object]) -> Iterator[_Fault]:
    for node in nodes:
        if not isinstance(node, Call) or node.function != function or len(node.args) <= position:
            continue
        argument = node.args[position]
        if not isinstance(argument, Literal) or not isinstance(argument.value, str):
            continue
        try:
            read(argument.value)
        except (EvaluationError, BadPattern):
            yield argument.id, f"invalid {function} argument"


def _mixed_literals(checked: Checked, nodes: list[Expr]) -> Iterator[_Fault]:
    """Lists and maps must not mix types, not even by way of dyn(), unless they are for format()."""
    exempt = {id(part) for node in nodes if isinstance(node, Call) and node.function == "format" for part in walk(node)}
    for node in nodes:
        if id(node) in exempt:
            continue
        if isinstance(node, ListLiteral):
            typed = [(each, at in node.optional) for at, each in enumerate(node.elements)]
            yield from islice(_mixed(checked, typed), 1)
        elif isinstance(node, MapLiteral):
            yield from _mixed(checked, [(entry.key, False) for entry in node.entries])
            yield from _mixed(checked, [(entry.value, entry.is_optional) for entry in node.entries])


def _mixed(checked: Checked, parts: list[tuple[Expr, bool]]) -> Iterator[_Fault]:
    first: Type | None = None
    for part, is_optional in parts:
        found = checked.types[part.id]
        if is_optional and found.parameters:
            found = found.parameters[0]
        if first is None:
            first = found
        elif not _is_equivalent(first, found):
            yield part.id, f"expected type '{format_type(first)}' but found '{format_type(found)}'"


def _is_equivalent(one: Type, other: Type) -> bool:
    return (
        one.kind is other.kind
        and one.name == other.name
        and len(one.parameters) == len(other.parameters)
        and all(map(_is_equivalent, one.parameters, other.parameters))
    )


def _bad_formats(checked: Checked, nodes: list[Expr]) -> Iterator[_Fault]:
    """A constant format string must fit its list of arguments, as far as their types are known."""
    for node in nodes:
        if not isinstance(node, Call) or node.function != "format" or len(node.args) != 1:
            continue
        target, args = node.target, node.args[0]
        if isinstance(target, Literal) and isinstance(target.value, str) and isinstance(args, ListLiteral):
            fault = _bad_format(checked, target.value, args)
            if fault is not None:
                argument, message = fault
                yield (node.id if argument is None else argument.id), message


def _bad_format(checked: Checked, text: str, args: ListLiteral) -> tuple[Expr | None, str] | None:
    """The first fault and the argument it is about, None for the call as a whole."""
    try:
        clauses = [part for part in split_clauses(text) if not isinstance(part, str)]
    except FormatFault as fault:
        return None, str(fault)
    except CostLimitExceeded:
        return None
    for (letter, _), argument in zip(clauses, args.elements, strict=False):
        kind = checked.types[argument.id]
        if kind.is_dyn or kind.kind is Kind.ERROR:
            continue
        try:
            check_clause(letter, kind.name)
        except FormatFault as fault:
            return argument, str(fault)
    if len(clauses) > len(args.elements):
        return None, f"index {len(args.elements)} out of range"
    if len(clauses) < len(args.elements):
        expected, given = len(clauses), len(args.elements)
        return None, f"too many arguments supplied to string.format (expected {expected}, got {given})"
    return None
