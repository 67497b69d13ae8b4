"""What a write goes to: the version and subresource, and how the kind's values merge in each of its versions."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from dray.api.codec import get_codec
from dray.api.kind import Kind
from dray.merge.fieldsets import NO_FIELDS, FieldSet
from dray.merge.schema import ObjectSchema, get_schema
from dray.merge.typed import JsonObject

__all__ = ["WriteScope", "make_scope"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteScope:
    """One endpoint that objects are written through. Objects come and go in the shape of `api_version`."""

    kind: str
    api_version: str
    subresource: str = ""
    schemas: Mapping[str, ObjectSchema]
    """By apiVersion. Owners in other versions are forgotten."""
    convert: Callable[[JsonObject, str], JsonObject]
    """Bring an object, which names its version, into another one of `schemas`."""
    empty: JsonObject
    """An object in which nothing is set: what a creation is compared with."""
    reset_fields: FieldSet = NO_FIELDS
    """What this endpoint ignores in a write, with all below; nobody comes to own it here."""

    @property
    def schema(self) -> ObjectSchema:
        """The schema of the version that is written."""
        return self.schemas[self.api_version]

    def in_version(self, value: JsonObject, api_version: str) -> JsonObject:
        """The object in the shape of another version."""
        return value if value.get("apiVersion") == api_version else self.convert(value, api_version)


def make_scope(kind: Kind[Any], version: str, subresource: str = "", reset_fields: FieldSet = NO_FIELDS) -> WriteScope:
    """The scope of a kind that is served in this version. Costs a walk along the kind's types; keep the result."""
    versions = {kind.api_version(each.name): each.name for each in kind.versions}

    def convert(value: JsonObject, api_version: str) -> JsonObject:
        source = get_codec(kind, versions[value["apiVersion"]])
        target = get_codec(kind, versions[api_version])
        converted: JsonObject = msgspec.json.decode(target.encode(source.decode(msgspec.json.encode(value))))
        return converted

    return WriteScope(
        kind=kind.name,
        api_version=kind.api_version(version),
        subresource=subresource,
        schemas={api_version: get_schema(get_codec(kind, name).wire_struct) for api_version, name in versions.items()},
        convert=convert,
        empty=msgspec.json.decode(get_codec(kind, version).encode(kind.struct())),
        reset_fields=reset_fields,
    )
