"""A whole cluster beside the API server of this process: controllers, a scheduler, simulated nodes with devices."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest

from dray.app.simulatednodes import NodeGroup, SimulatedNodes, SimulationParts
from dray.app.up import Beside, Premises
from dray.controllers.assembly import Controllers, choose_controllers
from dray.controllers.commons import Commons
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.runtime import Effects
from dray.node.fleet import Fleet
from dray.scheduler.loop import Scheduler, SchedulerEffects, SchedulerOptions

__all__ = ["ClusterOptions", "make_cluster"]


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What the cluster consists of."""

    nodes: Sequence[NodeGroup]
    scheduler: SchedulerOptions = field(default_factory=SchedulerOptions)


def make_cluster(options: ClusterOptions, announce: Callable[[Sequence[str]], None]) -> Beside:
    """The cluster, to be run beside an API server. `announce` gets the nodes' names once all of them are ready."""

    async def run(premises: Premises) -> None:
        await _run(options, premises, announce)

    return run


async def _run(options: ClusterOptions, premises: Premises, announce: Callable[[Sequence[str]], None]) -> None:
    registry = CollectorRegistry()
    premises.api.site.show_metrics("cluster", lambda: generate_latest(registry).decode())
    effects = Effects(premises.clock, premises.entropy, premises.log)
    commons = Commons(premises.client, premises.informers, effects, ControllerMetrics(registry))
    scheduler = Scheduler(
        premises.client,
        premises.informers,
        options.scheduler,
        SchedulerEffects(premises.clock, premises.entropy, premises.log),
    )
    parts = SimulationParts(
        client=premises.client,
        informers=premises.informers,
        clock=premises.clock,
        entropy=premises.entropy,
        log=premises.log,
    )

    def follow(fleet: Fleet) -> None:
        """Reach the containers of the fleet's nodes."""

    nodes = SimulatedNodes(options.nodes, parts, follow)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Controllers(commons, choose_controllers(["*"])).run(), name="controllers")
        tasks.create_task(scheduler.run(), name="scheduler")
        tasks.create_task(nodes.run(), name="simulated nodes")
        await nodes.ready.wait()
        announce(nodes.names)
