"""News on their way to the scheduler's loop, and its alarm clock."""

import asyncio
from collections import deque

from dray.effects.clock import Clock
from dray.scheduler.core.step import News

__all__ = ["Inbox"]


class Inbox:
    """News in the order in which they came, from informers and from orders that ended. One reader.

    What informers tell is bounded by the server's objects and their changes while a decision is made, what orders tell
    by the number of orders; so nothing is dropped.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._news: deque[News] = deque()
        self._filled = asyncio.Event()
        self._alarm: tuple[float, asyncio.Task[None]] | None = None

    def __len__(self) -> int:
        return len(self._news)

    def put(self, news: News) -> None:
        """Add a piece of news."""
        self._news.append(news)
        self._filled.set()

    def take(self) -> News | None:
        """The oldest piece of news, if there is one."""
        return self._news.popleft() if self._news else None

    async def wait(self, until: float | None, tasks: asyncio.TaskGroup) -> None:
        """Wait for news, or until the monotonic clock shows a time."""
        if self._news:
            return
        self._filled.clear()
        if until is not None:
            self._set_alarm(until, tasks)
        await self._filled.wait()

    def _set_alarm(self, until: float, tasks: asyncio.TaskGroup) -> None:
        """Ring once at that time. An earlier alarm stays: who is woken early waits again."""
        if self._alarm is not None and not self._alarm[1].done():
            if self._alarm[0] <= until:
                return
            self._alarm[1].cancel()
        self._alarm = (until, tasks.create_task(self._ring(until), name="scheduler alarm"))

    async def _ring(self, until: float) -> None:
        await self._clock.sleep(until - self._clock.monotonic())
        self._filled.set()
