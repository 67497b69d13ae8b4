"""`metadata.managedFields` of updates, worked out from what differs alone.

Most updates change a few fields of an object and leave the rest the very values that were read. So it is enough to
compare those fields; an entry of another owner stays as it is unless it names one of them; and of the entries only the
writer's is written anew. What this way does not cover (entries of other versions, entries that the client has edited)
`dray.merge.apply.track` does, to the same result.
"""

import re
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from dray.api.meta import ApiObject, ManagedFieldsEntry
from dray.api.struct import ApiStruct
from dray.merge.apply import NEVER_OWNED, UNKNOWN_WRITER, Writer
from dray.merge.comparing import Comparison, compare
from dray.merge.elements import Path
from dray.merge.fieldsets import NO_FIELDS, FieldSet, decode_fields, encode_fields
from dray.merge.ownership import APPLY, MAX_UPDATE_ENTRIES, UPDATE
from dray.merge.scopes import WriteScope
from dray.merge.typed import TypeFault
from dray.server.endpoints import Endpoint
from dray.values.times import parse_time

__all__ = ["find_differences", "own_differences"]

_FIELDS_TYPE: Final = "FieldsV1"
_NOTHING: Final = b"{}"
_CACHED: Final = 4096
_UID: Final = re.compile(rb'"k:\{\\"uid\\":\\"[^"\\]*\\"\}"')
_SOME_UID: Final = b'"k:{\\"uid\\":\\"-\\"}"'
"""Stands for the step to an item with a uid."""
_OPERATIONS: Final = frozenset({APPLY, UPDATE})

Entries = tuple[ManagedFieldsEntry, ...]


def own_differences(
    endpoint: Endpoint, scope: WriteScope, old: ApiObject, new: ApiObject, writer: Writer
) -> ApiObject | None:
    """The object that replaces a stored one, with its owners after that. None where this way does not cover it."""
    before = _covered_entries(endpoint, scope, old, new)
    if before is None:
        return None
    try:
        comparison = _compare(endpoint, scope, old, new)
    except (TypeFault, RecursionError):
        return None
    after = _settle(before, comparison, scope, writer)
    if after is None or new.metadata.managed_fields is after:
        return None if after is None else new
    return replace(new, metadata=replace(new.metadata, managed_fields=after))


def _covered_entries(endpoint: Endpoint, scope: WriteScope, old: ApiObject, new: ApiObject) -> Entries | None:
    """The stored entries, if they are what counts and of this version throughout."""
    stored, given = old.metadata.managed_fields, new.metadata.managed_fields
    if not endpoint.serves_stored_bytes or not (scope.subresource or not given or given is stored or given == stored):
        return None
    for entry in stored:
        is_plain = entry.fields_type == _FIELDS_TYPE and entry.operation in _OPERATIONS
        if entry.api_version != scope.api_version or not is_plain:
            return None
    return stored


def _compare(endpoint: Endpoint, scope: WriteScope, old: ApiObject, new: ApiObject) -> Comparison | None:
    differences = find_differences(old, new)
    if differences is None:
        return None
    live, value = (msgspec.json.decode(endpoint.encode(each)) for each in differences)
    for each in (live, value):
        each.get("metadata", {}).pop("managedFields", None)
    return compare(scope.schema, live, value).without(scope.reset_fields)


def find_differences(old: Any, new: Any) -> tuple[Any, Any] | None:
    """Both values with nothing but the fields in which they differ. None if they are equal.

    Fields that are always written are there on both sides; they do not differ.
    """
    old_parts: dict[str, Any] = {}
    new_parts: dict[str, Any] = {}
    for name in type(old).__struct_fields__:
        one, other = getattr(old, name), getattr(new, name)
        if one is other:
            continue
        if isinstance(one, ApiStruct) and type(one) is type(other):
            parts = find_differences(one, other)
            if parts is None:
                continue
            one, other = parts
        elif one == other:
            continue
        old_parts[name], new_parts[name] = one, other
    if not new_parts:
        return None
    for name in _required_fields(type(old)):
        if name not in old_parts:
            old_parts[name] = new_parts[name] = getattr(old, name)
    return type(old)(**old_parts), type(new)(**new_parts)


