"""Many alarms on one clock."""

import asyncio

import pytest

from dray.effects.clock import FakeClock
from dray.node.timers import Timers

PATIENCE_SECONDS = 20.0


async def settle(turns: int = 10) -> None:
    for _ in range(turns):
        await asyncio.sleep(0)


async def end(running: asyncio.Task[None]) -> bool:
    """Cancel it; whether it ended."""
    running.cancel()
    done, _ = await asyncio.wait([running], timeout=PATIENCE_SECONDS)
    return bool(done)


async def test_alarms_ring_in_the_order_in_which_they_fall_due() -> None:
    clock = FakeClock()
    timers, rung = Timers(clock), list[str]()
    running = asyncio.ensure_future(timers.run())
    await settle()
    timers.set(3.0, lambda: rung.append("third"))
    timers.set(1.0, lambda: rung.append("first"))
    timers.set(2.0, lambda: rung.append("second"))
    silent = timers.set(1.5, lambda: rung.append("never"))
    silent.cancel()
    assert not silent.is_set
    await settle()
    for want in (["first"], ["first", "second"], ["first", "second", "third"]):
        await clock.advance(1.0)
        await settle()
        assert rung == want
    timers.set(0.0, lambda: rung.append("now"))
    await settle()
    assert rung[-1] == "now"
    assert await end(running)


@pytest.mark.parametrize("turns", range(6))
async def test_they_end_when_they_are_cancelled_just_as_they_wake(turns: int) -> None:
    timers = Timers(FakeClock())
    timers.set(60.0, lambda: None)
    running = asyncio.ensure_future(timers.run())
    await settle()
    timers.set(1.0, lambda: None)
    await settle(turns)
    assert await end(running)
