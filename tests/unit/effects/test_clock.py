import asyncio

from dray.effects.clock import Clock, FakeClock, SystemClock
from dray.values.times import MicroTime


def test_both_clocks_are_clocks() -> None:
    clocks: list[Clock] = [SystemClock(), FakeClock()]
    for clock in clocks:
        assert clock.now() <= clock.now()
        assert clock.monotonic() <= clock.monotonic()


def test_system_clock_waits_on_the_event_loop() -> None:
    asyncio.run(SystemClock().sleep(0))


def test_fake_clock_stands_still_until_moved() -> None:
    async def scenario() -> None:
        clock = FakeClock()
        assert str(clock.now()) == "2026-01-01T00:00:00.000000Z"
        await clock.advance(1.5)
        assert str(clock.now()) == "2026-01-01T00:00:01.500000Z"
        assert clock.monotonic() == 1.5

    asyncio.run(scenario())


def test_fake_clock_starts_where_told() -> None:
    assert FakeClock(MicroTime(0)).now() == MicroTime(0)


def test_sleepers_wake_in_order_of_deadline_and_may_sleep_again() -> None:
    async def scenario() -> list[tuple[str, float]]:
        clock = FakeClock()
        seen: list[tuple[str, float]] = []

        async def tick(name: str, every: float) -> None:
            while True:
                await clock.sleep(every)
                seen.append((name, clock.monotonic()))

        tasks = [asyncio.create_task(tick("slow", 3)), asyncio.create_task(tick("quick", 2))]
        await clock.advance(6)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await clock.advance(10)
        return seen

    # At six seconds both fall due; the one that lay down first, at three, wakes first.
    assert asyncio.run(scenario()) == [("quick", 2), ("slow", 3), ("quick", 4), ("slow", 6), ("quick", 6)]


def test_sleeping_for_nothing_only_yields() -> None:
    asyncio.run(FakeClock().sleep(0))
