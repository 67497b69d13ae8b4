"""A whole cluster in this process for measuring: server, durable store, controllers, scheduler; nodes are objects."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from prometheus_client import CollectorRegistry

from dray.api.core.kinds import SERVICE_ACCOUNT
from dray.app.serverwire import wire_entropy, wire_judge, wire_store
from dray.app.wire import wire_clock, wire_registry
from dray.client.informer import Informer
from dray.client.port import Client, ObjectName
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.assembly import CONTROLLER_NAMES, Controllers
from dray.controllers.basic import BASIC_NAMES, BasicControllers
from dray.controllers.commons import Commons
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.runtime import Effects
from dray.effects.log import MemoryLog
from dray.scheduler.loop import Scheduler, SchedulerEffects, SchedulerOptions
from dray.scheduler.observing import Nobody
from dray.server.assembly import MASTER, ServerParts, open_api_server
from dray.server.inprocess import InProcessClient
from dray.server.ports import Authorizer, User, View

__all__ = ["NAMESPACE_NAME", "BenchCluster", "open_bench_cluster"]

NAMESPACE_NAME: Final = "default"


class _Nobody:
    """Knows nobody: requests come from within."""

    def identify(self, headers: Iterable[tuple[bytes, bytes]], peer: User | None) -> User:
        raise AssertionError("requests in this process carry no credentials")


class AttemptCount(Nobody):
    """Counts how often pods or groups were tried; an observer of the scheduler."""

    def __init__(self) -> None:
        self.count = 0

    def attempt_made(self, seconds: float) -> None:
        """Count it."""
        self.count += 1


@dataclass(frozen=True, slots=True)
class BenchCluster:
    """A cluster at work. `client` is a user's; views are shared by all parts."""

    client: Client
    informers: SharedInformers
    scheduler: Scheduler
    attempts: AttemptCount


def _identify(view: View, authorizer: Authorizer) -> tuple[_Nobody, None]:
    return _Nobody(), None


@asynccontextmanager
async def open_bench_cluster(folder: Path) -> AsyncIterator[BenchCluster]:
    """A cluster for the length of a block, on a data directory. Everything in it is durable."""
    clock, entropy, log = wire_clock(), wire_entropy(), MemoryLog()
    async with wire_store(folder) as store:
        parts = ServerParts(
            kinds=tuple(wire_registry()),
            store=store,
            clock=clock,
            entropy=entropy,
            judge=wire_judge(),
            identity=_identify,
            log=log,
        )
        async with open_api_server(parts) as api, asyncio.TaskGroup() as tasks:
            manager = InProcessClient(api.desk, MASTER, "kube-controller-manager")
            effects = Effects(clock, entropy, log)
            informers = SharedInformers(manager, Pace(clock, entropy), log)
            basic = BasicControllers(manager, wire_registry(), "", effects, informers)
            commons = Commons(manager, informers, effects, ControllerMetrics(CollectorRegistry()))
            controllers = Controllers(commons, frozenset(CONTROLLER_NAMES) - BASIC_NAMES)
            own = InProcessClient(api.desk, MASTER, "kube-scheduler")
            attempts = AttemptCount()
            scheduler = Scheduler(own, informers, SchedulerOptions(), SchedulerEffects(clock, entropy, log), attempts)
            runs = (informers.run(), basic.run(), controllers.run(), scheduler.run())
            running = [tasks.create_task(run) for run in runs]
            user = InProcessClient(api.desk, MASTER, "kubectl")
            await _wait_for_account(informers.get(SERVICE_ACCOUNT))
            yield BenchCluster(user, informers, scheduler, attempts)
            for task in running:
                task.cancel()


async def _wait_for_account(accounts: Informer[Any]) -> None:
    """Pods need the account that a controller makes in their namespace."""
    made = asyncio.Event()
    name = ObjectName("default", NAMESPACE_NAME)
    accounts.add_handler(lambda change: made.set() if change.name == name else None)
    await made.wait()
