"""`metadata.managedFields` of writes that are no server-side apply.

What an object owns follows from its shape alone: which fields there are, the keys of list items, and whether a value is
empty. Creations of one shape own the same fields, so the field set of a shape is computed once. The uid of an only
owner is no part of the shape: in the text of the set it is a gap to fill.
"""

from functools import cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.mending import decode_custom
from dray.api.meta import ApiObject, ManagedFieldsEntry
from dray.api.registry import AnyKind
from dray.merge.apply import Writer, track
from dray.merge.elements import field_step, key_step
from dray.merge.fieldsets import NO_FIELDS, FieldSet
from dray.merge.schema import Anything, ListSchema, ListType, ObjectSchema, Schema
from dray.merge.scopes import WriteScope, make_scope
from dray.merge.typed import JsonObject
from dray.server.endpoints import Endpoint
from dray.server.ownedupdates import own_differences
from dray.values.times import Time

__all__ = ["get_scope", "own_creation", "own_update", "read_json"]

_STATUS: Final = field_step("status")
_SPEC: Final = field_step("spec")
_METADATA: Final = field_step("metadata")
_OWNERS: Final = field_step("ownerReferences")
_LEAVES_METADATA_TO_OTHERS: Final = frozenset({"resource.k8s.io", "scheduling.k8s.io"})
"""Groups whose status is written without the metadata beside it."""
_UID: Final = ("uid",)
_GAP: Final = b"\0"
"""Stands for the step to the owner; no JSON text has it."""
_MAX_SHAPES: Final = 4096
"""Field sets that are kept: a few hundred bytes each."""

_ENTRIES: Final = msgspec.json.Decoder(tuple[ManagedFieldsEntry, ...], dec_hook=decode_custom)

Shape = Any
"""A nested tuple: hashable, and equal for objects that own the same fields."""


def read_json(text: bytes) -> JsonObject:
    """The plain value of an object's text."""
    value: JsonObject = msgspec.json.decode(text)
    return value


@cache
def _scope(kind: AnyKind, version: str, subresource: str) -> WriteScope:
    return make_scope(kind, version, subresource, _reset_fields(kind, subresource))


def _reset_fields(kind: AnyKind, subresource: str) -> FieldSet:
    """What an endpoint ignores: the status at the object itself, the spec and some metadata at `/status`."""
    if subresource == "status":
        if kind.group in _LEAVES_METADATA_TO_OTHERS:
            return frozenset({(_SPEC,), (_METADATA,)})
        owners = {(_METADATA, _OWNERS)} if kind is POD else set()
        return frozenset({(_SPEC,), *owners})
    return frozenset({(_STATUS,)}) if kind.has_status else NO_FIELDS


def get_scope(endpoint: Endpoint, subresource: str = "") -> WriteScope:
    """How objects merge at an endpoint."""
    return _scope(endpoint.kind, endpoint.version, subresource)


_fields_by_shape: dict[tuple[int, Shape], bytes] = {}


def own_creation(endpoint: Endpoint, thing: ApiObject, manager: str, now: Time, subresource: str = "") -> ApiObject:
    """The object to be created, with its first owner."""
    scope = get_scope(endpoint, subresource)
    value = read_json(endpoint.encode(thing))
    if thing.metadata.managed_fields:
        return _take_entries(thing, track(scope, None, value, Writer(manager, str(now))))
    owner = thing.metadata.owner_references[0].uid if len(thing.metadata.owner_references) == 1 else ""
    key = (id(scope), _shape_of(scope.schema, value, owner))
    gap = msgspec.json.encode(key_step({"uid": owner})) if owner else _GAP
    text = _fields_by_shape.get(key)
    if text is None:
        entries = track(scope, None, value, Writer(manager, str(now))).get("metadata", {}).get("managedFields", [])
        text = msgspec.json.encode(entries[0]["fieldsV1"]).replace(gap, _GAP) if entries else b""
        if len(_fields_by_shape) >= _MAX_SHAPES:
            del _fields_by_shape[next(iter(_fields_by_shape))]
        _fields_by_shape[key] = text
    if not text:
        return thing
    entry = ManagedFieldsEntry(
        manager=manager,
        operation="Update",
        api_version=endpoint.api_version,
        time=now,
        fields_type="FieldsV1",
        fields_v1=msgspec.Raw(text.replace(_GAP, gap)),
        subresource=subresource,
    )
    return replace(thing, metadata=replace(thing.metadata, managed_fields=(entry,)))


def own_update(endpoint: Endpoint, subresource: str, old: ApiObject, new: ApiObject, writer: Writer) -> ApiObject:
    """The object that replaces a stored one, with its owners after that."""
    scope = get_scope(endpoint, subresource)
    quickly = own_differences(endpoint, scope, old, new, writer)
    if quickly is not None:
        return quickly
    live, value = read_json(endpoint.encode(old)), read_json(endpoint.encode(new))
    return _take_entries(new, track(scope, live, value, writer))


def _take_entries(thing: ApiObject, tracked: JsonObject) -> ApiObject:
    entries = tracked.get("metadata", {}).get("managedFields", [])
    owned = _ENTRIES.decode(msgspec.json.encode(entries))
    return replace(thing, metadata=replace(thing.metadata, managed_fields=owned))


def _shape_of(schema: Schema | None, value: Any, owner: str) -> Shape:
    if not value:
        return ()
    if isinstance(value, dict):
        if not isinstance(schema, ObjectSchema) or schema.is_atomic:
            return None if not isinstance(schema, Anything) else _free_shape(value)
        fields, element = schema.fields, schema.element
        return tuple(
            (name, _shape_of(fields[name].schema if name in fields else element, each, owner))
            for name, each in value.items()
        )
    if isinstance(value, list) and isinstance(schema, ListSchema) and schema.type is not ListType.ATOMIC:
        if schema.keys:
            return tuple((_keys_of(schema, item, owner), _shape_of(schema.item, item, owner)) for item in value)
        return tuple(value)
    return None


def _keys_of(schema: ListSchema, item: dict[str, Any], owner: str) -> Shape:
    if schema.keys == _UID and item.get("uid") == owner != "":
        return _UID
    return tuple(item.get(key) for key in schema.keys)


def _free_shape(value: dict[str, Any]) -> Shape:
    return tuple((name, _free_shape(each) if isinstance(each, dict) else bool(each)) for name, each in value.items())
