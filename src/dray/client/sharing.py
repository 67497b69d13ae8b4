"""One informer a kind for a whole process: scheduler, controllers and whoever else reads share its view.

Watching a kind twice would cost the server a second stream and us a second copy. Whoever needs a kind asks for its
informer, adds the indexes it reads by, and waits until it is synced; who asks first makes it.
"""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.client.informer import Informer
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.effects.log import Log

__all__ = ["SharedInformers"]

K = TypeVar("K", bound=ApiObject)


class SharedInformers:
    """The informers of one process by kind, each of all objects of the cluster. Owns them and the tasks they run in.

    What consumers may rely on:

    - `get` returns the same informer for the same kind, always; nothing is watched that nobody asked for.
    - A kind that is first asked for while `run` is at work is followed from that moment on.
    - Handlers and queues are the informers' own (`add_handler`, `subscribe`); an index is added by
      `informer.view.add_index`, which may come twice with the same function.
    - Handlers of one kind are called in the order in which they were added.
    """

    def __init__(self, client: Client, pace: Pace, log: Log) -> None:
        self._client = client
        self._pace = pace
        self._log = log
        self._informers: dict[AnyKind, Informer[Any]] = {}
        self._tasks: asyncio.TaskGroup | None = None

    @property
    def kinds(self) -> Sequence[AnyKind]:
        """The kinds that were asked for."""
        return tuple(self._informers)

    def get(self, kind: Kind[K]) -> Informer[K]:
        """The informer of a kind."""
        informer = self._informers.get(kind)
        if informer is None:
            informer = self._informers[kind] = Informer(self._client, Focus(kind=kind), self._pace, self._log)
            if self._tasks is not None:
                self._start(self._tasks, kind)
        return cast("Informer[K]", informer)  # stored under its own kind

    async def wait_synced(self, kinds: Iterable[AnyKind] | None = None) -> None:
        """Wait until the views of some kinds, or of all that were asked for, are complete for the first time."""
        for kind in self.kinds if kinds is None else tuple(kinds):
            await self.get(kind).synced.wait()

    async def run(self) -> None:
        """Follow the server until cancelled. Run it once, in a task of its own."""
        try:
            async with asyncio.TaskGroup() as self._tasks:
                for kind in self.kinds:
                    self._start(self._tasks, kind)
                await asyncio.Event().wait()  # kinds may still be asked for
        finally:
            self._tasks = None

    def _start(self, tasks: asyncio.TaskGroup, kind: AnyKind) -> None:
        tasks.create_task(self._informers[kind].run(), name=f"informer of {kind.plural}")
