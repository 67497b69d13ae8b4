"""The operators and the functions of the language itself."""

from __future__ import annotations

from collections.abc import Callable

from dray.cel.errors import EvaluationError, no_such_overload
from dray.cel.functions import Function, Implementation, Overload, declare, operator
from dray.cel.library import moments
from dray.cel.library.conversions import (
    format_double,
    to_bool,
    to_bytes,
    to_double,
    to_duration,
    to_int,
    to_string,
    to_timestamp,
    to_uint,
)
from dray.cel.library.regex import matches
from dray.cel.operators import (
    add,
    contains,
    divide,
    equal,
    is_at_least,
    is_at_most,
    is_greater,
    is_less,
    is_not,
    modulo,
    multiply,
    negate,
    not_equal,
    size_of,
    subtract,
)
from dray.cel.values import MapValue, TypeValue, Value, type_name

__all__ = ["CONVERSIONS", "OPERATORS", "STANDARD", "describe", "not_ordered"]

CONVERSIONS = frozenset({"bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"})
"""Functions that run while compiling where their argument is a constant."""

_MOMENT, _SPAN = "google.protobuf.Timestamp", "google.protobuf.Duration"
_ORDERED = f"bool bytes double {_SPAN} int string {_MOMENT} uint"
_ORDERED_KINDS = ("bool", "int64", "uint64", "double", "string", "bytes", "timestamp", "duration")
_STATIC = {"int64": "int", "uint64": "uint"}


def _ordering(verb: str) -> list[str]:
    """The overloads of `<` and its kin: each kind with itself, and numbers with numbers."""
    same = [f"{verb}_{kind}: ({_STATIC.get(kind, kind)}, {_STATIC.get(kind, kind)}) -> bool" for kind in _ORDERED_KINDS]
    numbers = ("int64", "uint64", "double")
    mixed = [
        f"{verb}_{one}_{other}: ({_STATIC.get(one, one)}, {_STATIC.get(other, other)}) -> bool"
        for one in numbers
        for other in numbers
        if one != other
    ]
    return same + mixed


def _never(*_: Value) -> Value:
    """The planner evaluates these operators itself."""
    raise EvaluationError("no such overload")


def _identity(value: Value) -> Value:
    return value


def _on_texts(test: Callable[[str, str], bool]) -> Implementation:
    def invoke(text: Value, part: Value) -> Value:
        if not isinstance(text, str) or not isinstance(part, str):
            raise no_such_overload()
        return test(text, part)

    return invoke


def _type(value: Value) -> Value:
    return TypeValue(type_name(value))


def _not_strictly_false(value: Value) -> Value:
    return value if isinstance(value, bool) else True


def map_insert(target: MapValue, key: Value, value: Value) -> MapValue:
    """Add an entry to the map a comprehension gathers; a key may come once."""
    if target.has(key):
        raise EvaluationError(f"insert failed: key {describe(key)} already exists")
    target.put(key, value)
    return target


def map_merge(target: MapValue, update: MapValue) -> MapValue:
    """Add all entries of a map."""
    for key, value in update.items():
        map_insert(target, key, value)
    return target


