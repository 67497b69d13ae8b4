"""Owner garbage collection: what belongs to nothing any more is deleted, in the background, in the foreground, or kept.

The mirrors only say what is worth a look. Before anything is deleted, the object and each of its owners are read from
the server, and the deletion holds for exactly the state that was read.
"""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final, NamedTuple

from dray.api.meta import ApiObject, DeleteOptions, ObjectMeta, OwnerReference, Preconditions
from dray.api.registry import AnyKind, Registry
from dray.client.port import Client, ObjectName
from dray.controllers.mirrors import Listener, Mirrors
from dray.controllers.ownership import (
    FOREGROUND,
    ORPHAN,
    Fate,
    FateKind,
    OwnerState,
    decide_fate,
    find_blockers,
    keep_references,
    unblock_references,
)
from dray.controllers.runtime import Controller, Effects
from dray.controllers.writing import find_stored, patch_metadata
from dray.errors import NotFound

__all__ = ["GarbageCollector", "Item"]

_WORKERS: Final = 16
"""Deletions of one owner's many dependents overlap: the server makes them durable in one go."""

_MOST_GONE: Final = 10_000
"""Owners that are remembered to be gone. Who belongs to one that is not is looked at by asking."""


class Item(NamedTuple):
    """One object of one kind."""

    kind: AnyKind
    namespace: str
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in (self.kind.plural, self.namespace, self.name) if part)


