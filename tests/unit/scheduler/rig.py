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
from dray.scheduler.observing import Nobody, Observer
from tests.unit.controllers.cluster import Cluster, Meddled
from tests.unit.scheduler.quietloop import QuietLoop

__all__ = ["SCHEDULER", "TOGETHER", "Rig", "rigged"]

SCHEDULER = "scheduler"
TOGETHER = "controllers and scheduler"
"""The name of a process that is both."""

_NAMESPACE = "ml"


class Attempts(Nobody):
    """Counts what is tried."""

    def __init__(self) -> None:
        self.made = 0

    def attempt_made(self, seconds: float) -> None:
        """A pod or a group was tried."""
        self.made += 1


class Process:
    """Some of the parts, with views of their own. Nothing is remembered from before it started."""

    def __init__(self, name: str, rig: "Rig") -> None:
        self.name = name
        cluster, log = rig.cluster, rig.log
        clock, entropy = cluster.clock, SeededEntropy(rig.draw_seed())
        client = Meddled(cluster, name)
        self._informers = SharedInformers(client, Pace(clock, entropy), log)
        self._parts: list[Controllers | Scheduler] = []
        if name != SCHEDULER:
            effects, metrics = Effects(clock, entropy, log), ControllerMetrics(CollectorRegistry())
            self._parts.append(Controllers(Commons(client, self._informers, effects, metrics), rig.chosen))
        if SCHEDULER in name:
            effects_ = SchedulerEffects(clock, entropy, log)
            self._parts.append(Scheduler(client, self._informers, rig.options, effects_, rig.observer))
        self.task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._informers.run())
            for part in self._parts:
                tasks.create_task(part.run())

    async def stop(self) -> None:
        """End at once, in the middle of whatever is done. May come twice."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)


class Rig:
    """Everything that is needed to get pods onto nodes, nodes apart."""

    def __init__(
        self, cluster: Cluster, options: SchedulerOptions, controllers: Sequence[str], processes: Sequence[str]
    ) -> None:
        self.cluster = cluster
        self.options = options
        self.chosen = choose_controllers(controllers)
        self.log = MemoryLog()
        self.attempts = Attempts()
        self.observer: Observer = self.attempts
        """Who watches schedulers that are started from now on."""
        self.crashed: set[str] = set()
        """Processes that are to be ended."""
        self._resting: asyncio.Future[None] | None = None
        self._seed = 0
        self._names = processes
        self._processes: dict[str, Process] = {}
        self.start()

    @property
    def client(self) -> Client:
        """For requests of users."""
        return self.cluster.client

    @property
    def errors(self) -> list[str]:
        """What was complained of."""
        return [f"{entry.message} {entry.facts}" for entry in self.log.entries if entry.level == "error"]

    def draw_seed(self) -> int:
        """Where the chance of a process begins; never the same twice."""
        self._seed += 1
        return self._seed

    def start(self) -> None:
        """Start everybody, with nothing remembered."""
        self._processes = {name: Process(name, self) for name in self._names}

    async def stop(self) -> None:
        """End everybody at once, in the middle of whatever is done. May come twice."""
        for process in self._processes.values():
            await process.stop()

    async def restart(self) -> None:
        """End processes that crashed, and start them again."""
        for name in sorted(self.crashed):
            await self._processes[name].stop()
            self.crashed.discard(name)
            self._processes[name] = Process(name, self)

    async def settle(self) -> None:
        """Let everybody work until nobody has anything to do, or waits for time to pass, or a process crashes."""
        loop = asyncio.get_running_loop()
        assert isinstance(loop, QuietLoop), "to be run by run_quietly"
        if not self.crashed:
            self._resting = loop.watch()
            try:
                await self._resting
            finally:
                loop.look_away()
        for process in self._processes.values():
            if process.task.done():
                process.task.result()

    def crash(self, name: str) -> None:
        """Something ends a process: nothing else happens before `restart`."""
        self.crashed.add(name)
        if self._resting is not None and not self._resting.done():
            self._resting.set_result(None)

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
    processes: Sequence[str] = (TOGETHER,),
) -> AsyncIterator[Rig]:
    """Server, controllers and scheduler for the length of a block; every decision is audited.

    A process is the scheduler, or controllers by whatever name, or both.
    """
    cluster = Cluster()
    for name in (_NAMESPACE, *namespaces):
        labels = {"resource.kubernetes.io/admin-access": "true"}
        thing = NAMESPACE.prepare_create(Namespace(metadata=ObjectMeta(name=name, labels=labels)))
        cluster.put(NAMESPACE, thing)
        cluster.put(SERVICE_ACCOUNT, ServiceAccount(metadata=ObjectMeta(name="default", namespace=name)))
    async with cluster.serving():
        rig = Rig(cluster, options or SchedulerOptions(self_check=True), controllers, processes)
        try:
            await rig.settle()
            yield rig
        finally:
            await rig.stop()
