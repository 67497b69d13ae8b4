import asyncio

from dray.effects.clock import FakeClock
from dray.effects.log import Level, MemoryLog
from dray.store.compaction import Compactor, HistoryWindow, run_compaction
from dray.store.memory import MemoryStore
from dray.store.port import Bounds, StoreFailed
from tests.contract.store.objects import pod, put


def test_history_is_kept_for_the_whole_window() -> None:
    compactor = Compactor(HistoryWindow(seconds=300, max_changes=1000))
    assert compactor.plan_horizon(Bounds(1, 10), now=0) == 1
    assert compactor.plan_horizon(Bounds(1, 20), now=150) == 1
    assert compactor.plan_horizon(Bounds(1, 30), now=299) == 1
    assert compactor.plan_horizon(Bounds(1, 30), now=300) == 10
    assert compactor.plan_horizon(Bounds(10, 30), now=449) == 10
    assert compactor.plan_horizon(Bounds(10, 30), now=460) == 20


def test_too_many_changes_are_forgotten_sooner() -> None:
    compactor = Compactor(HistoryWindow(seconds=300, max_changes=1000))
    assert compactor.plan_horizon(Bounds(1, 1001), now=0) == 1
    assert compactor.plan_horizon(Bounds(1, 1500), now=1) == 500


def test_the_horizon_never_moves_back() -> None:
    compactor = Compactor(HistoryWindow(seconds=10))
    compactor.plan_horizon(Bounds(1, 5), now=0)
    assert compactor.plan_horizon(Bounds(7, 9), now=20) == 7


class FailingStore(MemoryStore):
    fails = True

    async def compact(self, through: int) -> None:
        if self.fails:
            raise StoreFailed("no room")
        await super().compact(through)


async def test_the_task_compacts_and_survives_failures() -> None:
    clock, log, store = FakeClock(), MemoryLog(), FailingStore()
    await put(store, pod("a"))
    newest = (await put(store, pod("a"))).revision
    running = asyncio.ensure_future(run_compaction(store, HistoryWindow(seconds=20), clock, log))
    await clock.advance(25)
    assert store.bounds().horizon == 1
    assert [entry.level for entry in log.entries] == [Level.ERROR]
    store.fails = False
    await clock.advance(10)
    assert store.bounds().horizon == newest
    assert [entry.level for entry in log.entries] == [Level.ERROR, Level.DEBUG]
    running.cancel()
