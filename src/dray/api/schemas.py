"""Published schemas of API types, derived from their Structs in the dialect that kubectl reads.

A type has a name such as `io.k8s.api.core.v1.PodSpec` by the package it is declared in. Objects refer to one another by
`allOf`, and what strategic merge patch and server-side apply need stands in `x-kubernetes-*` extensions.
"""

from collections.abc import Mapping
from typing import Any

from dray.api.kind import JsonObject
from dray.api.meta import ListMeta
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

__all__ = ["SchemaBook", "package_of_group"]

_REFERENCE = "#/components/schemas/"
_META = "io.k8s.apimachinery.pkg.apis.meta.v1"
_QUANTITY = "io.k8s.apimachinery.pkg.api.resource.Quantity"
_INT_OR_STRING = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"
_RAW = "io.k8s.apimachinery.pkg.runtime.RawExtension"

_PLAIN_SCHEMAS: Mapping[str, JsonObject] = {
    f"{_META}.Time": {
        "description": "An instant to the second, as RFC 3339 in UTC.",
        "format": "date-time",
        "type": "string",
    },
    f"{_META}.MicroTime": {
        "description": "An instant to the microsecond, as RFC 3339 with six decimals in UTC.",
        "format": "date-time",
        "type": "string",
    },
    f"{_META}.FieldsV1": {"description": "A set of fields, as a tree of their names.", "type": "object"},
    _QUANTITY: {
        "description": "An exact number with an optional suffix: `500m`, `80Gi`, `2`.",
        "oneOf": [{"type": "string"}, {"type": "number"}],
    },
    _INT_OR_STRING: {
        "description": "A number, or a name or percentage that stands for one.",
        "format": "int-or-string",
        "oneOf": [{"type": "integer"}, {"type": "string"}],
    },
    _RAW: {"description": "Any JSON object; its type is known to whoever reads it.", "type": "object"},
}
_CUSTOM_NAMES = {"Quantity": _QUANTITY, "Time": f"{_META}.Time", "MicroTime": f"{_META}.MicroTime"}
_SCALAR_SCHEMAS: Mapping[str, tuple[JsonObject, object]] = {
    "string": ({"type": "string"}, ""),
    "[]uint8": ({"format": "byte", "type": "string"}, None),
    "bool": ({"type": "boolean"}, False),
    "int32": ({"format": "int32", "type": "integer"}, 0),
    "int64": ({"format": "int64", "type": "integer"}, 0),
    "float64": ({"format": "double", "type": "number"}, 0),
}
"""Schema and zero of each scalar."""


def package_of_group(group: str) -> str:
    """The package, upstream and here, that has the types of a group: `rbac` of `rbac.authorization.k8s.io`."""
    return group.partition(".")[0] if group else "core"


