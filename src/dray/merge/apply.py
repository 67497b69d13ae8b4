"""Server-side apply, and the bookkeeping of owners for every other write.

`apply` merges what a manager wants into the live object and takes away what it wanted before and no longer does.
`track` is for creations, updates and patches, whose result is already known: what changed belongs to whoever wrote.
Both answer with the object and its new `metadata.managedFields`; defaults and checks come after them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from dray.errors import BadRequest
from dray.merge.comparing import Comparison, compare
from dray.merge.elements import Path, field_step, format_path
from dray.merge.faults import ApplyConflict, FieldConflict, PatchFailed, refusing_depth
from dray.merge.fieldsets import NO_FIELDS, FieldSet, drop_below, list_paths
from dray.merge.lastapplied import KUBECTL, find_applied_before, renew_annotation
from dray.merge.merging import merge, remove_fields
from dray.merge.ownership import (
    APPLY,
    UPDATE,
    Owned,
    Owner,
    Ownership,
    OwnershipFault,
    decode_ownership,
    encode_ownership,
    fold_oldest_updates,
    is_reset,
)
from dray.merge.scopes import WriteScope
from dray.merge.typed import JsonObject, TypeFault, add_parents, check_value, collect_fields, is_same

__all__ = ["NEVER_OWNED", "UNKNOWN_WRITER", "Writer", "apply", "keep_times", "track"]

_BEFORE_FIRST_APPLY: Final = "before-first-apply"
UNKNOWN_WRITER: Final = "unknown"
"""The manager of a write that names none."""

_METADATA: Final = field_step("metadata")
NEVER_OWNED: Final[FieldSet] = frozenset(
    {(field_step("apiVersion"),), (field_step("kind"),), (_METADATA,)}
    | {
        (_METADATA, field_step(name))
        for name in (
            "name",
            "namespace",
            "creationTimestamp",
            "selfLink",
            "uid",
            "generation",
            "managedFields",
            "resourceVersion",
        )
    }
)
"""What names an object, or is the server's."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, and when: RFC 3339 to the second."""

    manager: str
    now: str


def track(scope: WriteScope, live: JsonObject | None, new: JsonObject, writer: Writer) -> JsonObject:
    """Give `new` the managedFields that it has after replacing `live`, or after its creation.

    Entries that come with `new` count if they can be read, so that clients may edit them; an empty list forgets all
    owners, and an object without owners stays so until something is applied to it.
    """
    before = _read_lenient(scope, live, new)
    bare = _without_entries(new)
    if live is not None and not before:
        return bare
    try:
        owners = _own_changes(scope, _without_entries(live or scope.empty), bare, before, writer)
    except (TypeFault, RecursionError):  # no items to tell apart, or too deep: whoever owned something still does
        return _with_entries(new, (live or {}).get("metadata", {}).get("managedFields", []))
    return _with_entries(bare, encode_ownership(fold_oldest_updates(owners)))


@refusing_depth
def apply(
    scope: WriteScope, live: JsonObject | None, config: JsonObject, writer: Writer, *, force: bool = False
) -> JsonObject:
    """Merge `config` into `live`, or create it.

    Raises `ApplyConflict` where the configuration would change a field of another owner, unless `force` takes such
    fields; `BadRequest` for another type or for managedFields in the configuration; `PatchFailed` for one that does
    not fit the type.
    """
    _refuse_other_types(scope, config)
    before = _read_strict(live)
    base = _without_entries(live or scope.empty)
    if not before:
        before = _own_changes(scope, _without_entries(scope.empty), base, {}, Writer(_BEFORE_FIRST_APPLY, writer.now))
    _refuse_unfit(scope, config)
    attempt = _Attempt(scope, base, config, before, writer)
    try:
        merged, owners = attempt.take_over() if writer.manager == KUBECTL and not force else attempt.run(force=force)
    except TypeFault as fault:
        raise PatchFailed(f"failed to create typed live object ({_name_object(scope, base)}): {fault}") from fault
    if writer.manager == KUBECTL:
        merged = renew_annotation(merged, config)
    return _with_entries(merged, encode_ownership(owners))


def keep_times(live: JsonObject, new: JsonObject) -> JsonObject:
    """Keep the managedFields of `live` where the two differ in nothing but their times: then nothing was written."""
    old_entries = live.get("metadata", {}).get("managedFields", [])
    new_entries = new.get("metadata", {}).get("managedFields", [])
    same_owners = _timeless(old_entries) == _timeless(new_entries)
    same = same_owners and is_same(_without_entries(live), _without_entries(new))
    return _with_entries(new, old_entries) if same else new


