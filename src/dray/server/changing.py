"""The verb update, and the part of it that patches share.

A change is judged against the state it was made from and written only if that is still the stored one. Who names a
resourceVersion gets a conflict if it is not; everybody else is tried again on the newest state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from msgspec.structs import replace

from dray.api.checks import CheckContext
from dray.api.kind import Kind
from dray.api.meta import ApiObject, ManagedFieldsEntry
from dray.api.writing import (
    PlannedWrite,
    parse_version,
    plan_status_update,
    plan_update,
    settle_resource_version,
)
from dray.errors import Conflict
from dray.merge.apply import Writer
from dray.server.admission.request import Act
from dray.server.desk import Answer, Caller, Desk, Job
from dray.server.encoding import encode_put
from dray.server.endpoints import Target
from dray.server.options import WriteQuery
from dray.server.ownership import own_update
from dray.store.port import Delete, PreconditionFailed, Record, Write

__all__ = ["STATUS", "Change", "Plan", "change_stored", "conflict"]

STATUS: Final = "status"

Plan = Callable[[Kind[Any], Any, Any, CheckContext], PlannedWrite[Any]]
"""`plan(kind, new, old, context)`: what a write would store, or every reason why it may not."""


@dataclass(frozen=True, slots=True)
class Change:
    """One way to change a stored object: what it becomes, and how that is planned."""

    make: Callable[[Record, ApiObject], ApiObject]
    """The new object, in the place and with the version it claims, from the stored one. May be called again."""
    verb: str
    plan: Plan | None = None
    """How it is checked, where that is neither a whole update nor one of the status."""
    tracks: bool = True
    """Whether the change of owners still has to be worked out."""
    is_admitted: bool = False
    """Whether admission has looked at what was posted, which is not the object."""


async def change_stored(desk: Desk, target: Target, change: Change, options: WriteQuery, caller: Caller) -> Answer:
    """Make a change of a stored object; see `Change`."""
    told = len(caller.warnings)
    while True:
        del caller.warnings[told:]
        record, old = desk.find(target)
        new = change.make(record, old)
        is_pinned = change.verb != "patch" and parse_version(new.metadata.resource_version or "0") > 0
        if change.verb == "update":
            _require_same_uid(target, new, old)
        elif change.verb == "patch" and not new.metadata.resource_version:
            # A patch is made from the stored object, and made anew if it comes too late.
            new = replace(new, metadata=replace(new.metadata, resource_version=old.metadata.resource_version))
        new = settle_resource_version(target.endpoint.kind, target.endpoint.version, new, old)
        try:
            return await _change_once(desk, Job(target, options, caller), _Step(change, record, old, new))
        except PreconditionFailed as fault:
            if fault.key == record.key and (is_pinned and fault.current is not None):
                raise conflict(target) from fault


@dataclass(frozen=True, slots=True)
class _Step:
    change: Change
    record: Record
    old: ApiObject
    new: ApiObject


async def _change_once(desk: Desk, job: Job, step: _Step) -> Answer:
    target, options, caller = job
    endpoint, now, old = target.endpoint, desk.now(), step.old
    kind = endpoint.kind
    new = step.new
    if step.change.tracks:
        writer = Writer(options.field_manager or caller.manager, str(now))
        new = own_update(endpoint, target.subresource, old, kind.default(new, now), writer)
    request = desk.request(job, Act.UPDATE, new=new, old=old)
    if not step.change.is_admitted:
        new = desk.admit(request, caller)
    context = desk.context(caller, now)
    if step.change.plan is not None:
        planned = step.change.plan(kind, new, old, context)
    else:
        planned = (plan_status_update if target.subresource == STATUS else plan_update)(kind, new, old, context)
    result = endpoint.settle_reference(planned).require_valid()
    caller.warnings += planned.warnings
    side_writes = desk.approve(request.with_new(result), caller)
    result = _keep_times(result, old)
    if _is_finished(result, old):
        return await _finish(desk, job, step, result, side_writes)
    put = encode_put(endpoint.form, result, step.record.key, step.record.revision)
    if _is_same(put.body, step.record):
        return Answer(endpoint, step.record.body, 200, step.record)
    if options.is_dry_run:
        assert put.stamp_at is not None
        revision = str(step.record.revision).encode()
        return Answer(endpoint, put.body[: put.stamp_at] + revision + put.body[put.stamp_at :])
    record = await desk.store_object(endpoint.form, put, result, side_writes)
    return Answer(endpoint, record.body, 200, record)


async def _finish(desk: Desk, job: Job, step: _Step, result: ApiObject, side_writes: list[Write]) -> Answer:
    """The last finalizer is gone: so is the object. The answer shows it with the version it had."""
    if not job.options.is_dry_run:
        await desk.store.commit([Delete(step.record.key, step.record.revision), *side_writes])
    version = str(step.record.revision)
    shown = replace(result, metadata=replace(result.metadata, resource_version=version))
    endpoint = job.target.endpoint
    return Answer(endpoint, endpoint.form.encode(shown))


def _is_finished(new: ApiObject, old: ApiObject) -> bool:
    """Whether nothing holds an object any more that is being deleted."""
    meta = new.metadata
    spec = getattr(new, "spec", None)
    held = bool(meta.finalizers) or bool(getattr(spec, "finalizers", ()))
    return old.metadata.deletion_timestamp is not None and not held and not meta.deletion_grace_period_seconds


def _is_same(body: bytes, record: Record) -> bool:
    """Whether a body without its version is what is stored."""
    at = record.stamp_at
    if at is None:
        return False
    return body == record.body[:at] + record.body[at + len(str(record.revision)) :]


def _keep_times(new: ApiObject, old: ApiObject) -> ApiObject:
    """Keep the entries of owners as they were where nothing but their times differs, so that nothing is written."""
    fresh, stored = new.metadata.managed_fields, old.metadata.managed_fields
    if fresh == stored or _timeless(fresh) != _timeless(stored):
        return new
    kept = replace(new, metadata=replace(new.metadata, managed_fields=stored))
    return (
        kept
        if replace(kept, metadata=replace(kept.metadata, resource_version=""))
        == replace(old, metadata=replace(old.metadata, resource_version=""))
        else new
    )


def _timeless(entries: tuple[ManagedFieldsEntry, ...]) -> frozenset[ManagedFieldsEntry | tuple[object, ...]]:
    return frozenset(
        (each.manager, each.operation, each.api_version, each.subresource, bytes(each.fields_v1)) for each in entries
    )


def _require_same_uid(target: Target, new: ApiObject, old: ApiObject) -> None:
    """An update that names a uid is meant for that object alone."""
    named, stored = new.metadata.uid, old.metadata.uid
    if named in ("", stored):
        return
    about = target.ref
    key = "/".join(part for part in (about.resource, about.namespace, about.name) if part)
    raise Conflict(
        f'Operation cannot be fulfilled on {about.qualified_resource} "{about.name}": StorageError: invalid object, '
        f"Code: 4, Key: /registry/{key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: "
        f"UID in precondition: {named}, UID in object meta: {stored}",
        about,
    )


def conflict(target: Target) -> Conflict:
    """The object is not any more what the caller thinks it is."""
    about = target.ref
    return Conflict(
        f'Operation cannot be fulfilled on {about.qualified_resource} "{about.name}": the object has been modified; '
        "please apply your changes to the latest version and try again",
        about,
    )
