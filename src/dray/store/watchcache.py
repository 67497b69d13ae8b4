"""Fan-out of committed changes to those who watch.

Nobody has a queue. A subscription is a place in the ring of its resource, and takes from there all it has not had when
it is ready for it. A slow one costs nothing and holds up nobody; when the ring has passed it by, it is told to list
again. Watchers are woken together, at most every 50 ms: a thousand of them then pay for twenty batches a second, not
for every change.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final

from dray.effects.clock import Clock
from dray.store.port import Change, Compacted, Selection, Store
from dray.store.ring import Batch, Ring, RingLimits

__all__ = ["GATHER_SECONDS", "Subscription", "WatchCache"]

GATHER_SECONDS: Final = 0.05
"""How long changes gather before watchers are woken again. The first after a quiet time is delivered at once."""

_WOKEN_TOGETHER: Final = 64
"""Watchers woken before other tasks have a turn: a fraction of a millisecond here, and their own work after it."""

_LIMITS: Final = RingLimits()


class Subscription:
    """One watcher's place in the history of a selection, for one task. Made by `WatchCache.subscribe`.

    There is nothing to close: a subscription that nobody waits at is known to nobody.
    """

    def __init__(self, cache: "WatchCache", selection: Selection, since: int, *, is_urgent: bool) -> None:
        self._cache = cache
        self.selection = selection
        self.revision = since
        """Every selected change up to here was handed out."""
        self.is_urgent = is_urgent

    def take(self) -> Batch:
        """What there is now, which may be nothing: a bookmark may then be sent with the batch's revision.

        Raises `Compacted` if the ring has passed this watcher by; it has to list again, and nothing repairs that.
        """
        batch = self._cache.batch(self.selection, self.revision)
        self.revision = batch.revision
        return batch

    async def next(self) -> Batch:
        """The next events, at least one; waits for them. Nothing is lost if the wait is cancelled."""
        while not (batch := self.take()).events:
            await self._cache.wait_for_news(self)
        return batch

    async def __aiter__(self) -> AsyncIterator[Batch]:
        while True:
            yield await self.next()

    def has_news(self) -> bool:
        """Whether `take` has something to say. Skips what does not concern this watcher."""
        try:
            batch = self._cache.batch(self.selection, self.revision)
        except Compacted:
            return True
        if not batch.events:
            self.revision = batch.revision
        return bool(batch.events)


class WatchCache:
    """The rings of all resources, and who waits at them.

    Hears the store from the moment it is made. The task `run` wakes the watchers: without it nobody waits with success.
    """

    def __init__(
        self, store: Store, clock: Clock, *, limits: RingLimits = _LIMITS, gather_seconds: float = GATHER_SECONDS
    ) -> None:
        self._store = store
        self._clock = clock
        self._limits = limits
        self._gather_seconds = gather_seconds
        self._rings: dict[str, Ring] = {}
        self._floor = self._revision = store.bounds().revision
        self._waiting: dict[tuple[str, bool], dict[Subscription, asyncio.Future[None]]] = {}
        self._reaching: list[tuple[int, asyncio.Future[None]]] = []
        self._news: dict[str, None] = {}
        self._published = asyncio.Event()
        self._stop_following = store.follow(self._publish)

    @property
    def revision(self) -> int:
        """Of the newest change that was heard."""
        return self._revision

    async def warm(self) -> None:
        """Fetch what the store has of the time before this cache, so that watchers resume across a restart."""
        start = self._floor
        floor = max(self._store.bounds().horizon, start - self._limits.max_changes)
        earlier = await self._store.changes(floor)
        heard, self._rings, self._floor = self._rings, {}, floor
        for change in earlier:
            if change.revision <= start:
                self._ring(change.key.resource).add(change)
        for resource, ring in heard.items():
            try:
                later = ring.batch(Selection(resource), start, self._revision)
            except Compacted:  # it is full already: nothing earlier has room
                self._rings[resource] = ring
                continue
            for event in later.events:
                self._ring(resource).add(event.change)

    def subscribe(self, selection: Selection, *, since: int, is_urgent: bool = False) -> Subscription:
        """Receive every selected change after a revision: that of a list, or of the last event a watcher has seen.

        An urgent subscription is woken for each group of changes instead of with the others. Raises `Compacted` if some
        changes since then are no longer at hand. A revision that is not reached yet is waited for.
        """
        subscription = Subscription(self, selection, since, is_urgent=is_urgent)
        self._ring(selection.resource).refuse_passed(since)
        return subscription

    async def reach(self, revision: int) -> None:
        """Wait until the store is at a revision or beyond."""
        if revision > self._revision:
            reached = asyncio.get_running_loop().create_future()
            self._reaching.append((revision, reached))
            await reached

    async def run(self) -> None:
        """Wake watchers who have news, until cancelled."""
        while True:
            await self._published.wait()
            self._published.clear()
            news, self._news = self._news, {}
            for resource in news:
                await self._wake_gathered(resource)
            await self._clock.sleep(self._gather_seconds)

    def close(self) -> None:
        """Hear no more of the store."""
        self._stop_following()

    def batch(self, selection: Selection, since: int) -> Batch:
        """What a watcher at `since` has not had yet; raises `Compacted`. For subscriptions, which keep the place."""
        return self._ring(selection.resource).batch(selection, since, self._revision)

    async def wait_for_news(self, subscription: Subscription) -> None:
        """Wait until there is a change that concerns a subscription. For subscriptions, which have looked before."""
        waiting = self._waiting.setdefault((subscription.selection.resource, subscription.is_urgent), {})
        woken = waiting[subscription] = asyncio.get_running_loop().create_future()
        try:
            await woken
        finally:
            del waiting[subscription]

    def _publish(self, changes: Sequence[Change]) -> None:
        """Hear a group of changes from the store."""
        for change in changes:
            self._ring(change.key.resource).add(change)
        self._revision = changes[-1].revision
        for resource in dict.fromkeys(change.key.resource for change in changes):
            self._news[resource] = None
            for subscription, woken in self._waiting.get((resource, True), {}).items():
                _wake(subscription, woken)
        self._published.set()
        reached = [each for each in self._reaching if each[0] <= self._revision]
        for each in reached:
            self._reaching.remove(each)
            if not each[1].done():
                each[1].set_result(None)

    async def _wake_gathered(self, resource: str) -> None:
        waiting = tuple(self._waiting.get((resource, False), {}).items())
        for count, (subscription, woken) in enumerate(waiting, 1):
            _wake(subscription, woken)
            if count % _WOKEN_TOGETHER == 0:
                await asyncio.sleep(0)

    def _ring(self, resource: str) -> Ring:
        ring = self._rings.get(resource)
        if ring is None:
            ring = self._rings[resource] = Ring(self._limits, self._floor)
        return ring


def _wake(subscription: Subscription, woken: asyncio.Future[None]) -> None:
    if not woken.done() and subscription.has_news():
        woken.set_result(None)
