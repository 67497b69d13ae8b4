"""What a type looks like on the wire.

A shape is the tree behind a Struct: wire names of fields, kinds of values, what the declarations say about them. Strict
decoding, the texts of type errors, the treatment of null and the published schema walk it, so that none of them has to
read type hints. `reshape` derives a variant of a Struct: an older version, or one that refuses unknown fields.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import UnionType
from typing import Annotated, Any, TypeVar, Union, cast, get_args, get_origin

import msgspec
from msgspec import inspect

from dray.api.struct import ApiStruct, define_struct

__all__ = [
    "CustomShape",
    "FieldShape",
    "ListShape",
    "MapShape",
    "NumberOrTextShape",
    "ObjectShape",
    "RawShape",
    "ScalarShape",
    "Shape",
    "get_shape",
    "refuse_unknown_fields",
    "reshape",
]

T = TypeVar("T", bound=ApiStruct)


@dataclass(frozen=True, slots=True)
class ScalarShape:
    """A string, a boolean, a number, or bytes as base64. `type_name` is Go's word for it."""

    type_name: str


@dataclass(frozen=True, slots=True)
class CustomShape:
    """A value with a text form of its own, such as Quantity or Time."""

    type: type


@dataclass(frozen=True, slots=True)
class RawShape:
    """Any JSON, kept as it came."""


@dataclass(frozen=True, slots=True)
class NumberOrTextShape:
    """A 32-bit number or a string."""


@dataclass(frozen=True, slots=True)
class ListShape:
    """A list of equal items."""

    item: "Shape"


@dataclass(frozen=True, slots=True)
class MapShape:
    """An object with free keys."""

    value: "Shape"


@dataclass(frozen=True, slots=True)
class FieldShape:
    """One field of a Struct."""

    name: str
    """Its name in Python."""
    shape: "Shape"
    nullable: bool
    """Whether the type knows None."""
    always: bool
    """Whether it is written even when it holds its zero."""
    facts: Mapping[str, Any]
    """What `Meta(extra=...)` declares; see `dray.api.struct`."""
    description: str


