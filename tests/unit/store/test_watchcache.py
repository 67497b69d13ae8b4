"""What watchers receive: everything, once, in order, or word that they have to list again."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise

import pytest

from dray.effects.clock import FakeClock
from dray.store.memory import MemoryStore
from dray.store.port import Change, Compacted, Key, Put, Selection
from dray.store.ring import Batch, RingLimits
from dray.store.watchcache import Subscription, WatchCache
from tests.contract.store.objects import CLAIMS, PODS, delete, pod, put

ALL_PODS = Selection(PODS)


class World:
    """A store, a cache over it whose task runs, and the clock of both."""

    def __init__(self, *, limits: RingLimits, gather_seconds: float) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.cache = WatchCache(self.store, self.clock, limits=limits, gather_seconds=gather_seconds)

    async def settle(self) -> None:
        """Let every task run until it waits."""
        for _ in range(10):
            await asyncio.sleep(0)


@asynccontextmanager
async def world(*, limits: RingLimits | None = None, gather_seconds: float = 0.05) -> AsyncIterator[World]:
    made = World(limits=limits or RingLimits(), gather_seconds=gather_seconds)
    running = asyncio.ensure_future(made.cache.run())
    try:
        yield made
    finally:
        running.cancel()
        await asyncio.wait([running])


def names(batch: Batch) -> list[str]:
    return [event.change.key.name for event in batch.events]


async def test_a_watcher_receives_what_comes_after_its_list() -> None:
    async with world() as w:
        await put(w.store, pod("before"))
        listed = await w.store.page(ALL_PODS)
        subscription = w.cache.subscribe(ALL_PODS, since=listed.revision)
        changes = [await put(w.store, pod("a")), await put(w.store, pod("a")), await delete(w.store, pod("a"))]
        batch = await subscription.next()
        assert [event.change for event in batch.events] == changes
        assert batch.revision == changes[-1].revision


async def test_a_waiting_watcher_is_woken() -> None:
    async with world() as w:
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        waiting = asyncio.ensure_future(subscription.next())
        await w.settle()
        assert not waiting.done()
        await put(w.store, pod("a"))
        assert names(await waiting) == ["a"]


async def test_the_first_change_comes_at_once_and_the_next_ones_together() -> None:
    async with world() as w:
        batches: list[Batch] = []
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision)

        async def watch() -> None:
            while True:
                batches.append(await subscription.next())

        watching = asyncio.ensure_future(watch())
        await w.settle()
        await put(w.store, pod("a"))
        await w.settle()
        assert list(map(names, batches)) == [["a"]]
        for name in "bcd":
            await put(w.store, pod(name))
            await w.settle()
        assert list(map(names, batches)) == [["a"]]
        await w.clock.advance(0.05)
        await w.settle()
        assert list(map(names, batches)) == [["a"], ["b", "c", "d"]]
        watching.cancel()


async def test_an_urgent_watcher_does_not_wait_for_others() -> None:
    async with world(gather_seconds=1000) as w:
        await put(w.store, pod("a"))
        await w.settle()
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision, is_urgent=True)
        for name in "bc":
            waiting = asyncio.ensure_future(subscription.next())
            await w.settle()
            await put(w.store, pod(name))
            assert names(await waiting) == [name]


@pytest.mark.parametrize(
    ("selection", "want"),
    [
        (ALL_PODS, ["a", "b", "c", "b", "a"]),
        (Selection(PODS, "ml"), ["a", "b", "b", "a"]),
        (Selection(PODS, "ml", "b"), ["b", "b"]),
        (Selection(PODS, name="c"), ["c"]),
        # The change that takes an object out of the selection belongs to it.
        (Selection(PODS, index=(("node", "n1"),)), ["b", "b"]),
        (Selection(CLAIMS), ["x"]),
    ],
)
async def test_a_watcher_receives_its_selection_alone(selection: Selection, want: list[str]) -> None:
    async with world() as w:
        subscription = w.cache.subscribe(selection, since=w.cache.revision)
        await put(w.store, pod("a"))
        await put(w.store, pod("b"), index=(("node", "n1"),))
        await put(w.store, pod("c", "core"))
        await put(w.store, pod("b"), index=(("node", "n2"),))
        await put(w.store, Key(CLAIMS, "ml", "x"))
        await delete(w.store, pod("a"))
        assert names(subscription.take()) == want


async def test_a_change_that_concerns_nobody_wakes_nobody_and_moves_the_bookmark() -> None:
    async with world() as w:
        subscription = w.cache.subscribe(Selection(PODS, "ml"), since=w.cache.revision)
        waiting = asyncio.ensure_future(subscription.next())
        await w.settle()
        await put(w.store, pod("a", "core"))
        change = await put(w.store, Key(CLAIMS, "ml", "x"))
        await w.settle()
        assert not waiting.done()
        waiting.cancel()
        await w.settle()
        batch = subscription.take()
        assert (batch.events, batch.revision) == ((), change.revision)


async def test_a_cancelled_wait_loses_nothing() -> None:
    async with world() as w:
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        waiting = asyncio.ensure_future(subscription.next())
        await w.settle()
        await put(w.store, pod("a"))
        waiting.cancel()
        await w.settle()
        assert names(await subscription.next()) == ["a"]


async def test_a_watcher_of_the_future_waits_for_it() -> None:
    async with world() as w:
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision + 2)
        await put(w.store, pod("a"))
        await put(w.store, pod("b"))
        assert subscription.take().events == ()
        await put(w.store, pod("c"))
        assert names(subscription.take()) == ["c"]


async def test_a_revision_can_be_waited_for() -> None:
    async with world() as w:
        await w.cache.reach(w.cache.revision)
        reaching = asyncio.ensure_future(w.cache.reach(w.cache.revision + 2))
        impatient = asyncio.ensure_future(w.cache.reach(w.cache.revision + 1))
        await w.settle()
        impatient.cancel()
        await put(w.store, pod("a"))
        await w.settle()
        assert not reaching.done()
        await put(w.store, pod("b"))
        await reaching


async def test_a_slow_watcher_is_told_to_list_again_and_holds_up_nobody() -> None:
    async with world(limits=RingLimits(max_changes=80)) as w:
        slow = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        quick = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        received: list[int] = []
        for number in range(200):
            await put(w.store, pod(f"p{number}"))
            received += [event.change.revision for event in quick.take().events]
        assert received == list(range(2, 202))
        with pytest.raises(Compacted) as caught:
            slow.take()
        assert caught.value.asked == 1
        with pytest.raises(Compacted):
            await slow.next()
        with pytest.raises(Compacted):
            w.cache.subscribe(ALL_PODS, since=caught.value.horizon - 1)
        again = w.cache.subscribe(ALL_PODS, since=caught.value.horizon)
        assert 60 <= len(again.take().events) <= 80


async def test_a_watcher_that_waits_while_it_is_passed_by_is_told() -> None:
    async with world(limits=RingLimits(max_changes=8)) as w:
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        waiting = asyncio.ensure_future(subscription.next())
        await w.settle()
        await w.store.commit([Put(pod(f"p{number}"), b"") for number in range(20)])
        with pytest.raises(Compacted):
            await waiting


async def test_the_ring_is_bounded_in_bytes_and_for_each_resource() -> None:
    async with world(limits=RingLimits(max_bytes=10_000)) as w:
        pods = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        claims = w.cache.subscribe(Selection(CLAIMS), since=w.cache.revision)
        await put(w.store, Key(CLAIMS, "ml", "x"))
        for number in range(12):
            await put(w.store, pod(f"p{number}"), b"x" * 1000)
        with pytest.raises(Compacted):
            pods.take()
        assert names(claims.take()) == ["x"]


async def test_a_change_larger_than_the_ring_is_not_kept() -> None:
    async with world(limits=RingLimits(max_bytes=100)) as w:
        await put(w.store, pod("a"), b"x" * 1000)
        with pytest.raises(Compacted):
            w.cache.subscribe(ALL_PODS, since=1)
        assert w.cache.subscribe(ALL_PODS, since=w.cache.revision).take().events == ()


async def test_what_is_made_of_events_and_batches_is_made_once() -> None:
    made: list[object] = []

    def encode(change: Change) -> bytes:
        made.append(change)
        return str(change.key).encode()

    def join(batch: Batch) -> bytes:
        made.append(batch)
        return b"\n".join(event.once(encode) for event in batch.events)

    async with world() as w:
        first, second, late = (w.cache.subscribe(ALL_PODS, since=w.cache.revision) for _ in range(3))
        await put(w.store, pod("a"))
        one, two = first.take(), second.take()
        assert one is two
        assert one.once(join) is two.once(join)
        assert len(made) == 2
        await put(w.store, pod("b"))
        assert late.take().once(join) == b"pods/ml/a\npods/ml/b"
        assert len(made) == 4


async def test_what_is_made_may_be_nothing() -> None:
    made: list[Change] = []

    async with world() as w:
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        await put(w.store, pod("a"))
        (event,) = subscription.take().events
        assert event.once(made.append) is None
        assert event.once(made.append) is None
        assert len(made) == 1


async def test_a_warm_cache_resumes_watchers_of_the_time_before_it() -> None:
    store = MemoryStore()
    changes = [await put(store, pod(f"p{number}")) for number in range(5)]
    await store.compact(changes[0].revision)
    cold = WatchCache(store, FakeClock())
    with pytest.raises(Compacted):
        cold.subscribe(ALL_PODS, since=changes[1].revision)
    warm = WatchCache(store, FakeClock())
    await warm.warm()
    later = await put(store, pod("later"))
    subscription = warm.subscribe(ALL_PODS, since=changes[1].revision)
    assert [event.change for event in subscription.take().events] == [*changes[2:], later]
    with pytest.raises(Compacted):
        warm.subscribe(ALL_PODS, since=changes[0].revision - 1)


class SlowStore(MemoryStore):
    """Writes while its changes are read, as others may."""

    async def changes(self, since: int, *, limit: int | None = None) -> tuple[Change, ...]:
        answer = await super().changes(since, limit=limit)
        await self.commit([Put(pod(f"meanwhile{number}"), b"") for number in range(self.meanwhile)])
        return answer

    meanwhile = 3


@pytest.mark.parametrize(("meanwhile", "is_kept"), [(3, True), (50, False)])
async def test_warming_up_and_writing_go_together(meanwhile: int, is_kept: bool) -> None:
    store = SlowStore()
    store.meanwhile = meanwhile
    first = await put(store, pod("a"))
    cache = WatchCache(store, FakeClock(), limits=RingLimits(max_changes=16))
    await cache.warm()
    if is_kept:
        assert names(cache.subscribe(ALL_PODS, since=first.revision - 1).take())[:2] == ["a", "meanwhile0"]
    else:
        with pytest.raises(Compacted):
            cache.subscribe(ALL_PODS, since=first.revision - 1)
    newest = cache.subscribe(ALL_PODS, since=cache.revision - 3).take()
    assert [event.change.revision for event in newest.events] == [
        cache.revision - 2,
        cache.revision - 1,
        cache.revision,
    ]


async def test_a_closed_cache_hears_nothing() -> None:
    store = MemoryStore()
    cache = WatchCache(store, FakeClock())
    cache.close()
    await put(store, pod("a"))
    assert cache.revision == 1


async def test_many_watchers_each_receive_everything_once() -> None:
    async with world(gather_seconds=0) as w:
        received: list[list[int]] = [[] for _ in range(200)]

        async def watch(subscription: Subscription, into: list[int]) -> None:
            async for batch in subscription:
                into += [event.change.revision for event in batch.events]

        tasks = [
            asyncio.ensure_future(watch(w.cache.subscribe(ALL_PODS, since=1, is_urgent=number % 10 == 0), into))
            for number, into in enumerate(received)
        ]
        for number in range(30):
            await put(w.store, pod(f"p{number % 4}"))
            await asyncio.sleep(0)
        # A bounded number of turns, each of which serves 64 watchers at least.
        for _ in range(200 // 64 + 2):
            await w.settle()
        for each in tasks:
            each.cancel()
        assert received == [list(range(2, 32))] * 200


async def test_batches_of_one_watcher_join_without_gap_or_overlap() -> None:
    async with world() as w:
        subscription = w.cache.subscribe(ALL_PODS, since=w.cache.revision)
        batches: list[Sequence[int]] = []
        for number in range(10):
            for _ in range(number % 3):
                await put(w.store, pod("a"))
            batches.append([event.change.revision for event in subscription.take().events])
        revisions = [revision for batch in batches for revision in batch]
        assert all(later == earlier + 1 for earlier, later in pairwise(revisions))
