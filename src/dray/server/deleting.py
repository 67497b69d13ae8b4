"""The verbs delete and deletecollection.

An object goes at once unless finalizers hold it or it is a pod that runs somewhere: then it is marked, and whoever
removes the last hold makes it go.
"""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from dray.api.core.kinds import NAMESPACE, POD
from dray.api.core.namespace import Namespace
from dray.api.core.pod import Pod
from dray.api.meta import ApiObject, DeleteOptions, ObjectMeta, Status, StatusDetails
from dray.errors import Conflict, NotFound, ObjectRef
from dray.server.admission.request import Act
from dray.server.desk import Answer, Caller, Desk, Job
from dray.server.encoding import encode_put
from dray.server.endpoints import Endpoint, Target
from dray.server.options import WriteQuery, check_delete_options
from dray.server.reads import Listing
from dray.store.port import Delete, PreconditionFailed, Record, Write
from dray.values.times import Time

__all__ = ["delete", "delete_collection", "delete_success"]

_ORPHAN: Final = "orphan"
_FOREGROUND: Final = "foregroundDeletion"
_FINISHED: Final = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True)
class _Fate:
    """What becomes of an object that is to be deleted: it goes, or stays for a while as `thing`."""

    thing: ApiObject
    goes: bool


async def delete(desk: Desk, target: Target, options: DeleteOptions, caller: Caller) -> Answer | Status:
    """Delete an object, or mark it as going. Raises NotFound, Conflict for preconditions, Invalid for bad options."""
    check_delete_options(options)
    while True:
        record, old = desk.find(target)
        _require_preconditions(target, options, old)
        if options.ignore_store_read_error_with_cluster_breaking_potential:
            raise _refuse_unsafe(target)
        try:
            return await _delete_once(desk, target, (record, old), options, caller)
        except PreconditionFailed:
            continue


async def delete_collection(desk: Desk, listing: Listing, options: DeleteOptions, caller: Caller) -> None:
    """Delete every object of a list; those that are gone already are no matter."""
    check_delete_options(options)
    for record in listing.records:
        namespace = record.key.namespace or None
        target = Target(listing.endpoint, namespace, record.key.name, "")
        try:
            await delete(desk, target, options, caller)
        except NotFound:
            continue


async def _delete_once(
    desk: Desk, target: Target, stored: tuple[Record, ApiObject], options: DeleteOptions, caller: Caller
) -> Answer | Status:
    record, old = stored
    now = desk.now()
    is_dry_run = bool(options.dry_run)
    fate = _decide_fate(target, old, options, now)
    request = desk.request(Job(target, WriteQuery(is_dry_run=is_dry_run), caller), Act.DELETE, old=old)
    desk.admit(request, caller)
    side_writes = desk.approve(request, caller)
    if fate.goes:
        return await _remove(desk, target, fate, [Delete(record.key, record.revision), *side_writes], is_dry_run)
    if fate.thing is old:
        return Answer(target.endpoint, record.body, 200, record)
    put = encode_put(target.endpoint.form, fate.thing, record.key, record.revision)
    if is_dry_run:
        shown = replace(fate.thing, metadata=replace(fate.thing.metadata, resource_version=str(record.revision)))
        return Answer(target.endpoint, target.endpoint.form.encode(shown))
    written = await desk.store_object(target.endpoint.form, put, fate.thing, side_writes)
    return Answer(target.endpoint, written.body, 200, written)


async def _remove(desk: Desk, target: Target, fate: _Fate, writes: list[Write], is_dry_run: bool) -> Answer | Status:
    endpoint, thing = target.endpoint, fate.thing
    if not is_dry_run:
        changes = await desk.store.commit(writes)
        if thing.metadata.deletion_timestamp is not None:
            thing = replace(thing, metadata=replace(thing.metadata, resource_version=str(changes[0].revision)))
    served = endpoint.kind.find_version(endpoint.version)
    if served is not None and served.delete_returns_object:
        return Answer(endpoint, endpoint.form.encode(thing))
    return delete_success(endpoint, thing)


def delete_success(endpoint: Endpoint, thing: ApiObject) -> Status:
    """What is answered for an object that is gone, where the object itself is not."""
    about = StatusDetails(
        name=thing.metadata.name, group=endpoint.kind.group, kind=endpoint.kind.plural, uid=thing.metadata.uid
    )
    return Status(status="Success", details=about)


