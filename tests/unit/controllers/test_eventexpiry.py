import asyncio

from dray.api.core.event import Event
from dray.api.core.kinds import EVENT
from dray.api.meta import ObjectMeta
from dray.effects.clock import FakeClock
from tests.unit.controllers.running import Cluster, running

START = FakeClock.START.to_time()


def test_events_go_an_hour_after_they_were_last_heard_of() -> None:
    async def scenario() -> None:
        cluster = Cluster()
        old = START.plus_seconds(-3000)
        cluster.put(EVENT, Event(metadata=ObjectMeta(name="old", creation_timestamp=old)))
        cluster.put(EVENT, Event(metadata=ObjectMeta(name="again", creation_timestamp=old), last_timestamp=START))
        cluster.put(EVENT, Event(metadata=ObjectMeta(name="new", creation_timestamp=old), event_time=FakeClock.START))
        async with running(cluster) as world:
            assert cluster.names(EVENT) == ["again", "new", "old"]
            for _ in range(4):
                await world.pass_time(300)
            assert cluster.names(EVENT) == ["again", "new"]
            for _ in range(10):
                await world.pass_time(300)
            assert cluster.names(EVENT) == []

    asyncio.run(scenario())
