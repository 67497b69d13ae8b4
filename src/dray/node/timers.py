"""Many alarms on one clock: pods of a thousand nodes wait for their moments in one task."""

import asyncio
import heapq
import itertools
from collections.abc import Callable

from dray.driver.waiting import wait_for_event
from dray.effects.clock import Clock

__all__ = ["Timer", "Timers"]


class Timer:
    """One alarm. Cancelling it twice, or after it rang, is a no-op."""

    __slots__ = ("_ring",)

    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring: Callable[[], None] | None = ring

    @property
    def is_set(self) -> bool:
        """Whether it will still ring."""
        return self._ring is not None

    def cancel(self) -> None:
        """Never ring."""
        self._ring = None

    def ring(self) -> None:
        """Call what waits for it, once."""
        ring, self._ring = self._ring, None
        if ring is not None:
            ring()


class Timers:
    """All alarms of a process's node agents. Callbacks run one after the other and must be quick."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._queue: list[tuple[float, int, Timer]] = []
        self._numbers = itertools.count()
        self._is_sooner = asyncio.Event()

    def set(self, seconds: float, ring: Callable[[], None]) -> Timer:
        """Call `ring` so many seconds from now."""
        timer = Timer(ring)
        due = self._clock.monotonic() + max(0.0, seconds)
        if not self._queue or due < self._queue[0][0]:
            self._is_sooner.set()
        heapq.heappush(self._queue, (due, next(self._numbers), timer))
        return timer

    async def run(self) -> None:
        """Ring until cancelled. Run it once, in a task of its own."""
        while True:
            self._is_sooner.clear()
            delay = self._ring_due()
            if delay is None:
                await self._is_sooner.wait()
            elif delay > 0:
                await wait_for_event(self._is_sooner, self._clock, delay)
            else:
                await asyncio.sleep(0)

    def _ring_due(self) -> float | None:
        """Ring what is due; seconds until the next one, None if there is none."""
        now = self._clock.monotonic()
        while self._queue:
            due, _, timer = self._queue[0]
            if due > now:
                return due - now
            heapq.heappop(self._queue)
            timer.ring()
        return None
