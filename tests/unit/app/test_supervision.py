import asyncio
from collections.abc import Iterator

import pytest

from dray.app.supervision import supervise
from dray.client.retrying import Pace
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog

_STEP = 0.125
"""The clock moves in steps; what wakes another sleeper does so a step later."""


class Part:
    """Fails as often as it is told to, then ends."""

    def __init__(self, failures: Iterator[tuple[float, BaseException]], clock: FakeClock) -> None:
        self.failures = failures
        self.clock = clock
        self.begun_at: list[float] = []

    async def run(self) -> None:
        self.begun_at.append(self.clock.monotonic())
        failure = next(self.failures, None)
        if failure is None:
            return
        seconds, fault = failure
        await self.clock.sleep(seconds)
        raise fault


async def play(*failures: tuple[float, BaseException]) -> tuple[Part, MemoryLog]:
    clock, log = FakeClock(), MemoryLog()
    part = Part(iter(failures), clock)
    pace = Pace(clock, SeededEntropy(1), first_seconds=1.0)
    task = asyncio.create_task(supervise("part", part.run, pace, log))
    while not task.done():
        await clock.advance(_STEP)
    await task
    return part, log


def waits(part: Part) -> list[float]:
    return [later - earlier for earlier, later in zip(part.begun_at, part.begun_at[1:], strict=False)]


def test_a_part_that_fails_is_begun_again_after_waits_that_grow() -> None:
    part, log = asyncio.run(play(*[(0.0, ValueError("no"))] * 4))
    assert len(part.begun_at) == 5
    for number, wait in enumerate(waits(part)):
        assert 2.0**number <= wait <= 1.5 * 2.0**number + 2 * _STEP
    assert [entry.facts["attempt"] for entry in log.entries] == [0, 1, 2, 3]


def test_a_part_that_ran_for_long_begins_again_soon() -> None:
    part, _ = asyncio.run(play(*[(0.0, ValueError("no"))] * 3, (100.0, ValueError("no"))))
    assert waits(part)[-1] <= 100.0 + 1.5 + 2 * _STEP


def test_every_failure_of_a_group_is_told() -> None:
    fault = ExceptionGroup("tasks", [ValueError("one"), ExceptionGroup("more", [KeyError("two")])])
    _, log = asyncio.run(play((0.0, fault)))
    (entry,) = log.entries
    assert "ValueError: one" in str(entry.facts["err"])
    assert "KeyError: 'two'" in str(entry.facts["err"])


def test_being_cancelled_is_no_failure() -> None:
    async def scene() -> None:
        clock, log = FakeClock(), MemoryLog()
        part = Part(iter([(1000.0, ValueError("no"))]), clock)
        task = asyncio.create_task(supervise("part", part.run, Pace(clock, SeededEntropy(1)), log))
        await clock.advance(1.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert log.entries == []

    asyncio.run(scene())


def test_a_failure_while_being_cancelled_ends_the_part_for_good() -> None:
    async def scene() -> None:
        begun = 0

        async def run() -> None:
            nonlocal begun
            begun += 1
            try:
                await asyncio.Event().wait()
            finally:
                raise RuntimeError("on the way out")

        task = asyncio.create_task(supervise("part", run, Pace(FakeClock(), SeededEntropy(1)), MemoryLog()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert begun == 1

    asyncio.run(scene())
