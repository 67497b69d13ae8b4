"""Values while an expression runs.

bool, int, float, str, bytes, None and tuple stand for themselves (a CEL list is a tuple); what Python lacks is here. A
duration and a timestamp count nanoseconds. Nothing is ever changed once made, but for a list or map under construction
in a comprehension, which nobody else can see.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from dray.cel.errors import EvaluationError
from dray.values.quantity import Quantity
from dray.values.semver import Semver

__all__ = [
    "INT_MAX",
    "INT_MIN",
    "NONE",
    "NOTHING_THERE",
    "UINT_MAX",
    "Duration",
    "LibraryObject",
    "MapValue",
    "Optional",
    "Sum",
    "Timestamp",
    "TypeValue",
    "Uint",
    "Value",
    "type_name",
]

Value: TypeAlias = object
"""Any value of the language: bool, int, Uint, float, str, bytes, None, tuple, MapValue, Duration, Timestamp, TypeValue,
Optional, or one of the object types of the Kubernetes libraries."""

NOTHING_THERE = "optional.none() dereference"
"""CEL's error where an absent value is wanted."""

INT_MIN, INT_MAX, UINT_MAX = -(1 << 63), (1 << 63) - 1, (1 << 64) - 1


class Uint(int):
    """An unsigned integer. Equal to the int of its value, as in CEL; arithmetic looks at the exact class."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Duration:
    """A span in nanoseconds."""

    nanoseconds: int


@dataclass(frozen=True, slots=True)
class Timestamp:
    """A moment in nanoseconds since 1970 and the offset from UTC, in seconds, it was written with."""

    nanoseconds: int
    offset_seconds: int = 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Timestamp) and self.nanoseconds == other.nanoseconds

    def __hash__(self) -> int:
        return hash(self.nanoseconds)


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value; types compare by name."""

    name: str


@dataclass(frozen=True, slots=True)
class Optional:
    """A value that may be absent; absent when `is_present` is false."""

    value: Value = None
    is_present: bool = False

    def get(self) -> Value:
        """The value, or CEL's error when there is none."""
        if not self.is_present:
            raise EvaluationError(NOTHING_THERE)
        return self.value


NONE = Optional()


@dataclass(frozen=True, slots=True)
class Sum:
    """A quantity that add() or sub() made. Kubernetes' `==` accepts it on the left of a quantity only."""

    quantity: Quantity


@dataclass(frozen=True, slots=True)
class _BoolKey:
    """A bool as a map key: to Python, True and 1 are one key."""

    value: bool


@dataclass(frozen=True, slots=True, eq=False)
class _LoneKey:
    """A list or optional as a map key. It is found by nobody, as in Kubernetes, and costs nothing to look for."""

    value: Value


_Key: TypeAlias = Value


class MapValue:
    """A map. Keys find each other across int, uint and double; `fallback` answers for every missing key, if given."""

    __slots__ = ("_entries", "fallback")

    def __init__(self, entries: dict[_Key, Value] | None = None, fallback: Value = None) -> None:
        self._entries: dict[_Key, Value] = {} if entries is None else entries
        self.fallback = fallback

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Value]:
        for key in self._entries:
            yield key.value if isinstance(key, _BoolKey | _LoneKey) else key

    def items(self) -> Iterator[tuple[Value, Value]]:
        """Keys with their values."""
        for key, value in self._entries.items():
            yield (key.value if isinstance(key, _BoolKey | _LoneKey) else key), value

    def put(self, key: Value, value: Value) -> None:
        """Add an entry while the map is being made."""
        self._entries[_as_key(key)] = value

    def drop(self, key: Value) -> None:
        """Remove an entry, if there, while the map is being made."""
        self._entries.pop(_as_key(key), None)

    def has(self, key: Value) -> bool:
        """Whether there is such an entry; a fallback does not count."""
        try:
            return _as_key(key) in self._entries
        except TypeError:
            return False

    def find(self, key: Value) -> tuple[bool, Value]:
        """Whether `key` is there or answered by the fallback, and its value."""
        try:
            return True, self._entries[_as_key(key)]
        except (KeyError, TypeError):
            return self.fallback is not None, self.fallback


def _as_key(key: Value) -> _Key:
    if isinstance(key, bool):
        return _BoolKey(key)
    return _LoneKey(key) if isinstance(key, tuple | Optional) else key


_TYPE_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    tuple: "list",
    list: "list",
    MapValue: "map",
    type(None): "null_type",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    TypeValue: "type",
    Optional: "optional_type",
    Quantity: "kubernetes.Quantity",
    Sum: "kubernetes.Quantity",
    Semver: "kubernetes.Semver",
}


class LibraryObject:
    """Base of the values that only a library of functions makes: addresses, URLs, formats."""

    __slots__ = ()
    cel_type: ClassVar[str]


def type_name(value: Value) -> str:
    """The name of a value's type, as `type(value)` and messages give it."""
    if isinstance(value, LibraryObject):
        return value.cel_type
    return _TYPE_NAMES[type(value)]
