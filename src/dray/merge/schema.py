"""How values of a type merge: which lists are told apart by keys, which values are taken whole, what patches do.

A schema is a tree of small values. `get_schema` derives it from a Struct's declarations; kinds without a Struct write
theirs by hand with the same constructors. Fields of objects and keys of maps are one thing here: an `ObjectSchema` with
declared fields, an element type for any other key, or both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from functools import cache
from typing import Any, Final

from dray.api.shapes import (
    CustomShape,
    FieldShape,
    ListShape,
    MapShape,
    NumberOrTextShape,
    ObjectShape,
    RawShape,
    ScalarShape,
    Shape,
    get_shape,
)
from dray.api.struct import ApiStruct
from dray.values.quantity import Quantity

__all__ = [
    "ANYTHING",
    "BOOLEAN",
    "NUMBER",
    "SCALAR",
    "TEXT",
    "Anything",
    "Field",
    "ListSchema",
    "ListType",
    "ObjectSchema",
    "PatchStrategy",
    "Scalar",
    "Schema",
    "get_schema",
]


class Scalar(StrEnum):
    """A value without parts."""

    NUMBER = "numeric"
    TEXT = "string"
    BOOLEAN = "boolean"
    ANY = "untyped"


NUMBER: Final = Scalar.NUMBER
TEXT: Final = Scalar.TEXT
BOOLEAN: Final = Scalar.BOOLEAN
SCALAR: Final = Scalar.ANY
"""A number or a text, such as a quantity."""


class Anything(Enum):
    """JSON of no declared type: objects merge by key, lists are taken whole."""

    ANYTHING = "anything"


ANYTHING: Final = Anything.ANYTHING


class ListType(StrEnum):
    """Who may own what of a list."""

    ATOMIC = "atomic"
    SET = "set"
    MAP = "map"


@dataclass(frozen=True, slots=True)
class ListSchema:
    """A list. `keys` tell the items of a MAP apart."""

    item: "Schema"
    type: ListType = ListType.ATOMIC
    keys: tuple[str, ...] = ()


class PatchStrategy(StrEnum):
    """What a strategic merge patch does with a field that both sides have."""

    MERGE = "merge"
    REPLACE = "replace"


@dataclass(frozen=True, slots=True)
class Field:
    """One declared field."""

    schema: "Schema"
    default: Any = None
    """What stands for the field where it is a key of a list's item and absent; None: nothing does."""
    patch: PatchStrategy | None = None
    """None: objects merge, lists are replaced."""
    merge_key: str = ""
    """The one field by which strategic merge patches tell the items of this list apart."""


@dataclass(frozen=True, slots=True, eq=False)
class ObjectSchema:
    """An object with declared fields, a map, or both. Compared by identity: types may contain themselves."""

    fields: Mapping[str, Field] = field(default_factory=dict)
    element: "Schema | None" = None
    """Type of undeclared fields; None: there may be none."""
    is_atomic: bool = False
    name: str = ""
    """Name of the type, for error texts."""

    def schema_of(self, key: str) -> "Schema":
        """The type of a field, declared or not."""
        declared = self.fields.get(key)
        if declared is not None:
            return declared.schema
        return ANYTHING if self.element is None else self.element


Schema = Scalar | Anything | ListSchema | ObjectSchema

_RAW_OBJECT: Final = "RawExtension"

_SCALARS: Final = {
    "string": TEXT,
    "[]uint8": TEXT,
    "bool": BOOLEAN,
    "float64": NUMBER,
    "int32": NUMBER,
    "int64": NUMBER,
}
_ZEROS: Final[dict[str, Any]] = {"string": "", "[]uint8": "", "bool": False, "float64": 0, "int32": 0, "int64": 0}


@cache
def get_schema(struct: type[ApiStruct]) -> ObjectSchema:
    """The schema of a Struct type; the same object for the same type."""
    return _derive_object(get_shape(struct), {})


def _derive_object(shape: ObjectShape, known: dict[type, ObjectSchema], *, is_atomic: bool = False) -> ObjectSchema:
    """Fields of one type are shared by its atomic and its granular schema. `known` ends recursion of types."""
    schema = known.get(shape.struct)
    if schema is None:
        fields: dict[str, Field] = {}
        atomic = shape.struct.schema_extensions.get("x-kubernetes-map-type") == "atomic"
        schema = known[shape.struct] = ObjectSchema(fields, is_atomic=atomic, name=shape.name)
        for wire_name, declared in shape.fields.items():
            fields[wire_name] = _derive_field(declared, known)
    if is_atomic and not schema.is_atomic:
        return ObjectSchema(schema.fields, is_atomic=True, name=schema.name)
    return schema


def _derive_field(declared: FieldShape, known: dict[type, ObjectSchema]) -> Field:
    facts = declared.facts
    strategies = str(facts.get("patch", "")).split(",")
    return Field(
        schema=_derive(declared.shape, facts, known),
        default=facts["default"] if "default" in facts else _zero(declared),
        patch=next((each for each in PatchStrategy if each in strategies), None),
        merge_key=facts.get("merge_key", ""),
    )


def _zero(declared: FieldShape) -> Any:
    """Fields that are always written have their zero as default."""
    if declared.always and not declared.nullable and isinstance(declared.shape, ScalarShape):
        return _ZEROS[declared.shape.type_name]
    return None


def _derive(shape: Shape, facts: Mapping[str, Any], known: dict[type, ObjectSchema]) -> Schema:
    if isinstance(shape, ObjectShape):
        return _derive_object(shape, known, is_atomic=facts.get("map") == "atomic")
    if isinstance(shape, ListShape):
        list_type = ListType(facts.get("list", ListType.ATOMIC))
        return ListSchema(_derive(shape.item, {}, known), list_type, tuple(facts.get("keys", ())))
    if isinstance(shape, MapShape):
        return ObjectSchema(element=_derive(shape.value, {}, known), is_atomic=facts.get("map") == "atomic")
    return _derive_leaf(shape, facts)


def _derive_leaf(shape: ScalarShape | CustomShape | NumberOrTextShape | RawShape, facts: Mapping[str, Any]) -> Schema:
    if isinstance(shape, ScalarShape):
        return _SCALARS[shape.type_name]
    if isinstance(shape, CustomShape):
        return SCALAR if shape.type is Quantity else TEXT
    if isinstance(shape, NumberOrTextShape):
        return SCALAR
    return ObjectSchema(element=ANYTHING, name=facts.get("schema", _RAW_OBJECT))