def _timeless(entries: Iterable[JsonObject]) -> Ownership:
    try:
        decoded = decode_ownership(entries)
    except OwnershipFault:
        return {}
    return {owner: Owned(owned.fields, owned.api_version) for owner, owned in decoded.items()}


def _refuse_other_types(scope: WriteScope, config: JsonObject) -> None:
    api_version, kind = _text(config.get("apiVersion")), _text(config.get("kind"))
    if (api_version, kind) != (scope.api_version, scope.kind):
        raise BadRequest(f"invalid object type: {_name_type(api_version, kind)}")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _name_type(api_version: str, kind: str) -> str:
    group, _, version = api_version.rpartition("/")
    return f"{group}/{version}, Kind={kind}"


def _refuse_unfit(scope: WriteScope, config: JsonObject) -> None:
    metadata = config.get("metadata")
    if isinstance(metadata, dict) and metadata.get("managedFields") is not None:
        raise BadRequest("metadata.managedFields must be nil")
    faults = check_value(scope.schema, config)
    if faults:
        listed = faults[0] if len(faults) == 1 else "\n  ".join(("errors:", *faults))
        raise PatchFailed(f"failed to create typed patch object ({_name_object(scope, config)}): {listed}")


def _name_object(scope: WriteScope, value: JsonObject) -> str:
    metadata = value.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    type_name = _name_type(scope.api_version, scope.kind)
    return f"{_text(metadata.get('namespace'))}/{_text(metadata.get('name'))}; {type_name}"


def _read_strict(live: JsonObject | None) -> Ownership:
    try:
        return decode_ownership((live or {}).get("metadata", {}).get("managedFields"))
    except OwnershipFault as fault:
        raise PatchFailed(f"failed to decode managed fields: {fault}") from fault


def _read_lenient(scope: WriteScope, live: JsonObject | None, new: JsonObject) -> Ownership:
    """The owners before an update: those that the request gives, else those of the live object."""
    given = new.get("metadata", {}).get("managedFields")
    if not scope.subresource:
        if is_reset(given):
            return {}
        owners = _decode_or_nothing(given)
        if owners:
            return owners
    return _decode_or_nothing((live or {}).get("metadata", {}).get("managedFields"))


def _decode_or_nothing(entries: object) -> Ownership:
    try:
        return decode_ownership(entries)
    except OwnershipFault:
        return {}


def _own_changes(scope: WriteScope, live: JsonObject, new: JsonObject, before: Ownership, writer: Writer) -> Ownership:
    """The owners after an update: what changed is the writer's, what is gone nobody's."""
    change = _Change(scope, live, new)
    owners = change.settle(before)
    gained = change.comparison.changed - NEVER_OWNED
    if gained:
        owner = Owner(writer.manager or UNKNOWN_WRITER, UPDATE, scope.api_version, scope.subresource)
        held = owners[owner].fields if owner in owners else NO_FIELDS
        owners[owner] = Owned(held | gained, scope.api_version, writer.now)
    return owners


class _Change:
    """The step from one object to the next, seen in every version that an owner counts in."""

    def __init__(self, scope: WriteScope, live: JsonObject, new: JsonObject) -> None:
        self._scope = scope
        self._live = live
        self._new = new
        self._comparisons: dict[str, Comparison] = {}
        self.comparison = self._compare(scope.api_version)

    def settle(self, owners: Ownership, applier: Owner | None = None) -> Ownership:
        """Take from every owner but `applier` what has changed or is gone. Owners of nothing go."""
        settled: Ownership = {}
        for owner, owned in owners.items():
            left = owned.fields
            if owned.api_version not in self._scope.schemas:
                continue
            if owner != applier:
                comparison = self._compare(owned.api_version)
                left = left - comparison.changed - comparison.removed
            if left:
                settled[owner] = owned.with_fields(left)
        return settled

    def find_conflicts(self, owners: Ownership, applier: Owner) -> dict[Owner, FieldSet]:
        """What the step changes of others."""
        conflicts: dict[Owner, FieldSet] = {}
        for owner, owned in owners.items():
            if owner != applier and owned.api_version in self._scope.schemas:
                contested = owned.fields & self._compare(owned.api_version).changed
                if contested:
                    conflicts[owner] = contested
        return conflicts

    def _compare(self, api_version: str) -> Comparison:
        known = self._comparisons.get(api_version)
        if known is None:
            live, new = (self._scope.in_version(each, api_version) for each in (self._live, self._new))
            known = compare(self._scope.schemas[api_version], live, new).without(self._scope.reset_fields)
            self._comparisons[api_version] = known
        return known