def _decide_fate(target: Target, old: ApiObject, options: DeleteOptions, now: Time) -> _Fate:
    finalizers = _finalizers_after(old.metadata.finalizers, options)
    grace = _grace_seconds(old, options)
    if target.endpoint.kind is NAMESPACE:
        return _end_namespace(old, finalizers, now)
    meta = old.metadata
    is_held = bool(finalizers) or grace > 0
    if not is_held:
        if target.endpoint.kind is POD:
            return _Fate(_marked(old, finalizers, grace, now), goes=True)
        return _Fate(old, goes=True)
    if meta.deletion_timestamp is None:
        return _Fate(_marked(old, finalizers, grace, now), goes=False)
    remaining = meta.deletion_grace_period_seconds or 0
    if grace < remaining:
        began = meta.deletion_timestamp.plus_seconds(-remaining)
        changed = replace(
            meta,
            deletion_timestamp=began.plus_seconds(grace),
            deletion_grace_period_seconds=grace,
            finalizers=finalizers,
        )
        return _Fate(replace(old, metadata=changed), goes=False)
    if finalizers != meta.finalizers:
        return _Fate(replace(old, metadata=replace(meta, finalizers=finalizers)), goes=False)
    return _Fate(old, goes=False)


def _marked(old: ApiObject, finalizers: tuple[str, ...], grace: int, now: Time) -> ApiObject:
    meta = old.metadata
    began = now
    if meta.deletion_timestamp is not None:
        began = meta.deletion_timestamp.plus_seconds(-(meta.deletion_grace_period_seconds or 0))
    generation = meta.generation
    if generation > 0 and meta.deletion_timestamp is None:
        generation += 1
    changed: ObjectMeta = replace(
        meta,
        deletion_timestamp=began.plus_seconds(grace),
        deletion_grace_period_seconds=grace,
        finalizers=finalizers,
        generation=generation,
    )
    return replace(old, metadata=changed)


def _end_namespace(old: ApiObject, finalizers: tuple[str, ...], now: Time) -> _Fate:
    """A namespace waits for its content, which is `spec.finalizers`."""
    assert isinstance(old, Namespace)
    if not old.spec.finalizers and not finalizers:
        return _Fate(old, goes=True)
    if old.metadata.deletion_timestamp is not None:
        return _Fate(old, goes=False)
    meta = replace(old.metadata, deletion_timestamp=now, finalizers=finalizers)
    return _Fate(replace(old, metadata=meta, status=replace(old.status, phase="Terminating")), goes=False)


def _finalizers_after(finalizers: tuple[str, ...], options: DeleteOptions) -> tuple[str, ...]:
    """The finalizers with the one that the propagation asks for, and without those of another."""
    policy = options.propagation_policy
    if policy is None and options.orphan_dependents is not None:
        policy = "Orphan" if options.orphan_dependents else "Background"
    if policy is None:
        return finalizers
    kept = tuple(each for each in finalizers if each not in (_ORPHAN, _FOREGROUND))
    wanted = {"Foreground": _FOREGROUND, "Orphan": _ORPHAN}.get(policy)
    if wanted is None:
        return kept
    if wanted in finalizers and len(kept) == len(finalizers) - 1:
        return finalizers
    return (*kept, wanted)


def _grace_seconds(old: ApiObject, options: DeleteOptions) -> int:
    """Seconds that the object is left to end in: none, but for pods that run somewhere."""
    if not isinstance(old, Pod):
        return 0
    if not old.spec.node_name or old.status.phase in _FINISHED:
        return 0
    grace = options.grace_period_seconds
    if grace is None:
        grace = old.spec.termination_grace_period_seconds
    if grace is None:
        return 0
    return 1 if grace < 0 else grace


def _refuse_unsafe(target: Target) -> Conflict:
    """What cannot be read may be deleted unread; here everything can."""
    about = target.ref
    key = "/".join(part for part in (about.resource, about.namespace, about.name) if part)
    return Conflict(
        f'Operation cannot be fulfilled on {about.qualified_resource} "{about.name}": StorageError: invalid object, '
        f"Code: 4, Key: /registry/{key}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed "
        "because the object is decodable from storage",
        about,
    )


def _require_preconditions(target: Target, options: DeleteOptions, old: ApiObject) -> None:
    wanted, meta = options.preconditions, old.metadata
    if wanted is None:
        return
    why = ""
    if wanted.uid is not None and wanted.uid != meta.uid:
        why = (
            f"the UID in the precondition ({wanted.uid}) does not match the UID in record ({meta.uid}). "
            "The object might have been deleted and then recreated"
        )
    elif wanted.resource_version is not None and wanted.resource_version != meta.resource_version:
        why = (
            f"the ResourceVersion in the precondition ({wanted.resource_version}) does not match the ResourceVersion "
            f"in record ({meta.resource_version}). The object might have been modified"
        )
    if why:
        kind = target.endpoint.kind
        # The API server names the kind here where it otherwise names the resource.
        about = ObjectRef(kind.group, kind.name, kind.name, target.namespace or "", target.name)
        raise Conflict(f'Operation cannot be fulfilled on {about.qualified_kind} "{target.name}": {why}', about)
