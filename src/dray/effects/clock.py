"""What time it is, and waiting: the one place that reads a system clock.

Shells hold a `Clock`; the core receives instants as values. `FakeClock` stands still until a test or a simulation moves
it, and wakes sleepers in the order of their deadlines, so that a run is the same every time.
"""

import asyncio
import heapq
import itertools
import time
from typing import Protocol

from dray.values.times import MicroTime

__all__ = ["Clock", "FakeClock", "SystemClock"]


class Clock(Protocol):
    """The time of day, a clock that only runs forward, and waiting."""

    def now(self) -> MicroTime:
        """The time of day; may jump when someone sets the machine's clock."""
        ...

    def monotonic(self) -> float:
        """Seconds since some fixed moment; never runs back. For durations and deadlines."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait so long; zero or less only lets other tasks run."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> MicroTime:
        """The machine's time of day."""
        return MicroTime(time.time_ns() // 1000)

    def monotonic(self) -> float:
        """The machine's monotonic clock."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait on the running event loop."""
        await asyncio.sleep(seconds)


class FakeClock:
    """A clock that moves only when told to, and starts at a round moment."""

    START = MicroTime(1_767_225_600_000_000)
    """2026-01-01T00:00:00Z."""

    def __init__(self, start: MicroTime = START) -> None:
        self._start = start
        self._elapsed = 0.0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now(self) -> MicroTime:
        """The start plus what the clock was moved by."""
        return self._start.plus_seconds(self._elapsed)

    def monotonic(self) -> float:
        """Seconds the clock was moved by."""
        return self._elapsed

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was moved so far."""
        if seconds <= 0:
            await asyncio.sleep(0)
            return
        woken = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (self._elapsed + seconds, next(self._order), woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Move the clock. Each sleeper that falls due sees its own deadline as the time, and may sleep again."""
        target = self._elapsed + seconds
        await asyncio.sleep(0)  # tasks that were just started reach their first sleep
        while self._sleepers and self._sleepers[0][0] <= target:
            deadline, _, woken = heapq.heappop(self._sleepers)
            if woken.done():  # cancelled while it slept
                continue
            self._elapsed = deadline
            woken.set_result(None)
            await asyncio.sleep(0)
        self._elapsed = target