@dataclass(frozen=True, slots=True, eq=False)
class ObjectShape:
    """A Struct; fields by wire name, in order of declaration."""

    struct: type[ApiStruct]
    fields: dict[str, FieldShape] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the type."""
        return self.struct.__name__

    def nested(self) -> "Iterator[ObjectShape]":
        """The Structs that fields hold directly, in lists or in maps."""
        for each in self.fields.values():
            shape: Shape = each.shape
            while isinstance(shape, ListShape | MapShape):
                shape = shape.item if isinstance(shape, ListShape) else shape.value
            if isinstance(shape, ObjectShape):
                yield shape


Shape = ScalarShape | CustomShape | RawShape | NumberOrTextShape | ListShape | MapShape | ObjectShape

_SHAPES: dict[type[ApiStruct], ObjectShape] = {}


def get_shape(struct: type[ApiStruct]) -> ObjectShape:
    """The shape of a Struct type; the same object for the same type."""
    known = _SHAPES.get(struct)
    if known is None:
        described = inspect.type_info(struct)
        if not isinstance(described, inspect.StructType):
            raise TypeError(f"{struct!r} is not a Struct")
        known = _object_shape(described)
    return known


def _object_shape(described: inspect.StructType) -> ObjectShape:
    struct = cast("type[ApiStruct]", described.cls)  # every Struct of the API is one; inspect does not know
    known = _SHAPES.get(struct)
    if known is not None:
        return known
    shape = _SHAPES[struct] = ObjectShape(struct)  # before its fields, which may lead back here
    for each in described.fields:
        shape.fields[each.encode_name] = _field_shape(each)
    return shape


def _field_shape(declared: inspect.Field) -> FieldShape:
    declared_type = declared.type
    facts: Mapping[str, Any] = {}
    description = ""
    if isinstance(declared_type, inspect.Metadata):
        facts = declared_type.extra or {}
        description = (declared_type.extra_json_schema or {}).get("description", "")
        declared_type = declared_type.type
    return FieldShape(
        name=declared.name,
        shape=_shape(declared_type),
        nullable=isinstance(declared_type, inspect.UnionType) and declared_type.includes_none,
        always=declared.default_factory is not msgspec.NODEFAULT and declared.default_factory not in (dict, list),
        facts=facts,
        description=description,
    )


_SCALARS: dict[type[inspect.Type], str] = {
    inspect.StrType: "string",
    inspect.BoolType: "bool",
    inspect.FloatType: "float64",
    inspect.BytesType: "[]uint8",
}


def _shape(declared: inspect.Type) -> Shape:
    if isinstance(declared, inspect.Metadata):
        return _shape(declared.type)
    if isinstance(declared, inspect.StructType):
        return _object_shape(declared)
    if isinstance(declared, inspect.VarTupleType):
        return ListShape(_shape(declared.item_type))
    if isinstance(declared, inspect.DictType):
        return MapShape(_shape(declared.value_type))
    if isinstance(declared, inspect.IntType):
        return ScalarShape("int32" if declared.le == 2**31 - 1 else "int64")
    if isinstance(declared, inspect.CustomType):
        return CustomShape(declared.cls)
    if isinstance(declared, inspect.RawType):
        return RawShape()
    if isinstance(declared, inspect.UnionType):
        members = [each for each in declared.types if not isinstance(each, inspect.NoneType)]
        return _shape(members[0]) if len(members) == 1 else NumberOrTextShape()
    return ScalarShape(_SCALARS[type(declared)])


class _Variant:
    """One derivation: which types are replaced, and whether unknown fields are refused."""

    def __init__(self, replaced: Mapping[type[ApiStruct], type[ApiStruct]], *, forbid_unknown: bool) -> None:
        self._replaced = replaced
        self._forbid_unknown = forbid_unknown
        self._made: dict[type[ApiStruct], type[ApiStruct]] = {}

    def derive(self, struct: type[ApiStruct]) -> type[ApiStruct]:
        """The variant of a Struct, which is the Struct itself where nothing in it differs."""
        struct = self._replaced.get(struct, struct)
        if struct not in self._made:
            self._made[struct] = struct  # what a type that contains itself would find; the API has none
            fields = msgspec.structs.fields(struct)
            types = [self._substitute(each.type) for each in fields]
            if self._forbid_unknown or any(new is not each.type for new, each in zip(types, fields, strict=True)):
                self._made[struct] = self._rebuild(struct, types)
        return self._made[struct]

    def _rebuild(self, struct: type[ApiStruct], types: list[Any]) -> type[ApiStruct]:
        fields: list[tuple[str, Any, Any]] = []
        for each, field_type in zip(msgspec.structs.fields(struct), types, strict=True):
            if each.default is not msgspec.NODEFAULT:
                default = msgspec.field(default=each.default, name=each.encode_name)
            else:
                factory = _factory_for(field_type, each.default_factory)
                default = msgspec.field(default_factory=factory, name=each.encode_name)
            fields.append((each.name, field_type, default))
        return define_struct(
            struct.__name__,
            fields,
            module=struct.__module__,
            namespace={"schema_extensions": struct.schema_extensions, "__doc__": struct.__doc__},
            forbid_unknown_fields=self._forbid_unknown,
        )

    def _substitute(self, hint: Any) -> Any:
        """The same annotation with every Struct in it replaced; the very same object where nothing differs."""
        if isinstance(hint, type) and issubclass(hint, ApiStruct):
            return self.derive(hint)
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is None:
            return hint
        if origin is Annotated:
            inner = self._substitute(arguments[0])
            return hint if inner is arguments[0] else Annotated[inner, *arguments[1:]]
        changed = tuple(self._substitute(each) for each in arguments)
        if all(new is old for new, old in zip(changed, arguments, strict=True)):
            return hint
        return Union[changed] if origin in (Union, UnionType) else origin[changed]  # noqa: UP007 - made of a tuple


def _factory_for(hint: Any, factory: Any) -> Any:
    """A Struct that is always written starts as its own variant."""
    while get_origin(hint) is Annotated:
        hint = get_args(hint)[0]
    if isinstance(hint, type) and isinstance(factory, type) and issubclass(factory, ApiStruct):
        return hint
    return factory


def reshape(struct: type[T], replaced: Mapping[type[ApiStruct], type[ApiStruct]]) -> type[T]:
    """The Struct with types in it replaced, at any depth; itself where none of them occurs."""
    return cast("type[T]", _Variant(replaced, forbid_unknown=False).derive(struct))  # has the same fields above


@cache
def refuse_unknown_fields(struct: type[ApiStruct]) -> type[ApiStruct]:
    """The Struct, except that decoding it refuses what the API does not declare, at any depth."""
    return _Variant({}, forbid_unknown=True).derive(struct)