class SchemaBook:
    """The schemas of one group version, and of everything they refer to."""

    def __init__(self, group: str, version: str) -> None:
        self._package = package_of_group(group)
        self._version = version
        self.schemas: dict[str, JsonObject] = {}

    def add_type(self, struct: type[ApiStruct]) -> str:
        """Enter a type and all types it needs. Returns its name."""
        return self._add(get_shape(struct))

    def add_kind(self, struct: type[ApiStruct], gvk: Mapping[str, str]) -> str:
        """Enter a type as a kind. Returns its name."""
        name = self.add_type(struct)
        self.schemas[name]["x-kubernetes-group-version-kind"] = [dict(gvk)]
        return name

    def add_list(self, name: str, gvk: Mapping[str, str]) -> None:
        """Enter the type of lists of a kind."""
        self.schemas[f"{name}List"] = {
            "description": f"Several objects of kind {gvk['kind']}, as a list request returns them.",
            "properties": {
                "apiVersion": {"description": "API group and version of this text.", "type": "string"},
                "items": {"description": "The objects.", "items": self.refer(name), "type": "array"},
                "kind": {"description": "Kind of the list.", "type": "string"},
                "metadata": {
                    "allOf": [self.refer(self.add_type(ListMeta))],
                    "default": {},
                    "description": "What the server says about the list.",
                },
            },
            "required": ["items"],
            "type": "object",
            "x-kubernetes-group-version-kind": [{**gvk, "kind": f"{gvk['kind']}List"}],
        }

    def name_of(self, struct: type[ApiStruct]) -> str:
        """The name of a type in this group version; types of other packages are published as v1."""
        package = struct.__module__.removeprefix("dray.api.").partition(".")[0]
        if package == "meta":
            return f"{_META}.{struct.__name__}"
        version = self._version if package == self._package else "v1"
        return f"io.k8s.api.{package}.{version}.{struct.__name__}"

    def refer(self, name: str) -> JsonObject:
        """A reference to a type of that name."""
        return {"$ref": _REFERENCE + name}

    def _add(self, shape: ObjectShape) -> str:
        name = self.name_of(shape.struct)
        if name not in self.schemas:
            schema: JsonObject = {"description": _describe(shape.struct), "type": "object"}
            self.schemas[name] = schema  # before its fields, which may lead back here
            schema["properties"] = {wire: self._field(each) for wire, each in shape.fields.items()}
            required = [wire for wire, each in shape.fields.items() if each.facts.get("required")]
            if required:
                schema["required"] = required
            schema |= shape.struct.schema_extensions
        return name

    def _field(self, declared: FieldShape) -> JsonObject:
        value = self._value(declared.shape, declared.facts)
        schema: JsonObject = {"allOf": [value]} if "$ref" in value else value
        if declared.description:
            schema["description"] = declared.description
        default = declared.facts["default"] if "default" in declared.facts else _zero(declared)
        if default is not None:
            schema["default"] = default
        return schema | _extensions(declared.facts)

    def _value(self, shape: Shape, facts: Mapping[str, Any]) -> JsonObject:
        if isinstance(shape, ScalarShape):
            schema: JsonObject = dict(_SCALAR_SCHEMAS[shape.type_name][0])
            if "enum" in facts:
                schema["enum"] = sorted(facts["enum"])
            if "format" in facts:
                schema["format"] = facts["format"]
            return schema
        if isinstance(shape, ListShape):
            return {"items": self._value(shape.item, facts), "type": "array"}
        if isinstance(shape, MapShape):
            return {"additionalProperties": self._value(shape.value, facts), "type": "object"}
        if isinstance(shape, ObjectShape):
            return self.refer(self._add(shape))
        return self._refer_plain(shape, facts)

    def _refer_plain(self, shape: CustomShape | RawShape | NumberOrTextShape, facts: Mapping[str, Any]) -> JsonObject:
        if isinstance(shape, CustomShape):
            name = _CUSTOM_NAMES[shape.type.__name__]
        elif isinstance(shape, RawShape):
            name = f"{_META}.{facts['schema']}" if "schema" in facts else _RAW
        else:
            name = _INT_OR_STRING
        self.schemas[name] = dict(_PLAIN_SCHEMAS[name])
        return self.refer(name)


def _describe(struct: type[ApiStruct]) -> str:
    """A type's docstring as one paragraph a paragraph; field names as on the wire need no change."""
    paragraphs = (struct.__doc__ or "").strip().split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _zero(declared: FieldShape) -> object:
    """The default of a field that Go cannot leave out: its zero value. None where there is none to show."""
    if declared.nullable:
        return None
    if isinstance(declared.shape, ObjectShape):
        return {}
    if isinstance(declared.shape, ScalarShape) and declared.always:
        return _SCALAR_SCHEMAS[declared.shape.type_name][1]
    return None


def _extensions(facts: Mapping[str, Any]) -> JsonObject:
    extensions: JsonObject = {}
    if "keys" in facts:
        extensions["x-kubernetes-list-map-keys"] = list(facts["keys"])
    for fact, extension in (
        ("list", "x-kubernetes-list-type"),
        ("map", "x-kubernetes-map-type"),
        ("merge_key", "x-kubernetes-patch-merge-key"),
        ("patch", "x-kubernetes-patch-strategy"),
    ):
        if fact in facts:
            extensions[extension] = facts[fact]
    return extensions
