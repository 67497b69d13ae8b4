"""Controllers at work on a cluster in memory, until there is nothing left to do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dray.api.core.kinds import NAMESPACE
from dray.api.core.namespace import Namespace
from dray.api.meta import ObjectMeta
from dray.api.registry import SERVED
from dray.controllers.basic import BasicControllers
from dray.controllers.runtime import Effects
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.unit.controllers.cluster import Cluster

ROOT_CA = "-----BEGIN CERTIFICATE-----"
_QUIET_ROUNDS = 30
"""Turns of the event loop without anything to do, after which nothing is on its way any more."""


class Running:
    """Controllers, the cluster they work on, and the clock they wait by."""

    def __init__(self, cluster: Cluster, clock: FakeClock) -> None:
        self.cluster = cluster
        self.clock = clock
        self.log = MemoryLog()
        self.task: asyncio.Task[None] | None = None
        effects = Effects(clock, SeededEntropy(7), self.log)
        self.controllers = BasicControllers(cluster, SERVED, ROOT_CA, effects)

    async def settle(self) -> None:
        """Let everybody work until nobody has anything to do."""
        quiet = 0
        while quiet < _QUIET_ROUNDS and not (self.task and self.task.done()):
            await asyncio.sleep(0)
            quiet = quiet + 1 if self.controllers.is_idle else 0

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and everybody do what was waiting for it."""
        await self.clock.advance(seconds)
        await self.settle()


def make_cluster() -> tuple[Cluster, FakeClock]:
    """A cluster with one namespace, `ml`."""
    clock = FakeClock()
    cluster = Cluster(clock)
    cluster.put(NAMESPACE, NAMESPACE.prepare_create(Namespace(metadata=ObjectMeta(name="ml"))))
    return cluster, clock


@asynccontextmanager
async def running(cluster: Cluster, clock: FakeClock) -> AsyncIterator[Running]:
    """Controllers for the length of a block; it begins once they have done what was to do."""
    world = Running(cluster, clock)
    world.task = task = asyncio.create_task(world.controllers.run())
    try:
        await world.settle()
        yield world
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
