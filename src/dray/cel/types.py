"""Static types, how they print, and which fit which.

Unification follows cel-go: a type parameter takes the first type it meets and widens where types agree; `dyn` agrees
with everything. Bindings are undone when an attempt fails, so that trying an overload leaves no trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto

__all__ = [
    "ANY",
    "BOOL",
    "BYTES",
    "DOUBLE",
    "DURATION",
    "DYN",
    "ERROR",
    "INT",
    "MAX_SIZE",
    "NULL",
    "STRING",
    "TIMESTAMP",
    "UINT",
    "Bindings",
    "Kind",
    "Type",
    "TypesTooComplex",
    "format_declared",
    "format_type",
    "join",
    "list_of",
    "map_of",
    "object_type",
    "opaque",
    "optional_of",
    "parse_type",
    "split_types",
    "type_of",
]


MAX_SIZE = 256
"""Of the type of any part of an expression; the attributes of a device have five."""

_MAX_STEPS = 200_000
"""Comparisons of types in one expression: five times what any of 10 KiB takes that does not aim at it."""


class Kind(Enum):
    """What sort of type it is."""

    ANY = auto()
    BOOL = auto()
    BYTES = auto()
    DOUBLE = auto()
    DURATION = auto()
    DYN = auto()
    ERROR = auto()
    INT = auto()
    LIST = auto()
    MAP = auto()
    NULL = auto()
    OBJECT = auto()
    OPAQUE = auto()
    PARAMETER = auto()
    STRING = auto()
    TIMESTAMP = auto()
    TYPE = auto()
    UINT = auto()


@dataclass(frozen=True, slots=True)
class Type:
    """A type: its kind, its name at run time, and its parameters."""

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()
    size: int = field(init=False, compare=False, repr=False)
    """How many types it takes to write it out."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", 1 + sum(each.size for each in self.parameters))

    @property
    def is_dyn(self) -> bool:
        """Whether nothing is known before running."""
        return self.kind is Kind.DYN or self.kind is Kind.ANY

    @property
    def is_optional(self) -> bool:
        """Whether it is `optional_type(...)`."""
        return self.kind is Kind.OPAQUE and self.name == "optional_type"


ANY = Type(Kind.ANY, "google.protobuf.Any")
BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "error")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
UINT = Type(Kind.UINT, "uint")


def list_of(element: Type) -> Type:
    """`list(element)`."""
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    """`map(key, value)`."""
    return Type(Kind.MAP, "map", (key, value))


def opaque(name: str, *parameters: Type) -> Type:
    """A type known by name only, such as `net.IP`."""
    return Type(Kind.OPAQUE, name, parameters)


def optional_of(value: Type) -> Type:
    """`optional_type(value)`."""
    return opaque("optional_type", value)


def object_type(name: str) -> Type:
    """A type with fields, such as `kubernetes.Quantity`; null passes for one."""
    return Type(Kind.OBJECT, name)


def type_of(described: Type | None = None) -> Type:
    """The type of a type as a value."""
    return Type(Kind.TYPE, "type", () if described is None else (described,))


def parameter(name: str) -> Type:
    """A type yet to be found out."""
    return Type(Kind.PARAMETER, name)


_SHORT_NAMES = {
    Kind.ANY: "any",
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}


def format_type(each: Type) -> str:
    """As compile faults print a type: `map(string, duration)`."""
    if each.kind in _SHORT_NAMES:
        return _SHORT_NAMES[each.kind]
    if not each.parameters:
        return each.name
    return f"{each.name}({', '.join(map(format_type, each.parameters))})"


def format_declared(each: Type) -> str:
    """As a wrong result type is reported: names at run time, `map(string, google.protobuf.Duration)`."""
    if each.kind is Kind.PARAMETER:
        return f"<{each.name}>"
    if not each.parameters:
        return each.name
    return f"{each.name}({', '.join(map(format_declared, each.parameters))})"


_BY_NAME = {
    "any": ANY,
    "bool": BOOL,
    "bytes": BYTES,
    "double": DOUBLE,
    "duration": DURATION,
    "dyn": DYN,
    "int": INT,
    "null": NULL,
    "string": STRING,
    "timestamp": TIMESTAMP,
    "uint": UINT,
    "Quantity": object_type("kubernetes.Quantity"),
    "Semver": object_type("kubernetes.Semver"),
    "URL": object_type("kubernetes.URL"),
    "Format": object_type("kubernetes.NamedFormat"),
    "IP": opaque("net.IP"),
    "CIDR": opaque("net.CIDR"),
    "Authorizer": object_type("kubernetes.authorization.Authorizer"),
    "PathCheck": object_type("kubernetes.authorization.PathCheck"),
    "GroupCheck": object_type("kubernetes.authorization.GroupCheck"),
    "ResourceCheck": object_type("kubernetes.authorization.ResourceCheck"),
    "Decision": object_type("kubernetes.authorization.Decision"),
}


