"""How much history is kept, and forgetting the rest.

History serves watchers that come back, and lists that are read page by page: minutes, not days. The window is bounded
in time, and in changes for when there are very many.
"""

from collections import deque
from typing import Final

from msgspec import Struct

from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.store.port import Bounds, Store, StoreFailed

__all__ = ["Compactor", "HistoryWindow", "run_compaction"]

_TICK_SECONDS: Final = 10.0
"""How often the window is looked at: it is kept to within this time."""


class HistoryWindow(Struct, frozen=True):
    """What is kept at least, unless there are too many changes."""

    seconds: float = 300.0
    """As long as Kubernetes keeps it by default; clients page and reconnect within this time."""
    max_changes: int = 200_000
    """However young: some 500 MB on disk with objects of 2 KB."""


class Compactor:
    """Decides how far to compact, from where the store stood at which time.

    After a start it knows no times, so what the store holds then is kept for a whole window more.
    """

    def __init__(self, window: HistoryWindow) -> None:
        self._window = window
        self._marks: deque[tuple[float, int]] = deque()

    def plan_horizon(self, bounds: Bounds, now: float) -> int:
        """The revision to compact through, never less than the present horizon. `now` is monotonic, in seconds."""
        self._marks.append((now, bounds.revision))
        horizon = bounds.horizon
        while self._marks and self._marks[0][0] <= now - self._window.seconds:
            horizon = max(horizon, self._marks.popleft()[1])
        return max(horizon, bounds.revision - self._window.max_changes)


async def run_compaction(store: Store, window: HistoryWindow, clock: Clock, log: Log) -> None:
    """Keep the history of a store within its window, until cancelled. A failure is logged, and tried again."""
    compactor = Compactor(window)
    while True:
        bounds = store.bounds()
        horizon = compactor.plan_horizon(bounds, clock.monotonic())
        if horizon > bounds.horizon:
            try:
                await store.compact(horizon)
            except StoreFailed as err:
                log.error("compaction failed", revision=horizon, err=err)
            else:
                log.debug("history compacted", revision=horizon)
        await clock.sleep(_TICK_SECONDS)