def describe(value: Value) -> str:
    """A value inside a message."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return format_double(value) if isinstance(value, float) else str(value)


OPERATORS: tuple[Function, ...] = (
    operator("_?_:_", _never, None, ["conditional: (bool, A, A) -> A"]),
    operator("_&&_", _never, None, ["logical_and: (bool, bool) -> bool"]),
    operator("_||_", _never, None, ["logical_or: (bool, bool) -> bool"]),
    operator("_==_", equal, None, ["equals: (A, A) -> bool"]),
    operator("_!=_", not_equal, None, ["not_equals: (A, A) -> bool"]),
    operator("!_", is_not, None, ["logical_not: (bool) -> bool"]),
    operator(
        "_[_]",
        _never,
        None,
        [
            "index_list: (list(A), int) -> A",
            "index_map: (map(A, B), A) -> B",
            "optional_list_index_int: (optional(list(A)), int) -> optional(A)",
            "optional_map_index_value: (optional(map(A, B)), A) -> optional(B)",
        ],
    ),
    operator(
        "_[?_]",
        _never,
        None,
        [
            "list_optindex_optional_int: (list(A), int) -> optional(A)",
            "optional_list_optindex_optional_int: (optional(list(A)), int) -> optional(A)",
            "map_optindex_optional_value: (map(A, B), A) -> optional(B)",
            "optional_map_optindex_optional_value: (optional(map(A, B)), A) -> optional(B)",
        ],
    ),
    operator("_?._", _never, None, ["select_optional_field: (dyn, string) -> optional(A)"]),
    operator("@in", contains, None, ["in_list: (A, list(A)) -> bool", "in_map: (A, map(A, B)) -> bool"]),
    operator("_<_", is_less, _ORDERED, _ordering("less")),
    operator("_<=_", is_at_most, _ORDERED, _ordering("less_equals")),
    operator("_>_", is_greater, _ORDERED, _ordering("greater")),
    operator("_>=_", is_at_least, _ORDERED, _ordering("greater_equals")),
    operator(
        "_+_",
        add,
        f"bytes double {_SPAN} int list string {_MOMENT} uint",
        [
            "add_bytes: (bytes, bytes) -> bytes",
            "add_double: (double, double) -> double",
            "add_duration_duration: (duration, duration) -> duration",
            "add_duration_timestamp: (duration, timestamp) -> timestamp",
            "add_timestamp_duration: (timestamp, duration) -> timestamp",
            "add_int64: (int, int) -> int",
            "add_list: (list(A), list(A)) -> list(A)",
            "add_string: (string, string) -> string",
            "add_uint64: (uint, uint) -> uint",
        ],
    ),
    operator(
        "_-_",
        subtract,
        f"double {_SPAN} int {_MOMENT} uint",
        [
            "subtract_double: (double, double) -> double",
            "subtract_duration_duration: (duration, duration) -> duration",
            "subtract_int64: (int, int) -> int",
            "subtract_timestamp_duration: (timestamp, duration) -> timestamp",
            "subtract_timestamp_timestamp: (timestamp, timestamp) -> duration",
            "subtract_uint64: (uint, uint) -> uint",
        ],
    ),
    operator(
        "_*_",
        multiply,
        "double int uint",
        [
            "multiply_double: (double, double) -> double",
            "multiply_int64: (int, int) -> int",
            "multiply_uint64: (uint, uint) -> uint",
        ],
    ),
    operator(
        "_/_",
        divide,
        "double int uint",
        [
            "divide_double: (double, double) -> double",
            "divide_int64: (int, int) -> int",
            "divide_uint64: (uint, uint) -> uint",
        ],
    ),
    operator("_%_", modulo, "int uint", ["modulo_int64: (int, int) -> int", "modulo_uint64: (uint, uint) -> uint"]),
    operator(
        "-_",
        negate,
        f"bool double {_SPAN} int",
        ["negate_double: (double) -> double", "negate_int64: (int) -> int"],
    ),
    operator(
        "size",
        size_of,
        "bytes list map string",
        [
            "size_bytes: size(bytes) -> int",
            "bytes_size: bytes::size() -> int",
            "size_list: size(list(A)) -> int",
            "list_size: list(A)::size() -> int",
            "size_map: size(map(A, B)) -> int",
            "map_size: map(A, B)::size() -> int",
            "size_string: size(string) -> int",
            "string_size: string::size() -> int",
        ],
    ),
    operator(
        "matches",
        matches,
        "string",
        ["matches: matches(string, string) -> bool", "matches_string: string::matches(string) -> bool"],
    ),
    operator("contains", _on_texts(str.__contains__), None, ["contains_string: string::contains(string) -> bool"]),
    operator("endsWith", _on_texts(str.endswith), None, ["ends_with_string: string::endsWith(string) -> bool"]),
    operator("startsWith", _on_texts(str.startswith), None, ["starts_with_string: string::startsWith(string) -> bool"]),
    operator("type", _type, None, ["type: (A) -> type(A)"]),
    operator("dyn", _identity, None, ["to_dyn: (A) -> dyn"]),
)

STANDARD: list[Overload] = [
    *declare(
        ("@not_strictly_false: @not_strictly_false(bool) -> bool", _not_strictly_false),
        ("@mapInsert_map_key_value: cel.@mapInsert(map(K, V), K, V) -> map(K, V)", map_insert),
        ("@mapInsert_map_map: cel.@mapInsert(map(K, V), map(K, V)) -> map(K, V)", map_merge),
        ("bool_to_bool: bool(bool) -> bool", _identity),
        ("string_to_bool: bool(string) -> bool", to_bool),
        ("bytes_to_bytes: bytes(bytes) -> bytes", _identity),
        ("string_to_bytes: bytes(string) -> bytes", to_bytes),
        ("double_to_double: double(double) -> double", _identity),
        ("int64_to_double: double(int) -> double", to_double),
        ("string_to_double: double(string) -> double", to_double),
        ("uint64_to_double: double(uint) -> double", to_double),
        ("duration_to_duration: duration(duration) -> duration", _identity),
        ("string_to_duration: duration(string) -> duration", to_duration),
        ("int64_to_int64: int(int) -> int", _identity),
        ("double_to_int64: int(double) -> int", to_int),
        ("duration_to_int64: int(duration) -> int", to_int),
        ("string_to_int64: int(string) -> int", to_int),
        ("timestamp_to_int64: int(timestamp) -> int", to_int),
        ("uint64_to_int64: int(uint) -> int", to_int),
        ("string_to_string: string(string) -> string", _identity),
        ("bool_to_string: string(bool) -> string", to_string),
        ("bytes_to_string: string(bytes) -> string", to_string),
        ("double_to_string: string(double) -> string", to_string),
        ("duration_to_string: string(duration) -> string", to_string),
        ("int64_to_string: string(int) -> string", to_string),
        ("timestamp_to_string: string(timestamp) -> string", to_string),
        ("uint64_to_string: string(uint) -> string", to_string),
        ("timestamp_to_timestamp: timestamp(timestamp) -> timestamp", _identity),
        ("int64_to_timestamp: timestamp(int) -> timestamp", to_timestamp),
        ("string_to_timestamp: timestamp(string) -> timestamp", to_timestamp),
        ("uint64_to_uint64: uint(uint) -> uint", _identity),
        ("double_to_uint64: uint(double) -> uint", to_uint),
        ("int64_to_uint64: uint(int) -> uint", to_uint),
        ("string_to_uint64: uint(string) -> uint", to_uint),
    ),
    *moments.MOMENTS,
]


def not_ordered(function: str, value: Value) -> EvaluationError:
    """The first operand of an operator is of a kind that the operator does not know."""
    if type_name(value) in {"string", _MOMENT, _SPAN}:
        return no_such_overload()
    return EvaluationError(f"no such overload: {function}")
