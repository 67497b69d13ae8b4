"""Waiting no longer than a `Clock` allows, so that timeouts obey the clock of a test or a simulation too."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from dray.effects.clock import Clock

__all__ = ["within"]

T = TypeVar("T")


async def within(clock: Clock, seconds: float, work: Awaitable[T]) -> T:
    """The result of `work`. Raises TimeoutError, and cancels the work, if the clock has gone on by `seconds` first."""
    async with asyncio.timeout(None) as scope:
        timer = asyncio.ensure_future(_expire(clock, seconds, scope))
        try:
            return await work
        finally:
            timer.cancel()


async def _expire(clock: Clock, seconds: float, scope: asyncio.Timeout) -> None:
    await clock.sleep(seconds)
    scope.reschedule(asyncio.get_running_loop().time())
