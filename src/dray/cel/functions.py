"""Functions of the language: their overloads, and how a call finds the right one while running.

A library is a table of signatures beside their implementations: `string_trim: string::trim() -> string` declares the
overload `string_trim` of the method `trim`. Without `::` it is a plain function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from dray.cel.errors import no_such_overload
from dray.cel.types import Kind, Type, parse_type, split_types
from dray.cel.values import MapValue, Value, type_name

__all__ = ["Function", "Implementation", "Overload", "Signature", "declare", "merge_functions", "operator"]

Implementation: TypeAlias = Callable[..., Value]  # type: ignore[explicit-any]  # parameters are the signature's
Signature: TypeAlias = tuple[str, Implementation]


_CHECKS_ITSELF = frozenset({"flatten", "sort", "@sortByAssociatedKeys"})
"""Functions that look at what they are given themselves, and take or refuse it in their own words."""


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function; a method's receiver is its first parameter."""

    id: str
    function: str
    parameters: tuple[Type, ...]
    result: Type
    is_method: bool
    implement: Implementation
    type_parameters: frozenset[str]

    def accepts(self, args: tuple[Value, ...]) -> bool:
        """Whether values of these types may be passed; of a list or map only the first element counts."""
        if len(args) != len(self.parameters):
            return False
        return self.function in _CHECKS_ITSELF or all(map(fits_at_run_time, self.parameters, args))


@dataclass(slots=True)
class Function:
    """All overloads of one name.

    An operator has one implementation for all of them, which looks at its operands itself; `operands` are the type
    names its first operand may have.
    """

    name: str
    overloads: list[Overload] = field(default_factory=list)
    operator: Implementation | None = None
    operands: frozenset[str] | None = None

    def call(self, args: tuple[Value, ...]) -> Value:
        """Run the first overload that takes these values."""
        for overload in self.overloads:
            if overload.accepts(args):
                return overload.implement(*args)
        raise no_such_overload(self.name, *map(type_name, args))


def fits_at_run_time(expected: Type, value: Value) -> bool:
    """Whether a value may be passed where `expected` is declared."""
    if expected.kind in (Kind.DYN, Kind.ANY, Kind.PARAMETER):
        return True
    if expected.name != type_name(value):
        return False
    if isinstance(value, tuple) and value:
        return fits_at_run_time(expected.parameters[0], value[0])
    if isinstance(value, MapValue) and len(value):
        key, first = next(value.items())
        return fits_at_run_time(expected.parameters[0], key) and fits_at_run_time(expected.parameters[1], first)
    return True


_SIGNATURE = re.compile(r"(\S+): (?:(.+?)::)?([^()\s]+)\((.*)\) -> (.+)")


def declare(*signatures: Signature) -> list[Overload]:
    """Read a table of signatures with their implementations."""
    return [_read(text, implement) for text, implement in signatures]


def operator(name: str, implement: Implementation, operands: str | None, signatures: Iterable[str]) -> Function:
    """An operator: `id: (int, int) -> int` for each signature, one implementation for all."""
    overloads = [_read(text.replace(": (", f": {name}(", 1), implement) for text in signatures]
    return Function(name, overloads, implement, None if operands is None else frozenset(operands.split()))


def merge_functions(libraries: Iterable[Iterable[Overload]], operators: Iterable[Function]) -> dict[str, Function]:
    """All functions by name; overloads in the order of the libraries."""
    functions = {each.name: each for each in operators}
    for library in libraries:
        for overload in library:
            functions.setdefault(overload.function, Function(overload.function)).overloads.append(overload)
    return functions


def _read(text: str, implement: Implementation) -> Overload:
    match = _SIGNATURE.fullmatch(text)
    if match is None:
        raise ValueError(f"not a signature: {text}")
    overload_id, receiver, name, parameters, result = match.groups()
    types = [parse_type(each) for each in split_types(parameters)]
    if receiver is not None:
        types.insert(0, parse_type(receiver))
    names = frozenset(name for each in (*types, parse_type(result)) for name in _parameter_names(each))
    return Overload(overload_id, name, tuple(types), parse_type(result), receiver is not None, implement, names)


def _parameter_names(each: Type) -> list[str]:
    if each.kind is Kind.PARAMETER:
        return [each.name]
    return [name for inner in each.parameters for name in _parameter_names(inner)]
