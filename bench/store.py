"""How fast objects are kept, read and passed on: durable creates, gets, lists, many watchers; and their memory."""

from __future__ import annotations

import asyncio
import gc
import tempfile
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter

from dray.effects.clock import SystemClock
from dray.store.port import ABSENT, Key, Put, Selection, Store
from dray.store.sqlite import open_sqlite_store
from dray.store.watchcache import Subscription, WatchCache

CLAIMS = "resourceclaims.resource.k8s.io"
BODY = b'{"metadata":{"resourceVersion":""}' + b"x" * 2000 + b"}"
STAMP_AT = BODY.index(b'""') + 1

GOALS = {
    "store: a durable create, 64 writers at once": 125.0,  # 8,000 a second
    "store: a get": 5.0,
    "store: a page of 500": 200.0,
    "watch: 1,000 watchers, 100 writes/s, to the last watcher, p99": 250.0,
    "store: memory of 10,000 objects of 2 KB": 35.0,
}

_SECONDS = 2.0
_WATCHERS = 1000
_WRITES_PER_SECOND = 100


def _folder() -> tempfile.TemporaryDirectory[str]:
    """A folder on the disk of the repository: the system's own place for such folders may be in memory."""
    Path("build").mkdir(exist_ok=True)
    return tempfile.TemporaryDirectory(dir="build")


async def _create(store: Store, name: str) -> None:
    await store.commit((Put(Key(CLAIMS, "default", name), BODY, ABSENT, STAMP_AT),))


@asynccontextmanager
async def _fresh_store() -> AsyncIterator[Store]:
    with _folder() as folder:
        async with open_sqlite_store(Path(folder) / "dray.db") as store:
            yield store


async def _creates_per_second(writers: int) -> float:
    created = 0

    async def write(writer: int) -> None:
        nonlocal created
        while perf_counter() < end:
            await _create(store, f"w{writer}-{created}")
            created += 1

    async with _fresh_store() as store:
        start = perf_counter()
        end = start + _SECONDS
        await asyncio.gather(*map(write, range(writers)))
        return created / (perf_counter() - start)


async def _reads() -> list[tuple[str, float, str]]:
    async with _fresh_store() as store:
        await asyncio.gather(*(_create(store, f"c{number}") for number in range(10_000)))
        key, calls = Key(CLAIMS, "default", "c77"), 100_000
        start = perf_counter()
        for _ in range(calls):
            await store.find(key)
        get = (perf_counter() - start) / calls * 1e6
        newest, calls = Selection(CLAIMS), 500
        start = perf_counter()
        for _ in range(calls):
            await store.page(newest, limit=500)
        page = (perf_counter() - start) / calls * 1e6
        at = store.bounds().revision - 2000
        start = perf_counter()
        await store.page(newest, at=at, limit=500)
        earlier = (perf_counter() - start) * 1e3
        start = perf_counter()
        await store.compact(store.bounds().revision)
        compacted = (perf_counter() - start) * 1e3
    return [
        ("store: a get", get, "µs"),
        ("store: gets", 1e6 / get, "/s"),
        ("store: a page of 500", page, "µs"),
        ("store: a page of 500, 2,000 changes ago", earlier, "ms"),
        ("store: compacting 10,000 changes", compacted, "ms"),
    ]


async def _fan_out() -> list[tuple[str, float, str]]:
    """From the acknowledgement of a write to its arrival at each watcher, all in this process."""
    acknowledged: dict[int, float] = {}
    delays: list[float] = []
    batches = 0

    async def watch(subscription: Subscription) -> None:
        nonlocal batches
        async for batch in subscription:
            batches += 1
            now = perf_counter()
            delays.extend(now - acknowledged.get(event.change.revision, now) for event in batch.events)

    async with _fresh_store() as store:
        cache = WatchCache(store, SystemClock())
        tasks = [asyncio.ensure_future(cache.run())]
        tasks += [asyncio.ensure_future(watch(cache.subscribe(Selection(CLAIMS), since=1))) for _ in range(_WATCHERS)]
        store.follow(lambda changes: acknowledged.update((change.revision, perf_counter()) for change in changes))
        count, start = int(_SECONDS * _WRITES_PER_SECOND), perf_counter()
        for number in range(count):
            await asyncio.sleep(start + number / _WRITES_PER_SECOND - perf_counter())
            await _create(store, f"c{number}")
        await asyncio.sleep(0.3)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    delays.sort()
    assert len(delays) == count * _WATCHERS, "an event was lost"
    return [
        ("watch: 1,000 watchers, 100 writes/s, median", delays[len(delays) // 2] * 1e3, "ms"),
        ("watch: 1,000 watchers, 100 writes/s, to the last watcher, p99", delays[len(delays) * 99 // 100] * 1e3, "ms"),
        ("watch: events a watcher receives at once", len(delays) / batches, "events"),
    ]


async def _memory_and_start() -> list[tuple[str, float, str]]:
    with _folder() as folder:
        path = Path(folder) / "dray.db"
        async with open_sqlite_store(path) as store:
            await asyncio.gather(*(_create(store, f"c{number}") for number in range(10_000)))
        start = perf_counter()
        async with open_sqlite_store(path):
            opened = (perf_counter() - start) * 1e3
        gc.collect()
        tracemalloc.start()
        async with open_sqlite_store(path) as store:
            cache = WatchCache(store, SystemClock())
            await cache.warm()
            await asyncio.sleep(0)  # the loop holds what it last delivered, here all of the history, until it turns
            gc.collect()
            taken = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
    return [
        ("store: opening with 10,000 objects, every row checked", opened, "ms"),
        ("store: memory of 10,000 objects of 2 KB", taken / 1e6, "MB"),
    ]


def measure() -> list[tuple[str, float, str]]:
    """Figures of this module: name, number, unit."""
    rows = []
    for writers in (1, 16, 64):
        rate = asyncio.run(_creates_per_second(writers))
        rows.append((f"store: durable creates, {writers} at once", rate, "/s"))
    rows.append(("store: a durable create, 64 writers at once", 1e6 / rows[-1][1], "µs"))
    for part in (_reads, _fan_out, _memory_and_start):
        rows += asyncio.run(part())
    return rows
