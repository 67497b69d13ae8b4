"""The base of every API type.

A Struct is frozen, its fields are keyword-only and camelCased on the wire, and a field at its default is not written.
The default always means *absent*: what the API server fills in is made explicit at admission, so a value that a user
wrote is never dropped because it happens to equal a default. Every field has a default, because a missing one is a
fault to report with a path, not a reason to stop decoding.

What the wire format says beyond name and type stands in the `extra` of a field's `Meta`, as a dict with these keys:

    "required"  True: clients must give it. Never enforced by decoding; a check refuses it with a field path.
    "enum"      closed set of values (a StrEnum class or a tuple of texts). The field itself stays `str`, for the same
                reason.
    "default"   the default that the published schema shows. Needed only where it is not the plain zero of an `always`
                field (`{"default": "TCP"}`), or to hide that zero (`{"default": None}`).
    "list"      how lists merge in server-side apply: "atomic", "set" or "map"; with "keys" for a map.
    "patch"     strategic merge patch: "merge", "merge,retainKeys", "replace"; with "merge_key" for a list of objects.
    "map"       "atomic" or "granular" for a field that holds a map or an object.
    "format"    what the string holds, such as "byte".

The constants and functions below spell the usual ones; combine them with `|`: `extra=REQUIRED | ATOMIC`,
`extra=list_map("name")`, `extra={"enum": Mode} | REQUIRED`. A whole type merges atomically where its class says
`schema_extensions: ClassVar[...] = {"x-kubernetes-map-type": "atomic"}`.

Integers are `Int64` or `Int32`, so that numbers out of range are refused. Raw JSON is `msgspec.Raw` with the default
`NO_JSON`; it cannot be Optional. `int | str` is a number or a name (`IntOrString`).
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, TypeVar, dataclass_transform

import msgspec

__all__ = [
    "ATOMIC",
    "NO_JSON",
    "REQUIRED",
    "SET",
    "ApiStruct",
    "Int32",
    "Int64",
    "IntOrString",
    "always",
    "always_null",
    "define_struct",
    "list_map",
]

T = TypeVar("T")

Facts = dict[str, Any]
"""What `Meta(extra=...)` takes."""


Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
IntOrString = int | str
"""A number, or a name or percentage that stands for one."""

NO_JSON: Final = msgspec.Raw()
"""The default of a raw JSON field: absent."""

REQUIRED: Final[Facts] = {"required": True}
"""Clients must give this field."""
ATOMIC: Final[Facts] = {"list": "atomic"}
"""The list is replaced as a whole by whoever applies it."""
SET: Final[Facts] = {"list": "set"}
"""Each item of the list has its own owner."""


def list_map(*keys: str, patch: str = "merge") -> Facts:
    """Declare a list whose objects are told apart by the wire names `keys`.

    A strategic merge patch goes by the first key; `patch=""` makes it replace the list.
    """
    facts: Facts = {"list": "map", "keys": keys}
    return facts | {"patch": patch, "merge_key": keys[0]} if patch else facts


def always(zero: Callable[[], T], *, name: str | None = None) -> Any:
    """Declare a field that is written even when it holds its zero value, such as `generation: 0`.

    `zero` is a type or a function without arguments: `always(str)`, `always(int)`, `always(ObjectMeta)`. Msgspec leaves
    out a field that *is* its default, but cannot know what a factory would return.
    """
    return msgspec.field(default_factory=zero, name=name)


def _nothing() -> None:
    return None


def always_null(*, name: str | None = None) -> Any:
    """Declare an optional field that is written as null when absent, such as `requests` of an empty claim."""
    return msgspec.field(default_factory=_nothing, name=name)


# `always` and `always_null` are left out: type checkers then take what they return for a default, which it is.
@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class _ApiStructMeta(msgspec.StructMeta):
    """Makes every subclass keyword-only, and tells type checkers so; msgspec inherits its other options by itself."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> type:
        options.setdefault("kw_only", True)
        return super().__new__(cls, name, bases, namespace, **options)


class ApiStruct(msgspec.Struct, metaclass=_ApiStructMeta, frozen=True, omit_defaults=True, rename="camel"):
    """Base of all API types: frozen, keyword-only, camelCase, absent means omitted."""

    schema_extensions: ClassVar[Mapping[str, object]] = {}
    """What the published schema says about the whole type, such as that it merges atomically."""


def define_struct(
    name: str, fields: Iterable[tuple[str, Any, Any]], *, module: str, namespace: Mapping[str, Any], **options: Any
) -> type[ApiStruct]:
    """Make a type from (name, type, default) of its fields, for types that are derived from others.

    Does what `msgspec.defstruct` does, which knows nothing of metaclasses.
    """
    members: dict[str, Any] = {**namespace, "__module__": module, "__qualname__": name, "__annotations__": {}}
    for field_name, field_type, default in fields:
        members["__annotations__"][field_name] = field_type
        members[field_name] = default
    made = _ApiStructMeta(name, (ApiStruct,), members, **options)
    assert issubclass(made, ApiStruct)
    return made
