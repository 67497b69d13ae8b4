"""What every controller runs on: workers that take keys, and try again later what failed.

A controller is a function from a key to what should be true of it. It reads the state as it is now, never the event
that woke it, so that it may run twice, late, or after a crash, and comes to the same end.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from dray.client.port import Unreachable
from dray.controllers.queue import KeyedQueue
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import AlreadyExists, ApiError, Conflict, NotFound

__all__ = ["Controller", "Effects", "Reconcile"]

Key = TypeVar("Key", bound=Hashable)

Reconcile = Callable[[Key], Awaitable[float | None]]
"""Makes true what should be true of a key. Returns the seconds after which to look again, None for the next change."""

_FIRST_DELAY_SECONDS: Final = 0.05
_LONGEST_DELAY_SECONDS: Final = 60.0
"""Delays double from the first to the longest: quick after a lost race, bearable while a server is down."""
_MOST_DOUBLINGS: Final = 16


@dataclass(frozen=True, slots=True)
class Effects:
    """Time, chance and the log, as controllers are given them."""

    clock: Clock
    entropy: Entropy
    log: Log


def _ignore(seconds: float) -> None:
    """Look away."""


class Controller(Generic[Key]):
    """One queue and the function that works it off."""

    def __init__(self, name: str, reconcile: Reconcile[Key], effects: Effects, *, workers: int = 1) -> None:
        self.name = name
        self._queue: KeyedQueue[Key] = KeyedQueue()
        self._reconcile = reconcile
        self._effects = effects
        self._workers = workers
        self._failures: dict[Key, int] = {}
        self.retried = 0
        """How often a key is to be looked at again because something failed."""
        self.work_done: Callable[[float], None] = _ignore
        """Told how many seconds a look at a key took."""
        self._due: dict[Key, float] = {}

    @property
    def is_idle(self) -> bool:
        """Whether there is nothing to do now; what waits for its time does not count."""
        return self._queue.is_idle

    @property
    def depth(self) -> int:
        """How many keys wait."""
        return len(self._queue)

    @property
    def added(self) -> int:
        """How many keys came so far."""
        return self._queue.added

    def wake(self, key: Key) -> None:
        """Look at a key soon."""
        self._queue.add(key)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(self._workers):
                tasks.create_task(self._work(tasks), name=f"{self.name} {number}")

    async def _work(self, tasks: asyncio.TaskGroup) -> None:
        while True:
            key = await self._queue.take()
            begun = self._effects.clock.monotonic()
            delay = await self._attempt(key)
            self.work_done(self._effects.clock.monotonic() - begun)
            self._queue.finish(key)
            if delay is None:
                self._due.pop(key, None)
            else:
                self._wake_later(key, delay, tasks)

    def _wake_later(self, key: Key, seconds: float, tasks: asyncio.TaskGroup) -> None:
        """Look at a key again, once, however often it is looked at before: the earliest time counts."""
        due = self._effects.clock.monotonic() + seconds
        if key not in self._due or due < self._due[key]:
            self._due[key] = due
            tasks.create_task(self._wait(key, due, seconds), name=f"{self.name} later")

    async def _wait(self, key: Key, due: float, seconds: float) -> None:
        await self._effects.clock.sleep(seconds)
        if self._due.get(key) == due:
            del self._due[key]
            self._queue.add(key)

    async def _attempt(self, key: Key) -> float | None:
        """Reconcile once. Seconds until the next try, None if there is nothing to wait for."""
        try:
            delay = await self._reconcile(key)
        except (ApiError, Unreachable) as fault:
            return self._plan_retry(key, fault)
        self._failures.pop(key, None)
        return delay

    def _plan_retry(self, key: Key, fault: ApiError | Unreachable) -> float:
        self.retried += 1
        attempt = self._failures[key] = self._failures.get(key, 0) + 1
        delay = min(_FIRST_DELAY_SECONDS * 2 ** min(attempt - 1, _MOST_DOUBLINGS), _LONGEST_DELAY_SECONDS)
        delay = self._effects.entropy.jitter(delay)
        # Lost races are daily business: the next look starts from what won, or finds that there is nothing to do.
        is_race = isinstance(fault, Conflict | NotFound | AlreadyExists)
        tell = self._effects.log.debug if is_race else self._effects.log.error
        tell("reconciling failed", controller=self.name, key=str(key), attempt=attempt, seconds=delay, err=fault)
        return delay
