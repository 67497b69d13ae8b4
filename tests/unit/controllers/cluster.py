"""A small API server in memory, for controllers: the client port with the rules that controllers live by.

Versions and conflicts, finalizers, deletion by each propagation policy, preconditions, namespaces that refuse content,
and watches that tell every change in order. No checks, no selectors, no history that is ever forgotten.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from dray.api.codec import ApiList, decode, encode
from dray.api.core.kinds import NAMESPACE
from dray.api.core.namespace import Namespace
from dray.api.kind import Kind
from dray.api.meta import ApiObject, DeleteOptions, ListMeta, ObjectMeta
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
)
from dray.effects.clock import Clock
from dray.errors import AlreadyExists, Conflict, Forbidden, NotFound
from dray.merge.mergepatch import apply_merge_patch

K = TypeVar("K", bound=ApiObject)
Key = tuple[AnyKind, str, str]
POLICY_FINALIZERS = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}


class Cluster:
    """Objects, and everything that ever happened to them."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._things: dict[Key, Any] = {}
        self._history: list[tuple[Key, WatchEventType, Any]] = []
        self._news = asyncio.Event()
        self._uids = itertools.count(1)
        self.before_call: Callable[[str], None] = lambda verb: None
        """Called with the verb of each request; may raise what the request then fails with."""

    def find(self, kind: Kind[K], name: str, namespace: str = "ml") -> K | None:
        found: K | None = self._things.get((kind, namespace if kind.is_namespaced else "", name))
        return found

    def names(self, kind: AnyKind) -> list[str]:
        return sorted(key[2] for key in self._things if key[0] is kind)

    def put(self, kind: Kind[K], thing: K, uid: str = "") -> K:
        """Store an object as it is, but for its version and uid."""
        meta = thing.metadata
        namespace = (meta.namespace or "ml") if kind.is_namespaced else ""
        uid = uid or meta.uid or f"uid-{next(self._uids)}"
        thing = replace(thing, metadata=replace(meta, namespace=namespace, uid=uid))
        return self._store(kind, thing)

    def _store(self, kind: Kind[K], thing: K) -> K:
        meta = thing.metadata
        key = (kind, meta.namespace, meta.name)
        type_ = WatchEventType.MODIFIED if key in self._things else WatchEventType.ADDED
        thing = replace(thing, metadata=replace(meta, resource_version=str(len(self._history) + 1)))
        self._things[key] = thing
        self._record(key, type_, thing)
        return thing

    def _record(self, key: Key, type_: WatchEventType, thing: ApiObject) -> None:
        self._history.append((key, type_, thing))
        self._news.set()

    async def _begin(self, verb: str) -> None:
        await asyncio.sleep(0)
        self.before_call(verb)

    async def get(self, kind: Kind[K], name: ObjectName) -> K:
        await self._begin("get")
        return self._get(kind, name)

    def _get(self, kind: Kind[K], name: ObjectName) -> K:
        found: K | None = self._things.get((kind, name.namespace, name.name))
        if found is None:
            raise NotFound(f'{kind.plural} "{name.name}" not found')
        return found

    async def list(self, kind: Kind[K], options: ListOptions = ALL) -> ApiList[K]:
        await self._begin("list")
        keys = sorted(key[1:] for key in self._things if key[0] is kind and options.namespace in (None, key[1]))
        items = tuple(self._things[kind, *key] for key in keys)
        return ApiList(items=items, metadata=ListMeta(resource_version=str(len(self._history))))

    async def watch(self, kind: Kind[K], options: WatchOptions = ALL_CHANGES) -> AsyncGenerator[WatchEvent[K], None]:
        await self._begin("watch")
        position = int(options.resource_version or 0)
        if options.send_initial_events or not position:
            position = len(self._history)
            for thing in [self._things[key] for key in self._things if key[0] is kind]:
                yield WatchEvent(WatchEventType.ADDED, thing)
            if options.send_initial_events:
                marks = {"k8s.io/initial-events-end": "true"}
                meta = ObjectMeta(resource_version=str(position), annotations=marks)
                yield WatchEvent(WatchEventType.BOOKMARK, kind.struct(metadata=meta))
        while True:
            while position < len(self._history):
                key, type_, thing = self._history[position]
                position += 1
                if key[0] is kind:
                    yield WatchEvent(type_, thing)
            self._news.clear()
            await self._news.wait()

    async def create(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        await self._begin("create")
        meta = thing.metadata
        if kind.is_namespaced:
            namespace = self._get(NAMESPACE, ObjectName(meta.namespace))
            if namespace.metadata.deletion_timestamp is not None:
                raise Forbidden(f"namespace {meta.namespace} is being terminated")
        if (kind, meta.namespace, meta.name) in self._things:
            raise AlreadyExists(f'{kind.plural} "{meta.name}" already exists')
        uid = f"uid-{next(self._uids)}"
        now = self._clock.now().to_time()
        thing = kind.prepare_create(replace(thing, metadata=replace(meta, uid=uid, creation_timestamp=now)))
        return self._store(kind, thing)

    async def update(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        await self._begin("update")
        return self._update(kind, thing, subresource)

    def _update(self, kind: Kind[K], thing: K, subresource: str) -> K:
        meta = thing.metadata
        old = self._get(kind, ObjectName(meta.name, meta.namespace))
        if meta.uid != old.metadata.uid or meta.resource_version != old.metadata.resource_version:
            raise Conflict(f'Operation cannot be fulfilled on {kind.plural} "{meta.name}"')
        now = self._clock.now().to_time()
        if subresource == "status":
            thing = kind.prepare_status(thing, old, now)
        elif not subresource:
            thing = kind.prepare_update(thing, old, now)
        thing = replace(thing, metadata=replace(thing.metadata, deletion_timestamp=old.metadata.deletion_timestamp))
        return old if thing == old else self._settle(kind, thing)

    def _settle(self, kind: Kind[K], thing: K) -> K:
        """Store an object, or remove it if it was only held by what it has no more."""
        meta = thing.metadata
        is_held = bool(meta.finalizers) or (isinstance(thing, Namespace) and bool(thing.spec.finalizers))
        if meta.deletion_timestamp is None or is_held:
            return self._store(kind, thing)
        key = (kind, meta.namespace, meta.name)
        del self._things[key]
        gone = replace(thing, metadata=replace(meta, resource_version=str(len(self._history) + 1)))
        self._record(key, WatchEventType.DELETED, gone)
        return gone

    async def patch(
        self,
        kind: Kind[K],
        name: ObjectName,
        patch: Patch,
        options: WriteOptions = PLAIN,
        *,
        subresource: str = "",
    ) -> K:
        await self._begin("patch")
        assert patch.type is PatchType.MERGE
        stored = json.loads(encode(kind, self._get(kind, name), kind.declared_version))
        merged = apply_merge_patch(stored, json.loads(patch.body))
        new = decode(kind, kind.declared_version, msgspec.json.encode(merged))
        return self._update(kind, new, subresource)

    async def delete(self, kind: Kind[K], name: ObjectName, options: DeleteOptions | None = None) -> K | None:
        await self._begin("delete")
        thing = self._get(kind, name)
        meta = thing.metadata
        options = options or DeleteOptions()
        wanted = options.preconditions
        if wanted is not None and (wanted.uid or meta.uid, wanted.resource_version or meta.resource_version) != (
            meta.uid,
            meta.resource_version,
        ):
            raise Conflict(f'Operation cannot be fulfilled on {kind.name} "{meta.name}"')
        if meta.deletion_timestamp is not None:
            return thing
        kept = tuple(each for each in meta.finalizers if each not in POLICY_FINALIZERS.values())
        added = POLICY_FINALIZERS.get(options.propagation_policy or "")
        meta = replace(
            meta,
            finalizers=(*kept, added) if added else kept,
            deletion_timestamp=self._clock.now().to_time(),
            deletion_grace_period_seconds=0,
        )
        thing = replace(thing, metadata=meta)
        if isinstance(thing, Namespace):
            thing = replace(thing, status=replace(thing.status, phase="Terminating"))
        return self._settle(kind, thing)