def parse_type(text: str) -> Type:
    """Read a type of our tables: `list(optional(A))`, where one capital letter is a parameter."""
    head, _, rest = text.partition("(")
    if rest:
        inner = tuple(parse_type(each) for each in split_types(rest.removesuffix(")")))
        match head:
            case "list":
                return list_of(*inner)
            case "map":
                return map_of(*inner)
            case "optional":
                return optional_of(*inner)
            case _:
                return type_of(*inner)
    if len(head) == 1:
        return parameter(head)
    return _BY_NAME[head]


def split_types(text: str) -> list[str]:
    """Split a list of types at its outer commas."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    last = text[start:].strip()
    return [*parts, last] if last else parts


class TypesTooComplex(Exception):
    """An expression whose types would take for ever: each map of two others doubles what there is to compare."""


class Bindings:
    """What type parameters stand for, as far as it is known. Raises TypesTooComplex if it takes too long."""

    __slots__ = ("_bound", "_count", "_steps", "_undo")

    def __init__(self) -> None:
        self._bound: dict[str, Type] = {}
        self._undo: list[tuple[str, Type | None]] = []
        self._count = 0
        self._steps = 0

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise TypesTooComplex

    def fresh(self) -> Type:
        """A parameter that occurs nowhere yet."""
        self._count += 1
        return parameter(f"_var{self._count - 1}")

    def assign(self, pairs: Iterable[tuple[Type, Type]]) -> bool:
        """Make each first type fit the second; if one does not, nothing was bound."""
        self._undo = []
        if all(self._fits(one, other) for one, other in pairs):
            return True
        for name, before in reversed(self._undo):
            if before is None:
                del self._bound[name]
            else:
                self._bound[name] = before
        return False

    def resolve(self, each: Type, *, unbound_to_dyn: bool = False) -> Type:
        """Replace what is bound; what is not becomes `dyn` if asked."""
        self._step()
        if each.kind is Kind.PARAMETER:
            bound = self._bound.get(each.name)
            if bound is not None:
                return self.resolve(bound, unbound_to_dyn=unbound_to_dyn)
            return DYN if unbound_to_dyn else each
        if not each.parameters:
            return each
        inner = tuple(self.resolve(p, unbound_to_dyn=unbound_to_dyn) for p in each.parameters)
        return Type(each.kind, each.name, inner)

    def _bind(self, name: str, to: Type) -> None:
        self._undo.append((name, self._bound.get(name)))
        self._bound[name] = to

    def _fits(self, one: Type, other: Type) -> bool:
        self._step()
        if other.kind is Kind.PARAMETER:
            is_valid, is_bound = self._substitutes(one, other)
            if is_valid or is_bound:
                return is_valid
        if one.kind is Kind.PARAMETER:
            return self._substitutes(other, one)[0]
        if one.is_dyn or other.is_dyn or Kind.ERROR in (one.kind, other.kind):
            return True
        if one.kind is Kind.NULL:
            return _takes_null(other)
        if other.kind is Kind.NULL:
            return _takes_null(one)
        if one.kind is Kind.TYPE:
            return other.kind is Kind.TYPE
        if one.kind is not other.kind or one.name != other.name or len(one.parameters) != len(other.parameters):
            return False
        return all(map(self._fits, one.parameters, other.parameters))

    def _substitutes(self, candidate: Type, unknown: Type) -> tuple[bool, bool]:
        """Whether `candidate` may stand for the parameter, and whether the parameter already stood for something."""
        if candidate == unknown:
            return True, True
        bound = self._bound.get(unknown.name)
        if bound is None:
            if self._occurs(unknown, candidate):
                return False, False
            self._bind(unknown.name, candidate)
            return True, False
        if candidate == bound:
            return True, True
        if not self._fits(candidate, bound):
            return False, True
        wider = candidate if _is_at_least_as_wide(candidate, bound) else bound
        if not self._occurs(unknown, wider):
            self._bind(unknown.name, wider)
        return True, True

    def _occurs(self, unknown: Type, within: Type) -> bool:
        self._step()
        if unknown == within:
            return True
        if within.kind is Kind.PARAMETER:
            bound = self._bound.get(within.name)
            return bound is not None and self._occurs(unknown, bound)
        return any(self._occurs(unknown, each) for each in within.parameters)


def join(bindings: Bindings, one: Type, other: Type) -> Type | None:
    """The wider of two types that agree, None if they do not."""
    if not bindings.assign([(one, other)]):
        return None
    return one if _is_at_least_as_wide(one, other) else other


def _takes_null(each: Type) -> bool:
    return each.kind in (Kind.NULL, Kind.OPAQUE, Kind.OBJECT, Kind.ANY, Kind.DURATION, Kind.TIMESTAMP)


def _is_at_least_as_wide(one: Type, other: Type) -> bool:
    if one.is_dyn or one.kind is Kind.PARAMETER:
        return True
    if other.is_dyn or other.kind is Kind.PARAMETER or one.kind is not other.kind:
        return False
    if one.kind in (Kind.LIST, Kind.MAP, Kind.OPAQUE):
        if one.name != other.name or len(one.parameters) != len(other.parameters):
            return False
        return all(map(_is_at_least_as_wide, one.parameters, other.parameters))
    return one.kind is Kind.TYPE or one == other
