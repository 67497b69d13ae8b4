"""Controllers at work on a cluster, until there is nothing left to do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dray.api.registry import SERVED
from dray.client.port import Client
from dray.controllers.basic import BasicControllers
from dray.controllers.runtime import Effects
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.unit.controllers.cluster import Cluster, Meddled

__all__ = ["ROOT_CA", "Cluster", "Running", "running", "working"]

ROOT_CA = "-----BEGIN CERTIFICATE-----"
_QUIET_ROUNDS = 30
"""Turns of the event loop without anything to do, after which nothing is on its way any more."""


class Running:
    """Controllers, the cluster they work on, and the clock they wait by."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.log = MemoryLog()
        effects = Effects(cluster.clock, SeededEntropy(7), self.log)
        self.controllers = BasicControllers(Meddled(cluster), SERVED, ROOT_CA, effects)
        self.task = asyncio.create_task(self.controllers.run())

    @property
    def client(self) -> Client:
        """For requests of others than the controllers."""
        return self.cluster.client

    @property
    def errors(self) -> list[str]:
        """What the controllers complained of."""
        return [f"{entry.message} {entry.facts}" for entry in self.log.entries if entry.level == "error"]

    async def settle(self) -> None:
        """Let everybody work until nobody has anything to do."""
        quiet = 0
        while quiet < _QUIET_ROUNDS and not self.task.done():
            await asyncio.sleep(0)
            quiet = quiet + 1 if self.controllers.is_idle else 0

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and everybody do what was waiting for it."""
        await self.cluster.clock.advance(seconds)
        await self.settle()


@asynccontextmanager
async def working(cluster: Cluster) -> AsyncIterator[Running]:
    """Controllers for the length of a block, on a server that is open; it begins once they have done what was to do."""
    world = Running(cluster)
    try:
        await world.settle()
        yield world
    finally:
        world.task.cancel()
        await asyncio.gather(world.task, return_exceptions=True)


@asynccontextmanager
async def running(cluster: Cluster) -> AsyncIterator[Running]:
    """Server and controllers for the length of a block."""
    async with cluster.serving(), working(cluster) as world:
        yield world