_required: dict[type[msgspec.Struct], tuple[str, ...]] = {}


def _required_fields(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    names = _required.get(struct)
    if names is None:
        names = _required[struct] = tuple(each.name for each in msgspec.structs.fields(struct) if each.required)
    return names


def _settle(before: Entries, comparison: Comparison | None, scope: WriteScope, writer: Writer) -> Entries | None:
    """The entries after a change. None where there are too many."""
    if comparison is None or not before:
        return before
    changed = comparison.changed
    gone, gained = changed | comparison.removed, changed - NEVER_OWNED
    manager = writer.manager or UNKNOWN_WRITER
    own: ManagedFieldsEntry | None = None
    after: list[ManagedFieldsEntry] = []
    for entry in before:
        is_own = entry.manager == manager and entry.operation == UPDATE and entry.subresource == scope.subresource
        if is_own and gained:
            own = entry
        elif (left := _take(entry, gone)) is not None:
            after.append(left)
    if gained:
        fields = msgspec.Raw(_write(gained) if own is None else _change(bytes(own.fields_v1), gone, gained))
        after.append(
            ManagedFieldsEntry(
                manager=manager,
                operation=UPDATE,
                api_version=scope.api_version,
                time=parse_time(writer.now),
                fields_type=_FIELDS_TYPE,
                fields_v1=fields,
                subresource=scope.subresource,
            )
        )
    if len(after) > MAX_UPDATE_ENTRIES:
        return None
    after.sort(key=_place)
    return tuple(after)


def _take(entry: ManagedFieldsEntry, gone: FieldSet) -> ManagedFieldsEntry | None:
    """The entry without what has changed or is gone. None if nothing is left."""
    text = bytes(entry.fields_v1)
    # Entries are written by us alone, so each step of theirs stands there in the one spelling that it has.
    if not any(_may_name(text, path) for path in gone):
        return entry
    left = _change(text, gone, NO_FIELDS)
    if left == _NOTHING:
        return None
    return entry if left == text else replace(entry, fields_v1=msgspec.Raw(left))


def _may_name(text: bytes, path: Path) -> bool:
    """Whether all steps of a path stand in a text."""
    for spelled in _spell(path):  # noqa: SIM110 - this is asked often, and a generator costs more than the answer
        if spelled not in text:
            return False
    return True


def _change(text: bytes, gone: FieldSet, gained: FieldSet) -> bytes:
    """A set as text, without what is gone and with what is gained.

    Sets that differ in the uid of an only owner alone are one to the caches, unless the change is about items with a
    uid itself.
    """
    uids = set(_UID.findall(text))
    if len(uids) != 1 or any(step.startswith('k:{"uid"') for path in (*gone, *gained) for step in path):
        return _write((_read(text) - gone) | gained)
    (uid,) = uids
    left = _read(text.replace(uid, _SOME_UID)) - gone
    return _write(left | gained).replace(_SOME_UID, uid)


def _place(entry: ManagedFieldsEntry) -> tuple[str, int, str, str]:
    """Appliers before updaters, each by time, then by name."""
    return (entry.operation, entry.time.unix_seconds if entry.time else 0, entry.manager, entry.subresource)


@lru_cache(maxsize=_CACHED)
def _spell(path: Path) -> tuple[bytes, ...]:
    """The steps as they stand in an entry: first those that few entries have."""
    return tuple(msgspec.json.encode(step) for step in reversed(path))


@lru_cache(maxsize=_CACHED)
def _read(text: bytes) -> FieldSet:
    return decode_fields(msgspec.json.decode(text))


@lru_cache(maxsize=_CACHED)
def _write(fields: FieldSet) -> bytes:
    return msgspec.json.encode(encode_fields(fields))
