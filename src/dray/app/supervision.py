"""Parts of a running process that are begun again when they fail."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from dray.client.retrying import Pace
from dray.effects.log import Log

__all__ = ["supervise"]

_STEADY_SECONDS: Final = 60.0
"""Whoever ran for so long was sound: its next failure counts as the first."""


async def supervise(name: str, run: Callable[[], Awaitable[None]], pace: Pace, log: Log) -> None:
    """Run a part until cancelled, or until it ends by itself; after a failure, again, after a wait that grows."""
    attempt = 0
    while True:
        begun = pace.clock.monotonic()
        try:
            await run()
        except Exception as fault:  # the outermost frame of the part's tasks: whatever failed, the others go on
            if _is_cancelled():
                # What fails while it is being ended has ended, which is all that was asked.
                log.debug("part failed while it ended", part=name, err=_describe(fault))
                raise asyncio.CancelledError from fault
            if pace.clock.monotonic() - begun > _STEADY_SECONDS:
                attempt = 0
            log.error("part failed, and is begun again", part=name, attempt=attempt, err=_describe(fault))
            await pace.pause(attempt)
            attempt += 1
        else:
            return


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _describe(fault: BaseException) -> str:
    """Every failure of a group, by type and text, with the place in our code where it came from."""
    if isinstance(fault, BaseExceptionGroup):
        return "; ".join(map(_describe, fault.exceptions))
    trace, place = fault.__traceback__, ""
    while trace is not None:
        place = f" at {trace.tb_frame.f_globals.get('__name__', '?')}:{trace.tb_lineno}"
        trace = trace.tb_next
    return f"{type(fault).__name__}: {fault}{place}"
