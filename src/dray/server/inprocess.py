"""The Client port answered by the verbs themselves, in this process: no HTTP, no copies, the same rules.

Objects that are read are those of the server's view, shared and immutable. Whoever holds such a client acts as one
user, whose permissions are asked as they are for any other.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from msgspec.structs import replace

from dray.api.authentication.kinds import TOKEN_REQUEST
from dray.api.codec import ApiList
from dray.api.core.kinds import BINDING
from dray.api.kind import Kind
from dray.api.meta import ApiObject, DeleteOptions, ObjectMeta
from dray.api.policy.kinds import EVICTION
from dray.api.registry import AnyKind
from dray.client.port import (
    ALL,
    ALL_CHANGES,
    PLAIN,
    ListOptions,
    ObjectName,
    Patch,
    PatchType,
    WatchEvent,
    WatchEventType,
    WatchOptions,
    WriteOptions,
    find_parent,
)
from dray.errors import MethodNotAllowed
from dray.server.binding import bind, evict
from dray.server.creating import create
from dray.server.deleting import delete
from dray.server.desk import Answer, Caller, Desk, Job
from dray.server.endpoints import Target
from dray.server.options import ListQuery, WriteQuery, check_list, read_write_query
from dray.server.patching import patch as patch_stored
from dray.server.permission.denial import refuse
from dray.server.ports import AccessAttributes, User
from dray.server.reads import get, list_objects
from dray.server.reviewing import is_review, issue_token, review
from dray.server.updating import update
from dray.server.watching import Bookmark, Sighting, Step, Watch, open_watch
from dray.store.ring import Batch

__all__ = ["InProcessClient"]

K = TypeVar("K", bound=ApiObject)

_END: Final[Mapping[str, str]] = {"k8s.io/initial-events-end": "true"}


class InProcessClient:
    """A `Client` of the server in this process, as one user. `manager` owns the fields it writes."""

    def __init__(self, desk: Desk, user: User, manager: str) -> None:
        self._desk = desk
        self._user = user
        self._manager = manager

    async def get(self, kind: Kind[K], name: ObjectName) -> K:
        """See `Client.get`."""
        target = self._allow("get", kind, name.namespace or None, name.name)
        return self._see(await get(self._desk, target), kind)

    async def list(self, kind: Kind[K], options: ListOptions = ALL) -> ApiList[K]:
        """See `Client.list`."""
        target = self._allow("list", kind, options.namespace)
        asked = ListQuery(
            label_selector=options.label_selector,
            field_selector=options.field_selector,
            resource_version=options.resource_version,
            resource_version_match=options.resource_version_match,
            limit=options.limit,
            continue_token=options.continue_token,
        )
        check_list(asked)
        listing = await list_objects(self._desk, target, asked)
        form = target.endpoint.form
        return ApiList(
            kind=f"{kind.name}List",
            api_version=target.endpoint.api_version,
            metadata=listing.metadata,
            items=tuple(self._desk.view.decode(form, record) for record in listing.records),
        )

    async def watch(self, kind: Kind[K], options: WatchOptions = ALL_CHANGES) -> AsyncGenerator[WatchEvent[K], None]:
        """See `Client.watch`."""
        target = self._allow("watch", kind, options.namespace)
        asked = ListQuery(
            label_selector=options.label_selector,
            field_selector=options.field_selector,
            resource_version=options.resource_version,
            resource_version_match="NotOlderThan" if options.send_initial_events else "",
            is_watch=True,
            allow_bookmarks=options.allow_bookmarks,
            send_initial_events=True if options.send_initial_events else None,
            timeout_seconds=options.timeout_seconds,
        )
        watch = open_watch(self._desk, target, asked, is_urgent=True)
        async for step in watch.steps():
            for event in self._tell(kind, watch, step):
                yield event

    def _tell(self, kind: Kind[K], watch: Watch, step: Step) -> Sequence[WatchEvent[K]]:
        if isinstance(step, Bookmark):
            meta = ObjectMeta(resource_version=str(step.revision), annotations=_END if step.ends_initial_events else {})
            thing = kind.struct(kind=kind.name, api_version=kind.api_version(kind.declared_version), metadata=meta)
            return [WatchEvent(WatchEventType.BOOKMARK, thing)]
        sightings = watch.select(step) if isinstance(step, Batch) else step
        return [WatchEvent(WatchEventType(each.kind), self._look(kind, watch, each)) for each in sightings]

    def _look(self, kind: Kind[K], watch: Watch, sighting: Sighting) -> K:
        form = watch.endpoint.form
        if sighting.revision == sighting.record.revision:
            return cast("K", self._desk.view.decode(form, sighting.record))
        return cast("K", self._desk.view.decode_passed(form, sighting.record, sighting.revision))

    async def create(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        """See `Client.create`."""
        meta = thing.metadata
        query = self._read_options(options, "CreateOptions")
        parent: AnyKind = find_parent(kind, subresource) if subresource else kind
        name = meta.name if subresource else ""
        target = self._allow("create", parent, meta.namespace or None, name, subresource)
        caller = self._caller("create")
        if subresource or kind is cast("AnyKind", BINDING):
            return await self._post(kind, target._replace(name=meta.name), thing, query)
        if is_review(target.endpoint):
            return cast("K", review(self._desk, target, thing, query, caller))
        return self._see(await create(self._desk, target, thing, query, caller), kind)

    async def _post(self, kind: Kind[K], target: Target, thing: Any, options: WriteQuery) -> K:
        caller = self._caller("create")
        posted: AnyKind = kind
        if posted is TOKEN_REQUEST:
            return cast("K", issue_token(self._desk, Job(target, options, caller), thing, kind))
        if posted is EVICTION:
            await evict(self._desk, target, thing, options, caller)
        elif posted is BINDING:
            await bind(self._desk, target, thing, options, caller)
        else:
            raise MethodNotAllowed("the server does not allow this method on the requested resource")
        return cast("K", thing)

    async def update(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        """See `Client.update`."""
        meta = thing.metadata
        query = self._read_options(options, "UpdateOptions")
        target = self._allow("update", kind, meta.namespace or None, meta.name, subresource)
        return self._see(await update(self._desk, target, thing, query, self._caller("update")), kind)

    async def patch(
        self, kind: Kind[K], name: ObjectName, patch: Patch, options: WriteOptions = PLAIN, *, subresource: str = ""
    ) -> K:
        """See `Client.patch`."""
        is_apply = patch.type is PatchType.APPLY
        query = self._read_options(options, "PatchOptions", is_apply=is_apply)
        target = self._allow("patch", kind, name.namespace or None, name.name, subresource)
        answer = await patch_stored(self._desk, target, (patch.type, patch.body), query, self._caller("patch"))
        return self._see(answer, kind)

    async def delete(self, kind: Kind[K], name: ObjectName, options: DeleteOptions | None = None) -> K | None:
        """See `Client.delete`."""
        target = self._allow("delete", kind, name.namespace or None, name.name)
        outcome = await delete(self._desk, target, options or DeleteOptions(), self._caller("delete"))
        return self._see(outcome, kind) if isinstance(outcome, Answer) else None

    def _caller(self, verb: str) -> Caller:
        return Caller(self._user, self._manager, verb=verb)

    def _read_options(self, options: WriteOptions, name: str, *, is_apply: bool = False) -> WriteQuery:
        asked: dict[str, list[str]] = {}
        if options.field_manager or is_apply:
            asked["fieldManager"] = [options.field_manager or self._manager]
        if options.is_dry_run:
            asked["dryRun"] = ["All"]
        if options.force:
            asked["force"] = ["true"]
        return read_write_query(asked, name, is_apply=is_apply)

    def _allow(self, verb: str, kind: AnyKind, namespace: str | None, name: str = "", subresource: str = "") -> Target:
        """Where a request goes. Raises Forbidden if the user may not make it."""
        endpoint = self._desk.routes.find_endpoint(kind)
        act = AccessAttributes(
            verb=verb,
            group=kind.group,
            version=endpoint.version,
            resource=kind.plural,
            subresource=subresource,
            namespace=namespace or "",
            name=name,
        )
        decision = self._desk.permissions.decide(self._user, act)
        if not decision.is_allowed:
            raise refuse(self._user, act, decision)
        return Target(endpoint, namespace, name, subresource)

    def _see(self, answer: Answer, kind: Kind[K]) -> K:
        """The object of an answer: the one in the view, if it is stored."""
        form = answer.endpoint.form
        if answer.record is not None:
            return cast("K", self._desk.view.decode(form, answer.record))
        thing = form.decode(answer.body)
        return cast("K", replace(thing, kind=kind.name))
