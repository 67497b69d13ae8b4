"""What a watch tells, and when."""

import asyncio
from typing import Any, cast

from dray.effects.clock import FakeClock
from dray.server.reads import Filter
from dray.server.watching import Bookmark, Watch, _Start
from dray.store.memory import MemoryStore
from dray.store.port import Selection
from dray.store.ring import Batch
from dray.store.watchcache import WatchCache
from tests.contract.store.objects import PODS, pod, put

NO_ENDPOINT = cast("Any", None)


def make_watch(cache: WatchCache, seconds: float) -> Watch:
    selection = Selection(PODS)
    return Watch(
        endpoint=NO_ENDPOINT,
        chosen=Filter(selection, None),
        decode_pair=lambda change: (None, None),
        subscription=cache.subscribe(selection, since=cache.revision),
        initial=(),
        start=_Start.LIVE,
        bookmarks=True,
        seconds=seconds,
    )


def test_a_change_that_comes_as_a_bookmark_falls_due_is_told() -> None:
    """The watcher was not woken for it yet: nobody runs the cache here."""

    async def run() -> None:
        store = MemoryStore()
        cache = WatchCache(store, FakeClock())
        steps = make_watch(cache, 2.05).steps()  # two seconds before its end comes the last bookmark
        waiting = asyncio.ensure_future(anext(steps))
        await asyncio.sleep(0)
        await put(store, pod("a"))
        step = await waiting
        assert isinstance(step, Batch)
        assert [event.change.key.name for event in step.events] == ["a"]
        mark = await anext(steps)
        assert isinstance(mark, Bookmark)
        assert mark.revision == cache.revision
        await steps.aclose()  # type: ignore[attr-defined]  # a generator

    asyncio.run(run())
