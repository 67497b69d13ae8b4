"""All controllers, or some of them, at work on a cluster."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry

from dray.api.registry import AnyKind
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.assembly import Controllers, choose_controllers
from dray.controllers.commons import Commons
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.runtime import Effects
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.unit.controllers.cluster import Cluster, Meddled

__all__ = ["Crew", "working_crew"]

_QUIET_ROUNDS = 30
"""Turns of the event loop without anything to do, after which nothing is on its way any more."""


class Crew:
    """Controllers, the cluster they work on, and the clock they wait by."""

    def __init__(
        self, cluster: Cluster, names: Sequence[str], client: Client | None = None, first: Sequence[AnyKind] = ()
    ) -> None:
        self.cluster = cluster
        self.log = MemoryLog()
        self.registry = CollectorRegistry()
        effects = Effects(cluster.clock, SeededEntropy(7), self.log)
        client = client or Meddled(cluster)
        self._informers = SharedInformers(client, Pace(effects.clock, effects.entropy), self.log)
        for kind in first:
            self._informers.get(kind)
        commons = Commons(client, self._informers, effects, ControllerMetrics(self.registry))
        self.controllers = Controllers(commons, choose_controllers(names))
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._informers.run())
            tasks.create_task(self.controllers.run())

    @property
    def client(self) -> Client:
        """For requests of others than the controllers."""
        return self.cluster.client

    @property
    def errors(self) -> list[str]:
        """What the controllers complained of."""
        return [f"{entry.message} {entry.facts}" for entry in self.log.entries if entry.level == "error"]

    async def stop(self) -> None:
        """End at once, in the middle of whatever is done. May come twice."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

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
async def working_crew(
    cluster: Cluster, names: Sequence[str] = ("*",), client: Client | None = None, first: Sequence[AnyKind] = ()
) -> AsyncIterator[Crew]:
    """Controllers for the length of a block, on a server that is open; it begins once they have done what was to do.

    They hear of the kinds in `first` before they hear of others.
    """
    crew = Crew(cluster, names, client, first)
    try:
        await crew.settle()
        yield crew
    finally:
        await crew.stop()
