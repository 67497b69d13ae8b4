"""The verb create."""

from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from dray.api.meta import ApiObject, ObjectMeta
from dray.api.writing import plan_create, settle_namespace
from dray.errors import AlreadyExists
from dray.server.admission.refusals import AccountPending
from dray.server.admission.request import Act, AnyRequest
from dray.server.desk import Answer, Caller, Desk, Job
from dray.server.encoding import encode_put
from dray.server.endpoints import Target
from dray.server.options import WriteQuery
from dray.server.ownership import own_creation
from dray.server.repetition import drop_repeated_owners
from dray.store.port import PreconditionFailed, Put

__all__ = ["create", "create_applied", "without_version"]

_MAX_NAMES: Final = 8
"""Generated names that are tried before giving up: with 27⁵ suffixes, more would mean that something else is wrong."""

_STEM_CHARACTERS: Final = 58
"""What is kept of a prefix: with the suffix it fits into a DNS label."""

_ACCOUNT_LOOKS: Final = 10
_ACCOUNT_WAIT_SECONDS: Final = 0.1
"""A fresh namespace gets its service account within a second or two, or something is wrong with the controllers."""


async def create(desk: Desk, target: Target, thing: ApiObject, options: WriteQuery, caller: Caller) -> Answer:
    """Store a new object. Raises AlreadyExists, Invalid, Forbidden, NotFound for its namespace."""
    return await _create(desk, Job(target, options, caller), _Draft(thing, is_owned=False))


async def create_applied(desk: Desk, target: Target, thing: ApiObject, options: WriteQuery, caller: Caller) -> Answer:
    """The same for an object whose managedFields are complete, because it is applied."""
    return await _create(desk, Job(target, options, caller), _Draft(thing, is_owned=True))


class _Draft(NamedTuple):
    thing: ApiObject
    is_owned: bool


async def _create(desk: Desk, job: Job, draft: _Draft) -> Answer:
    thing = settle_namespace(job.target.endpoint.kind, draft.thing, job.target.namespace or "")
    thing = drop_repeated_owners(thing, job.caller.warnings)
    is_named = bool(thing.metadata.name) or not thing.metadata.generate_name
    told = len(job.caller.warnings)
    for attempt in range(1, _MAX_NAMES + 1):
        try:
            return await _create_once(desk, job, _Draft(thing, draft.is_owned))
        except AlreadyExists:
            del job.caller.warnings[told:]
            if is_named or attempt == _MAX_NAMES:
                raise
    raise AssertionError("unreachable")


async def _create_once(desk: Desk, job: Job, draft: _Draft) -> Answer:
    target, options, caller = job
    endpoint, now = target.endpoint, desk.now()
    kind = endpoint.kind
    meta = draft.thing.metadata
    name = meta.name
    if not name and meta.generate_name:
        name = meta.generate_name[:_STEM_CHARACTERS] + desk.entropy.suffix()
    new = _begin(draft.thing, replace(meta, uid=desk.entropy.uid(), name=name))
    manager = options.field_manager or caller.manager
    told = len(caller.warnings)
    while True:
        del caller.warnings[told:]
        # Whoever creates does not own what admission adds.
        draft_thing = kind.default(new, now)
        owned = draft_thing if draft.is_owned else own_creation(endpoint, draft_thing, manager, now)
        request = desk.request(job, Act.CREATE, new=owned)
        admitted: ApiObject = await _admit(desk, request, caller)
        plan = endpoint.settle_reference(plan_create(kind, admitted, desk.context(caller, now)))
        result = plan.require_valid()
        caller.warnings += plan.warnings
        side_writes = desk.approve(request.with_new(result), caller)
        key = endpoint.form.key(result.metadata.namespace, result.metadata.name)
        put = encode_put(endpoint.form, result, key)
        if desk.view.record(key) is not None:
            raise _exists(target, name)
        if options.is_dry_run:
            return Answer(endpoint, without_version(put), 201)
        try:
            record = await desk.store_object(endpoint.form, put, result, side_writes)
        except PreconditionFailed as fault:
            if fault.key == key:
                raise _exists(target, name) from fault
            continue
        return Answer(endpoint, record.body, 201, record)


def _begin(thing: ApiObject, meta: ObjectMeta) -> ApiObject:
    """The object without what only stored ones have, and so nobody owns."""
    return replace(thing, metadata=replace(meta, deletion_timestamp=None, deletion_grace_period_seconds=None))


async def _admit(desk: Desk, request: AnyRequest, caller: Caller) -> Any:
    """As admission completes it. A service account that a fresh namespace is about to get is waited for."""
    for _ in range(_ACCOUNT_LOOKS):
        try:
            return desk.admit(request, caller)
        except AccountPending:
            await desk.clock.sleep(desk.entropy.jitter(_ACCOUNT_WAIT_SECONDS, 1.0))
    return desk.admit(request, caller)


def without_version(put: Put) -> bytes:
    """The body of a write that is not made: without a resourceVersion."""
    assert put.stamp_at is not None
    head, tail = put.body[: put.stamp_at], put.body[put.stamp_at :]
    mark = b'"resourceVersion":"'
    start = head.rindex(mark)
    rest = tail[1:]
    if head[start - 1 : start] == b",":
        return head[: start - 1] + rest
    return head[:start] + rest.removeprefix(b",")


def _exists(target: Target, name: str) -> AlreadyExists:
    about = target.endpoint.ref(target.namespace or "", name)
    return AlreadyExists(f'{about.qualified_resource} "{name}" already exists', about)
