"""What is published, as the publisher knows it: what a watch told, and its own writes that the watch has yet to tell.

`SliceWatch` parts one stream of slices among publishers, so that a thousand simulated drivers cost one watch.
"""

import asyncio
from typing import Final, NamedTuple, Protocol

from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.client.changes import Change
from dray.client.informer import Informer
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.effects.log import Log

__all__ = ["NarrowWatches", "Published", "SharedWatch", "SliceScope", "SliceWatch", "SliceWatches"]

_UNTOLD_SECONDS: Final = 60.0
"""A write that the watch has not told by then was undone unseen, most likely."""


class SliceScope(NamedTuple):
    """Which slices a publisher answers for: those of a driver for a node, or for no single node."""

    driver: str
    node_name: str = ""


class SliceHandler(Protocol):
    """Told of slices."""

    def __call__(self, seen: ResourceSlice, /, *, is_there: bool) -> None:
        """A slice is there, in this state, or it is gone."""
        ...


class SliceWatch:
    """Hands the changes of slices to whoever answers for them."""

    def __init__(self, informer: Informer[ResourceSlice]) -> None:
        self._handlers: dict[SliceScope, SliceHandler] = {}
        self._slices: dict[SliceScope, dict[str, ResourceSlice]] = {}
        self._informer = informer
        informer.add_handler(self._tell)

    async def wait_synced(self) -> None:
        """Wait until everything that is published was told once."""
        await self._informer.synced.wait()

    def follow(self, scope: SliceScope, handler: SliceHandler) -> None:
        """Call `handler` for each slice in scope, now and whenever one changes or goes."""
        self._handlers[scope] = handler
        for each in self._slices.get(scope, {}).values():
            handler(each, is_there=True)

    def leave(self, scope: SliceScope) -> None:
        """Tell nothing more."""
        self._handlers.pop(scope, None)

    def _tell(self, change: Change[ResourceSlice]) -> None:
        scope = SliceScope(change.latest.spec.driver, change.latest.spec.node_name or "")
        slices = self._slices.setdefault(scope, {})
        if change.new is None:
            slices.pop(change.name.name, None)
        else:
            slices[change.name.name] = change.new
        if not slices:
            del self._slices[scope]
        handler = self._handlers.get(scope)
        if handler is not None:
            handler(change.latest, is_there=change.new is not None)


class SliceWatches(Protocol):
    """Where publishers get their watch from."""

    def open(self, scope: SliceScope, tasks: asyncio.TaskGroup) -> SliceWatch:
        """A watch that tells of the slices in scope; it runs in `tasks` if it has to run."""
        ...


class NarrowWatches:
    """A watch of its own for each scope: the server sends nothing else."""

    def __init__(self, client: Client, pace: Pace, log: Log) -> None:
        self._client = client
        self._pace = pace
        self._log = log

    def open(self, scope: SliceScope, tasks: asyncio.TaskGroup) -> SliceWatch:
        """Begin to watch."""
        selector = f"spec.driver={scope.driver},spec.nodeName={scope.node_name}"
        focus = Focus(kind=RESOURCE_SLICE, field_selector=selector)
        informer = Informer(self._client, focus, self._pace, self._log)
        tasks.create_task(informer.run(), name=f"watch slices of {scope.driver}")
        return SliceWatch(informer)


class SharedWatch:
    """One watch of everything, which somebody else runs, for the many drivers of one process."""

    def __init__(self, informer: Informer[ResourceSlice]) -> None:
        self._watch = SliceWatch(informer)

    def open(self, _scope: SliceScope, _tasks: asyncio.TaskGroup) -> SliceWatch:
        """The watch."""
        return self._watch


class Published:
    """Slices by name. One's own writes count at once, and until the watch has caught up with them."""

    def __init__(self) -> None:
        self._seen: dict[str, ResourceSlice] = {}
        self._written: dict[str, ResourceSlice] = {}
        self._deleted: dict[str, str] = {}
        self._written_at: dict[str, float] = {}

    def slices(self) -> list[ResourceSlice]:
        """Every slice as it is now, by name."""
        merged = {name: each for name, each in self._seen.items() if self._deleted.get(name) != each.metadata.uid}
        merged |= self._written
        return [merged[name] for name in sorted(merged)]

    def wrote(self, stored: ResourceSlice, at: float) -> None:
        """A slice was created or updated, and this is what the server has now."""
        seen = self._seen.get(stored.metadata.name)
        if seen is not None and seen.metadata.uid == stored.metadata.uid and not _is_older(seen, stored):
            return  # the watch was quicker than the answer
        self._written[stored.metadata.name] = stored
        self._written_at[stored.metadata.name] = at

    def deleted(self, gone: ResourceSlice) -> None:
        """A slice was deleted, or found to be gone."""
        self._forget_write(gone.metadata.name)
        if gone.metadata.name in self._seen:
            self._deleted[gone.metadata.name] = gone.metadata.uid

    def distrust(self, name: str) -> None:
        """A write met another state than was known: only the watch knows better."""
        self._forget_write(name)

    def distrust_old(self, now: float) -> None:
        """Forget writes that the watch should have told long ago."""
        for name in [name for name, at in self._written_at.items() if now - at >= _UNTOLD_SECONDS]:
            self._forget_write(name)

    def seconds_to_distrust(self, now: float) -> float | None:
        """When to call `distrust_old`; None if the watch has told everything."""
        return max(0.0, min(self._written_at.values()) + _UNTOLD_SECONDS - now) if self._written_at else None

    def saw(self, seen: ResourceSlice, *, is_there: bool) -> bool:
        """The watch tells how a slice is. Returns whether that is news, made by somebody else."""
        name = seen.metadata.name
        if not is_there:
            is_ours = self._deleted.pop(name, None) is not None
            self._seen.pop(name, None)
            self._forget_write(name)
            return not is_ours
        self._seen[name] = seen
        written = self._written.get(name)
        if written is None:
            return True
        if _is_older(seen, written):
            return False
        self._forget_write(name)
        return seen.metadata.resource_version != written.metadata.resource_version

    def _forget_write(self, name: str) -> None:
        self._written.pop(name, None)
        self._written_at.pop(name, None)


def _is_older(one: ResourceSlice, other: ResourceSlice) -> bool:
    """Whether one state of a slice came before another. Versions are numbers on every server there is."""
    some, others = one.metadata.resource_version, other.metadata.resource_version
    return one.metadata.uid == other.metadata.uid and some.isdigit() and others.isdigit() and int(some) < int(others)