class GarbageCollector:
    """Knows who belongs to whom, and lets nobody stay behind alone."""

    def __init__(self, client: Client, mirrors: Mirrors, registry: Registry, effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self._registry = registry
        self._dependents: dict[str, set[Item]] = {}
        self._items: dict[str, Item] = {}
        self._gone: OrderedDict[str, None] = OrderedDict()
        """Uids that were heard to go. They never come back, so nobody need be asked."""
        self.controller = Controller("garbage collector", self.reconcile, effects, workers=_WORKERS)
        for kind in mirrors.kinds:
            mirrors.listen(kind, self._listener_of(kind))

    def _listener_of(self, kind: AnyKind) -> Listener[ApiObject]:
        return lambda old, new: self._note(kind, old, new)

    def _note(self, kind: AnyKind, old: ApiObject | None, new: ApiObject | None) -> None:
        """Keep the graph, and look at what a change may have left behind."""
        thing = new or old
        assert thing is not None, "a change has something before or after it"
        meta = thing.metadata
        item = Item(kind, meta.namespace, meta.name)
        for owner in old.metadata.owner_references if old is not None else ():
            self._dependents.get(owner.uid, set()).discard(item)
        if new is None:
            self._forget(meta)
            return
        self._items[meta.uid] = item
        for owner in meta.owner_references:
            self._dependents.setdefault(owner.uid, set()).add(item)
        if (meta.owner_references or _waits(meta)) and not self._is_surely_kept(item):
            self.controller.wake(item)
        if old is not None:
            self._wake_owners(old.metadata)

    def _forget(self, meta: ObjectMeta) -> None:
        self._items.pop(meta.uid, None)
        self._gone[meta.uid] = None
        if len(self._gone) > _MOST_GONE:
            self._gone.popitem(last=False)
        for dependent in self._dependents.pop(meta.uid, ()):
            self.controller.wake(dependent)
        self._wake_owners(meta)

    def _wake_owners(self, meta: ObjectMeta) -> None:
        """Owners that wait for this dependent may go now."""
        for owner in meta.owner_references:
            item = self._items.get(owner.uid)
            known = item and self._mirrors.find(item.kind, item.namespace, item.name)
            if item is not None and known is not None and _waits(known.metadata):
                self.controller.wake(item)

    async def reconcile(self, item: Item) -> None:
        """Do what is due to one object."""
        if self._is_surely_kept(item):
            return
        thing = await find_stored(self._client, item.kind, ObjectName(item.name, item.namespace))
        if thing is None:
            return
        meta = thing.metadata
        if meta.deletion_timestamp is not None:
            if ORPHAN in meta.finalizers:
                await self._release_dependents(item, thing)
            elif FOREGROUND in meta.finalizers:
                await self._await_dependents(item, thing)
            return
        if meta.owner_references:
            await self._judge(item, thing)

    def _is_surely_kept(self, item: Item) -> bool:
        """Whether nothing is to be done to an object as last heard of: news of it and of its owners wake it again.

        It and all of its owners are there and stay; or it is going already, and waits for none of its dependents.
        """
        known = self._mirrors.find(item.kind, item.namespace, item.name)
        if known is None:
            return False
        if known.metadata.deletion_timestamp is not None:
            return not _waits(known.metadata)
        return all(self._is_surely_there(owner, item) for owner in known.metadata.owner_references)

    def _is_surely_there(self, owner: OwnerReference, item: Item) -> bool:
        known = self._items.get(owner.uid)
        if known is None or known.name != owner.name or known.namespace not in ("", item.namespace):
            return False
        if self._registry.find_kind(owner.api_version, owner.kind) is not known.kind:
            return False
        mirrored = self._mirrors.find(known.kind, known.namespace, known.name)
        return mirrored is not None and mirrored.metadata.uid == owner.uid and not _waits(mirrored.metadata)

    async def _judge(self, item: Item, thing: ApiObject) -> None:
        meta = thing.metadata
        states = {owner.uid: await self._get_state(owner, item) for owner in meta.owner_references}
        dependents = [dependent for _, dependent in self._list_dependents(meta.uid)]
        fate = decide_fate(meta, states, has_dependents=bool(dependents))
        if fate.kind is FateKind.DETACH:
            await patch_metadata(self._client, item.kind, thing, {"ownerReferences": fate.references})
        elif fate.kind is FateKind.DELETE:
            # Owners and dependents that wait may be a circle, in which everyone would wait for ever.
            may_be_circle = fate.propagation_policy == "Foreground" and any(map(_waits, dependents))
            unblocked = unblock_references(meta)
            if may_be_circle and unblocked != meta.owner_references:
                await patch_metadata(self._client, item.kind, thing, {"ownerReferences": unblocked})
            else:
                await self._delete(item, meta, fate)

    async def _get_state(self, owner: OwnerReference, item: Item) -> OwnerState:
        """What the server says of an owner now, unless it was heard to go. What cannot be said counts as alive."""
        if owner.uid in self._gone:
            return OwnerState.ABSENT
        kind = self._registry.find_kind(owner.api_version, owner.kind)
        if kind is None or (kind.is_namespaced and not item.namespace):
            return OwnerState.ALIVE
        namespace = item.namespace if kind.is_namespaced else ""
        found = await find_stored(self._client, kind, ObjectName(owner.name, namespace))
        if found is None or found.metadata.uid != owner.uid:
            return OwnerState.ABSENT
        meta = found.metadata
        is_waiting = meta.deletion_timestamp is not None and FOREGROUND in meta.finalizers
        return OwnerState.WAITING if is_waiting else OwnerState.ALIVE

    async def _delete(self, item: Item, meta: ObjectMeta, fate: Fate) -> None:
        options = DeleteOptions(
            propagation_policy=fate.propagation_policy,
            preconditions=Preconditions(uid=meta.uid, resource_version=meta.resource_version),
        )
        try:
            await self._client.delete(item.kind, ObjectName(item.name, item.namespace), options)
        except NotFound:
            return

    async def _release_dependents(self, item: Item, owner: ApiObject) -> None:
        """Take the owner out of every dependent, then let it go."""
        uid = owner.metadata.uid
        for each, _ in list(self._list_dependents(uid)):
            dependent = await find_stored(self._client, each.kind, ObjectName(each.name, each.namespace))
            if dependent is not None and any(one.uid == uid for one in dependent.metadata.owner_references):
                kept = keep_references(dependent.metadata, uid)
                await patch_metadata(self._client, each.kind, dependent, {"ownerReferences": kept})
        await self._remove_finalizer(item, owner, ORPHAN)

    async def _await_dependents(self, item: Item, owner: ApiObject) -> None:
        """Have the dependents that block the owner deleted; let it go when there are none."""
        known = {meta.uid: each for each, meta in self._list_dependents(owner.metadata.uid)}
        metas = [meta for _, meta in self._list_dependents(owner.metadata.uid)]
        blockers = find_blockers(owner.metadata.uid, metas)
        for meta in blockers:
            self.controller.wake(known[meta.uid])
        if not blockers:
            await self._remove_finalizer(item, owner, FOREGROUND)

    def _list_dependents(self, uid: str) -> Iterator[tuple[Item, ObjectMeta]]:
        """Dependents as the mirrors show them, in a fixed order."""
        for item in sorted(self._dependents.get(uid, ()), key=str):
            found = self._mirrors.find(item.kind, item.namespace, item.name)
            if found is not None:
                yield item, found.metadata

    async def _remove_finalizer(self, item: Item, thing: ApiObject, finalizer: str) -> None:
        kept = tuple(each for each in thing.metadata.finalizers if each != finalizer)
        await patch_metadata(self._client, item.kind, thing, {"finalizers": kept})


def _waits(meta: ObjectMeta) -> bool:
    """Whether the object is going, and waits for its dependents."""
    return meta.deletion_timestamp is not None and not {FOREGROUND, ORPHAN}.isdisjoint(meta.finalizers)
