"""A Client over a history in memory that loses connections and forgets on command: what informers are judged by."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any

from msgspec.structs import replace

from dray.api.codec import ApiList
from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP
from dray.api.kind import Kind
from dray.api.meta import DeleteOptions, ListMeta, ObjectMeta
from dray.client.port import (
    ALL,
    ALL_CHANGES,
    PLAIN,
    ListOptions,
    ObjectName,
    Patch,
    WatchEvent,
    WatchEventType,
    WatchOptions,
    WriteOptions,
)
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.errors import Gone, Invalid, ObjectRef

__all__ = ["CONFIG_MAPS", "History", "ModelClient", "make_config_map", "make_pace", "settle"]


def _find_colour(thing: ConfigMap) -> list[str]:
    return [thing.data["colour"]] if "colour" in thing.data else []


CONFIG_MAPS = Focus(kind=CONFIG_MAP, indexes={"colour": _find_colour})


def make_config_map(name: str, *, uid: str = "", revision: int = 0, colour: str = "") -> ConfigMap:
    metadata = ObjectMeta(name=name, namespace="default", uid=uid, resource_version=str(revision))
    return ConfigMap(kind="ConfigMap", api_version="v1", metadata=metadata, data={"colour": colour} if colour else {})


def make_pace(clock: FakeClock) -> Pace:
    return Pace(clock, SeededEntropy(7))


async def settle(clock: FakeClock | None = None, seconds: float = 0.0) -> None:
    """Let every task run until it waits; with a clock, also let so much time pass."""
    for _ in range(20):
        await asyncio.sleep(0)
    if clock is not None and seconds:
        await clock.advance(seconds)
        for _ in range(20):
            await asyncio.sleep(0)


class History:
    """Config maps and everything that happened to them. `things` is the truth."""

    def __init__(self) -> None:
        self.things: dict[str, ConfigMap] = {}
        self.revision = 1
        self.events: list[WatchEvent[ConfigMap]] = []
        self.forgotten = 0
        """What happened up to this revision is forgotten."""
        self.generation = 0
        self.fault: Exception | None = None
        self.changed = asyncio.Event()

    def put(self, name: str, colour: str = "") -> None:
        """Create or change."""
        self.revision += 1
        old = self.things.get(name)
        uid = old.metadata.uid if old else f"uid-{self.revision}"
        self.things[name] = make_config_map(name, uid=uid, revision=self.revision, colour=colour)
        self._record(WatchEventType.MODIFIED if old else WatchEventType.ADDED, self.things[name])

    def delete(self, name: str) -> None:
        """Delete, unless it is not there."""
        if name in self.things:
            self.revision += 1
            old = self.things.pop(name)
            metadata = replace(old.metadata, resource_version=str(self.revision))
            self._record(WatchEventType.DELETED, replace(old, metadata=metadata))

    def bookmark(self) -> None:
        """Tell every watch how far things are."""
        self.revision += 1
        self._record(WatchEventType.BOOKMARK, make_config_map("", revision=self.revision))

    def forget(self) -> None:
        """Compact everything."""
        self.forgotten = self.revision

    def cut(self, fault: Exception | None = None) -> None:
        """End every open watch, with a fault or as a server does when time is up."""
        self.fault = fault
        self.generation += 1
        self._wake()

    def list_since(self, revision: int) -> list[WatchEvent[ConfigMap]]:
        """What happened after a revision."""
        return [each for each in self.events if int(each.thing.metadata.resource_version) > revision]

    def _record(self, type_: WatchEventType, thing: ConfigMap) -> None:
        self.events.append(WatchEvent(type_, thing))
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


class ModelClient:
    """The reading half of a Client, over a History."""

    def __init__(self, history: History, *, knows_initial_events: bool = True) -> None:
        self.history = history
        self.knows_initial_events = knows_initial_events
        self.lists = 0
        self.watches: list[WatchOptions] = []
        self.refusal: Exception | None = None
        """What every request fails with, while it is set."""

    async def list(self, kind: Kind[Any], options: ListOptions = ALL) -> ApiList[Any]:
        self.lists += 1
        await self._arrive()
        things = self.history.things
        metadata = ListMeta(resource_version=str(self.history.revision))
        return ApiList(metadata=metadata, items=tuple(things[name] for name in sorted(things)))

    async def watch(
        self, kind: Kind[Any], options: WatchOptions = ALL_CHANGES
    ) -> AsyncGenerator[WatchEvent[Any], None]:
        self.watches.append(options)
        history, generation = self.history, self.history.generation
        await self._arrive()
        if options.send_initial_events and not self.knows_initial_events:
            raise Invalid(ObjectRef(kind="ListOptions"), [])
        seen = int(options.resource_version or history.revision)
        if seen < history.forgotten:
            raise Gone(f"too old resource version: {seen} ({history.revision})")
        pending = self._begin(seen) if options.send_initial_events else []
        while True:
            for event in pending:
                if generation != history.generation:
                    break
                yield event
            if generation != history.generation:
                break
            pending = history.list_since(seen)
            if pending:
                seen = int(pending[-1].thing.metadata.resource_version)
            else:
                await history.changed.wait()
        if history.fault is not None:
            raise history.fault

    def _begin(self, revision: int) -> Sequence[WatchEvent[Any]]:
        things = self.history.things
        mark = ObjectMeta(resource_version=str(revision), annotations={"k8s.io/initial-events-end": "true"})
        added = [WatchEvent(WatchEventType.ADDED, things[name]) for name in sorted(things)]
        return [*added, WatchEvent(WatchEventType.BOOKMARK, ConfigMap(metadata=mark))]

    async def _arrive(self) -> None:
        await asyncio.sleep(0)
        if self.refusal is not None:
            raise self.refusal

    async def get(self, kind: Kind[Any], name: ObjectName) -> Any:
        raise NotImplementedError

    async def create(self, kind: Kind[Any], thing: Any, options: WriteOptions = PLAIN, *, subresource: str = "") -> Any:
        raise NotImplementedError

    async def update(self, kind: Kind[Any], thing: Any, options: WriteOptions = PLAIN, *, subresource: str = "") -> Any:
        raise NotImplementedError

    async def patch(
        self, kind: Kind[Any], name: ObjectName, patch: Patch, options: WriteOptions = PLAIN, *, subresource: str = ""
    ) -> Any:
        raise NotImplementedError

    async def delete(self, kind: Kind[Any], name: ObjectName, options: DeleteOptions | None = None) -> Any:
        raise NotImplementedError
