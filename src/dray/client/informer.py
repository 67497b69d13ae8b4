"""A local, indexed view of all objects of a kind that follows the server, and news of what changes in it.

Scheduler, controllers and node agents read from views and are woken by changes; they ask the server only to write.
"""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Generic, TypeVar

from dray.api.meta import ApiObject
from dray.client.changes import Change, ChangeQueue
from dray.client.port import Client, WatchEvent, WatchEventType
from dray.client.retrying import Pace
from dray.client.view import View, name_of
from dray.client.watching import Focus, Snapshot, observe
from dray.effects.log import Log

__all__ = ["ChangeHandler", "Informer"]

K = TypeVar("K", bound=ApiObject)
ChangeHandler = Callable[[Change[K]], None]


class Informer(Generic[K]):
    """Follows the objects in focus. Works on any `Client`, on one event loop.

    What consumers may rely on:

    - `view` is what the server held at `revision`, never a mixture of two moments; it lags behind, it never runs ahead.
      It stays readable, and stale, while the server cannot be reached. A write of one's own shows up only once it
      comes back from the server.
    - `synced` is set once the view has been complete for the first time, and all of it was handed out.
    - Handlers get every change of the view one by one, in order, on the task of `run`, when the view shows it already.
      They must be quick and must not fail: a failing handler ends `run`.
    - Queues (`subscribe`) get the same changes merged by object, so that a slow consumer costs memory for one change
      an object and nothing else. A new queue and a new handler start with everything that is in the view.
    - Across lost connections and relists no change of state is missed and none is told twice. What happened in between
      is told as one change; objects that are gone are told as deleted, with the last state known as `latest`; an
      object with another uid under the same name is told as one that went and one that came.
    """

    def __init__(self, client: Client, focus: Focus[K], pace: Pace, log: Log) -> None:
        self._client = client
        self._focus = focus
        self._pace = pace
        self._log = log
        self._handlers: list[ChangeHandler[K]] = []
        self._queues: list[ChangeQueue[K]] = []
        self._revision = ""
        self.view: View[K] = View(focus.indexes)
        self.synced = asyncio.Event()

    @property
    def revision(self) -> str:
        """The version of the server that the view shows; empty before it is complete."""
        return self._revision

    def add_handler(self, handler: ChangeHandler[K]) -> None:
        """Call `handler` for everything in the view, now, and for every change from now on."""
        for thing in self.view:
            handler(_came(thing))
        self._handlers.append(handler)

    def subscribe(self) -> ChangeQueue[K]:
        """A queue of all changes, for one consumer; it begins with everything in the view."""
        queue: ChangeQueue[K] = ChangeQueue()
        for thing in self.view:
            queue.put(_came(thing))
        self._queues.append(queue)
        return queue

    def unsubscribe(self, queue: ChangeQueue[K]) -> None:
        """Give a queue nothing more. Unknown queues are a no-op: cleaning up may come twice."""
        self._queues = [each for each in self._queues if each is not queue]

    async def run(self) -> None:
        """Follow the server until cancelled. Run it once, in a task of its own."""
        async with aclosing(observe(self._client, self._focus, self._pace, self._log)) as all_news:
            async for news in all_news:
                if isinstance(news, Snapshot):
                    self._replace(news)
                else:
                    self._follow(news)

    def _replace(self, snapshot: Snapshot[K]) -> None:
        self._revision = snapshot.revision
        present = {name_of(thing) for thing in snapshot.things}
        changes = [change for thing in self.view if name_of(thing) not in present for change in self._remove(thing)]
        for thing in snapshot.things:
            changes += self._put(thing)
        self._tell(changes)
        if not self.synced.is_set():
            self._log.debug("view is complete", kind=self._focus.kind.name, revision=self._revision)
            self.synced.set()

    def _follow(self, event: WatchEvent[K]) -> None:
        self._revision = event.thing.metadata.resource_version
        if event.type is WatchEventType.DELETED:
            self._tell(self._remove(event.thing))
        elif event.type is not WatchEventType.BOOKMARK:
            self._tell(self._put(event.thing))

    def _put(self, thing: K) -> list[Change[K]]:
        """Take an object in; what changed by that."""
        name = name_of(thing)
        old = self.view.find(name)
        if old is None:
            self.view.put(thing)
            return [_came(thing)]
        if old.metadata.uid != thing.metadata.uid:
            return [*self._remove(old), *self._put(thing)]
        if old.metadata.resource_version == thing.metadata.resource_version:
            return []
        self.view.put(thing)
        return [Change(name, old, thing, thing)]

    def _remove(self, latest: K) -> list[Change[K]]:
        """Forget the object of that name; what changed by that."""
        old = self.view.remove(name_of(latest))
        return [] if old is None else [Change(name_of(old), old, None, latest)]

    def _tell(self, changes: list[Change[K]]) -> None:
        for change in changes:
            for handler in self._handlers:
                handler(change)
            for queue in self._queues:
                queue.put(change)


def _came(thing: K) -> Change[K]:
    return Change(name_of(thing), None, thing, thing)