class _Attempt:
    """One configuration that is to be merged into one object."""

    def __init__(
        self, scope: WriteScope, live: JsonObject, config: JsonObject, before: Ownership, writer: Writer
    ) -> None:
        self._scope = scope
        self._live = live
        self._config = config
        self._before = before
        self._writer = writer
        self._applier = Owner(writer.manager or UNKNOWN_WRITER, APPLY, "", scope.subresource)

    def take_over(self) -> tuple[JsonObject, Ownership]:
        """Apply for kubectl, which takes fields that the same file gave to client-side apply without a conflict."""
        applied_before = find_applied_before(self._scope.schema, self._live, self._scope.api_version)
        return self.run(free=applied_before)

    def run(self, *, force: bool = False, free: FieldSet = NO_FIELDS) -> tuple[JsonObject, Ownership]:
        """The merged object and its owners; fields of `free` conflict with nobody, unless others do."""
        scope, applier = self._scope, self._applier
        last = self._before.get(applier)
        fields = drop_below(collect_fields(scope.schema, self._config), scope.reset_fields)
        owners = self._before | {applier: Owned(fields, scope.api_version, last.time if last else None)}
        merged: JsonObject = merge(scope.schema, self._live, self._config)
        if last is not None:
            merged = _Pruning(scope, merged, last).run(owners)
        change = _Change(scope, self._live, merged)
        conflicts = change.find_conflicts(owners, applier)
        if not force:
            _refuse_conflicts({owner: contested - free for owner, contested in conflicts.items()})
        owners = change.settle(owners, applier)
        if applier in owners and not is_same(self._live, merged):
            owners[applier] = Owned(owners[applier].fields, scope.api_version, self._writer.now)
        kept = owners[applier].fields - NEVER_OWNED if applier in owners else NO_FIELDS
        if kept:
            owners[applier] = owners[applier].with_fields(kept)
        else:
            owners.pop(applier, None)
        return merged, owners


def _refuse_conflicts(conflicts: dict[Owner, FieldSet]) -> None:
    causes = [
        FieldConflict(str(owner), format_path(path))
        for owner in sorted(conflicts)
        for path in list_paths(conflicts[owner])
    ]
    if causes:
        raise ApplyConflict(causes)


class _Pruning:
    """Taking out what an applier had and no longer wants: unless somebody else owns it."""

    def __init__(self, scope: WriteScope, merged: JsonObject, last: Owned) -> None:
        self._scope = scope
        self._merged = merged
        self._last = last

    def run(self, owners: Ownership) -> JsonObject:
        """The merged object without what only the last configuration held."""
        version = self._last.api_version
        schema = self._scope.schemas.get(version)
        if schema is None:
            return self._merged
        merged = self._scope.in_version(self._merged, version)
        last = add_parents(schema, self._last.fields)
        pruned = self._give_back(remove_fields(schema, merged, last) or {}, owners)
        pruned = self._scope.in_version(pruned, version)
        gone = add_parents(schema, collect_fields(schema, merged)) - add_parents(schema, collect_fields(schema, pruned))
        # Only what the applier had may go: what nobody owns, such as defaults beside its fields, stays.
        return self._scope.in_version(remove_fields(schema, merged, gone & last) or {}, self._scope.api_version)

    def _give_back(self, pruned: JsonObject, owners: Ownership) -> JsonObject:
        """Put back what any owner has now, version after version: first the one that was pruned in."""
        owned_by_version: dict[str, set[Path]] = {}
        for owned in owners.values():
            owned_by_version.setdefault(owned.api_version, set()).update(owned.fields)
        for version in sorted(owned_by_version, key=lambda each: (each != self._last.api_version, each)):
            schema = self._scope.schemas.get(version)
            if schema is None:
                continue
            merged = self._scope.in_version(self._merged, version)
            left = add_parents(schema, collect_fields(schema, self._scope.in_version(pruned, version)))
            owned_now = add_parents(schema, frozenset(owned_by_version[version]))
            gone = add_parents(schema, collect_fields(schema, merged)) - left - owned_now
            pruned = remove_fields(schema, merged, gone) or {}
        return pruned


def _without_entries(value: JsonObject) -> JsonObject:
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "managedFields" not in metadata:
        return value
    return {**value, "metadata": {name: each for name, each in metadata.items() if name != "managedFields"}}


def _with_entries(value: JsonObject, entries: list[JsonObject]) -> JsonObject:
    bare = _without_entries(value)
    return {**bare, "metadata": {**bare.get("metadata", {}), "managedFields": entries}} if entries else bare
