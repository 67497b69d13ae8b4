"""A scheduler at work beside the controllers of claims, on a real API server whose store is in memory."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from prometheus_client import CollectorRegistry

from dray.api.core.kinds import NAMESPACE, NODE, SERVICE_ACCOUNT
from dray.api.core.namespace import Namespace
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.meta import ObjectMeta
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.audit.cluster import audit_cluster
from dray.audit.violations import Violation
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.assembly import Controllers, choose_controllers
from dray.controllers.commons import Commons
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.runtime import Effects
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.scheduler.loop import Scheduler, SchedulerEffects, SchedulerOptions
from dray.scheduler.observing import Nobody
from tests.unit.controllers.cluster import Cluster, Meddled

__all__ = ["Rig", "rigged"]

_QUIET_ROUNDS = 40
"""Turns of the event loop without anything to do, after which nothing is on its way any more."""

_MOST_ROUNDS = 2000
"""Turns after which whoever still has something to do waits for the clock."""

_NAMESPACE = "ml"


class Attempts(Nobody):
    """Counts what is tried."""

    def __init__(self) -> None:
        self.made = 0

    def attempt_made(self, seconds: float) -> None:
        """A pod or a group was tried."""
        self.made += 1


class Rig:
    """Everything that is needed to get pods onto nodes, nodes apart."""

    def __init__(self, cluster: Cluster, options: SchedulerOptions, controllers: Sequence[str]) -> None:
        self.cluster = cluster
        self.options = options
        self._names = controllers
        self.log = MemoryLog()
        self.attempts = Attempts()
        self._seed = 0
        self.scheduler: Scheduler
        self.controllers: Controllers
        self.task: asyncio.Task[None]
        self.start()

    @property
    def client(self) -> Client:
        """For requests of users."""
        return self.cluster.client

    @property
    def errors(self) -> list[str]:
        """What was complained of."""
        return [f"{entry.message} {entry.facts}" for entry in self.log.entries if entry.level == "error"]

    def start(self) -> None:
        """Start scheduler and controllers, with nothing remembered."""
        self._seed += 1
        clock, entropy = self.cluster.clock, SeededEntropy(self._seed)
        client = Meddled(self.cluster)
        informers = SharedInformers(client, Pace(clock, entropy), self.log)
        commons = Commons(client, informers, Effects(clock, entropy, self.log), ControllerMetrics(CollectorRegistry()))
        self.controllers = Controllers(commons, choose_controllers(self._names))
        effects = SchedulerEffects(clock, entropy, self.log)
        self.scheduler = Scheduler(client, informers, self.options, effects, self.attempts)
        self.task = asyncio.create_task(self._run(informers))

    async def _run(self, informers: SharedInformers) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informers.run())
            tasks.create_task(self.controllers.run())
            tasks.create_task(self.scheduler.run())

    async def stop(self) -> None:
        """End at once, in the middle of whatever is done. May come twice."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def settle(self) -> None:
        """Let everybody work until nobody has anything to do, or waits for time to pass."""
        quiet = rounds = 0
        while quiet < _QUIET_ROUNDS and rounds < _MOST_ROUNDS and not self.task.done():
            await asyncio.sleep(0)
            rounds += 1
            quiet = quiet + 1 if self.scheduler.is_idle and self.controllers.is_idle else 0
        if self.task.done():
            self.task.result()

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, and everybody do what was waiting for it."""
        await self.cluster.clock.advance(seconds)
        await self.settle()

    async def audit(self) -> list[Violation]:
        """What is wrong with what is stored."""
        claims = (await self.client.list(RESOURCE_CLAIM)).items
        slices = (await self.client.list(RESOURCE_SLICE)).items
        nodes = (await self.client.list(NODE)).items
        return audit_cluster(claims, slices, nodes)


@asynccontextmanager
async def rigged(
    options: SchedulerOptions | None = None,
    namespaces: Sequence[str] = (),
    controllers: Sequence[str] = ("resourceclaim-controller",),
) -> AsyncIterator[Rig]:
    """Server, controllers and scheduler for the length of a block; every decision is audited."""
    cluster = Cluster()
    for name in (_NAMESPACE, *namespaces):
        labels = {"resource.kubernetes.io/admin-access": "true"}
        thing = NAMESPACE.prepare_create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))
        cluster.put(NAMESPACE, thing)
        cluster.put(SERVICE_ACCOUNT, ServiceAccount(metadata=ObjectMeta(name="default", namespace=name)))
    async with cluster.serving():
        rig = Rig(cluster, options or SchedulerOptions(self_check=True), controllers)
        try:
            await rig.settle()
            yield rig
        finally:
            await rig.stop()
