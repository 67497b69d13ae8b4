"""Who owns which fields: `metadata.managedFields`, read and written.

An owner is a manager in one way of writing. Appliers are one owner in all versions, because what they applied last is
replaced as a whole; updaters are one owner a version.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from dray.merge.fieldsets import FieldSet, FieldsFault, decode_fields, encode_fields
from dray.merge.typed import JsonObject
from dray.values.quoting import quote
from dray.values.times import TimeError, parse_time

__all__ = [
    "APPLY",
    "MAX_UPDATE_ENTRIES",
    "UPDATE",
    "Owned",
    "Owner",
    "Ownership",
    "OwnershipFault",
    "decode_ownership",
    "encode_ownership",
    "fold_oldest_updates",
    "is_reset",
]

APPLY: Final = "Apply"
UPDATE: Final = "Update"

MAX_UPDATE_ENTRIES: Final = 10
"""More updaters than these are folded together, oldest first, so that objects with many writers stay small."""

_REMEMBERED: Final = 1024

_ANCIENT: Final = "ancient-changes"
_FIELDS_TYPE: Final = "FieldsV1"


class OwnershipFault(ValueError):
    """Entries that are no managedFields."""


@dataclass(frozen=True, slots=True, order=True)
class Owner:
    """Whom fields belong to. `api_version` is empty for an applier."""

    manager: str
    operation: str
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        text = quote(self.manager)
        if self.subresource:
            text += f" with subresource {quote(self.subresource)}"
        return f"{text} using {self.api_version}" if self.operation == UPDATE else text


@dataclass(frozen=True, slots=True)
class Owned:
    """What an owner has, in the field names of one version."""

    fields: FieldSet
    api_version: str
    time: str | None = None
    """When the entry last changed, RFC 3339. An applier that changed nothing has no time."""

    def with_fields(self, fields: FieldSet) -> "Owned":
        """The same with other fields."""
        return replace(self, fields=fields)


Ownership = dict[Owner, Owned]


def is_reset(entries: Any) -> bool:
    """Whether entries in a write ask to forget all owners: an empty list, or one empty entry."""
    return entries in ([], [{}])


def decode_ownership(entries: Any) -> Ownership:
    """Read managedFields. Raises `OwnershipFault` for entries that cannot be."""
    ownership: Ownership = {}
    for index, entry in enumerate(entries or ()):
        fault = _find_entry_fault(index, entry)
        if fault:
            raise OwnershipFault(fault)
        api_version, operation = entry["apiVersion"], entry["operation"]
        identity = "" if operation == APPLY else api_version
        owner = Owner(entry.get("manager") or "", operation, identity, entry.get("subresource") or "")
        try:
            fields = decode_fields(entry.get("fieldsV1") or {})
        except FieldsFault as fault_in_fields:
            raise OwnershipFault(f"error decoding set: {fault_in_fields}") from fault_in_fields
        ownership[owner] = Owned(fields, api_version, entry.get("time"))
    return ownership


def _find_entry_fault(index: int, entry: Any) -> str:
    if not isinstance(entry, dict):
        return f"managed fields entry {index} is not an object"
    if entry.get("operation") not in (APPLY, UPDATE):
        return "operation must be `Apply` or `Update`"
    if not entry.get("apiVersion"):
        return "apiVersion must not be empty"
    if not entry.get("fieldsType"):
        return f"missing fieldsType in managed fields entry {index}"
    if entry["fieldsType"] != _FIELDS_TYPE:
        return f"invalid fieldsType {quote(entry['fieldsType'])} in managed fields entry {index}"
    return ""


def encode_ownership(ownership: Ownership) -> list[JsonObject]:
    """Write managedFields: appliers before updaters, each by time, then by name."""

    def place(each: tuple[Owner, Owned]) -> tuple[Any, ...]:
        owner, owned = each
        return (owner.operation, _seconds(owned.time), owner.manager, owned.api_version, owner.subresource)

    return [_encode_entry(owner, owned) for owner, owned in sorted(ownership.items(), key=place)]


@lru_cache(maxsize=_REMEMBERED)
def _write_fields(fields: FieldSet) -> JsonObject:
    """Never changed, because it is shared: objects of one origin have owners of the same fields."""
    return encode_fields(fields)


def _encode_entry(owner: Owner, owned: Owned) -> JsonObject:
    entry: JsonObject = {"manager": owner.manager, "operation": owner.operation, "apiVersion": owned.api_version}
    if owned.time is not None:
        entry["time"] = owned.time
    entry |= {"fieldsType": _FIELDS_TYPE, "fieldsV1": _write_fields(owned.fields)}
    if owner.subresource:
        entry["subresource"] = owner.subresource
    return entry


def _seconds(time: str | None) -> float:
    """Seconds since 1970; an entry without a time, or with none that can be read, is the oldest."""
    try:
        return parse_time(time).to_datetime().timestamp() if time else 0.0
    except (TimeError, OverflowError):
        return 0.0


def fold_oldest_updates(ownership: Ownership) -> Ownership:
    """Bring the number of updaters down to the limit: the oldest of one version become one owner."""
    updaters = sorted(
        (owner for owner in ownership if owner.operation == UPDATE),
        key=lambda owner: (_seconds(ownership[owner].time), owner),
    )
    excess = len(updaters) - MAX_UPDATE_ENTRIES
    folded = dict(ownership)
    oldest_by_version: dict[str, Owner] = {}
    for owner in updaters:
        version = owner.api_version
        oldest = oldest_by_version.setdefault(version, owner)
        if excess <= 0 or oldest == owner or owner not in folded:
            continue
        bucket = Owner(_ANCIENT, UPDATE, version)
        parts = {each: folded.pop(each) for each in (oldest, owner, bucket) if each in folded}
        folded[bucket] = Owned(frozenset().union(*(part.fields for part in parts.values())), version, parts[owner].time)
        oldest_by_version[version] = bucket
        excess -= len(parts) - 1
    return folded
