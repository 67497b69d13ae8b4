"""The one OpenAPI v2 document of all group versions, for tools that know nothing newer, made of those of v3.

What the newer form can say and the older cannot is left out: alternatives of types, and defaults beside references.
"""

from collections.abc import Iterable
from typing import Final

from dray.api.kind import JsonObject
from dray.api.openapi import build_openapi
from dray.api.registry import AnyKind

__all__ = ["build_openapi_v2"]

_SCHEMAS: Final = "#/components/schemas/"
_DEFINITIONS: Final = "#/definitions/"
_BESIDE_REFERENCES: Final = frozenset({"description"})


def build_openapi_v2(kinds: Iterable[AnyKind]) -> JsonObject:
    """Paths and definitions of every kind in every version."""
    kinds = tuple(kinds)
    paths: JsonObject = {}
    definitions: JsonObject = {}
    for group, version in sorted({(kind.group, each.name) for kind in kinds for each in kind.versions}):
        document = build_openapi(kinds, group, version)
        paths |= {path: _convert_path(each) for path, each in document["paths"].items()}
        definitions |= {name: _convert_schema(each) for name, each in document["components"]["schemas"].items()}
    return {
        "swagger": "2.0",
        "info": {"title": "dray", "version": "1.37"},
        "paths": dict(sorted(paths.items())),
        "definitions": dict(sorted(definitions.items())),
    }


def _convert_path(path: JsonObject) -> JsonObject:
    return {
        name: [_convert_parameter(each) for each in part] if name == "parameters" else _convert_operation(part)
        for name, part in path.items()
    }


def _convert_operation(operation: JsonObject) -> JsonObject:
    converted = {
        name: part for name, part in operation.items() if name not in ("parameters", "requestBody", "responses")
    }
    parameters = [_convert_parameter(each) for each in operation.get("parameters", ())]
    body = operation.get("requestBody")
    if body is not None:
        schema = next(iter(body["content"].values()))["schema"]
        converted["consumes"] = list(body["content"])
        parameters.append({"in": "body", "name": "body", "required": True, "schema": _convert_schema(schema)})
    if parameters:
        converted["parameters"] = parameters
    responses: JsonObject = {}
    for code, response in operation["responses"].items():
        media = next(iter(response["content"].values()))
        responses[code] = {"description": response["description"], "schema": _convert_schema(media["schema"])}
    return {**converted, "produces": ["application/json", "application/yaml"], "responses": responses}


def _convert_parameter(parameter: JsonObject) -> JsonObject:
    return {**{name: part for name, part in parameter.items() if name != "schema"}, **parameter["schema"]}


def _convert_schema(schema: JsonObject) -> JsonObject:
    wrapped = schema.get("allOf", [{}])[0]
    if "$ref" in wrapped:
        beside = {name: part for name, part in schema.items() if name in _BESIDE_REFERENCES}
        return {"$ref": wrapped["$ref"].replace(_SCHEMAS, _DEFINITIONS), **beside}
    if "$ref" in schema:
        return {"$ref": schema["$ref"].replace(_SCHEMAS, _DEFINITIONS)}
    converted = {name: part for name, part in schema.items() if name != "oneOf"}
    if "oneOf" in schema:
        converted["type"] = "string"
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            converted[name] = _convert_schema(schema[name])
    if "properties" in schema:
        converted["properties"] = {name: _convert_schema(each) for name, each in schema["properties"].items()}
    return converted
