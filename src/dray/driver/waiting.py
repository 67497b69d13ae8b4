"""Waiting for an event or for time to pass, whichever comes first."""

import asyncio

from dray.effects.clock import Clock

__all__ = ["wait_for_event"]


async def wait_for_event(event: asyncio.Event, clock: Clock, seconds: float | None) -> bool:
    """Wait until `event` is set, at most so long; None waits for ever. Returns whether it is set."""
    if event.is_set() or seconds is None:
        return await event.wait()
    waits = [asyncio.ensure_future(event.wait()), asyncio.ensure_future(clock.sleep(seconds))]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in waits:
            each.cancel()
        await asyncio.gather(*waits, return_exceptions=True)
    return event.is_set()
