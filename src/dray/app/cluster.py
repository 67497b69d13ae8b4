"""A whole cluster beside the API server of this process: controllers, a scheduler, simulated nodes with devices."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest

from dray.app.hosting import Beside, Premises
from dray.app.simulatednodes import NodeGroup, SimulatedNodes, SimulationParts
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

    with ExitStack() as attached:

        def follow(fleet: Fleet) -> None:
            """Reach the containers of the fleet's nodes, for as long as this runs."""
            streams = fleet.streams
            premises.api.desk.nodes.attach(streams)
            attached.callback(premises.api.desk.nodes.detach, streams)

        await _run_all(scheduler, commons, SimulatedNodes(options.nodes, parts, follow), announce)


async def _run_all(
    scheduler: Scheduler, commons: Commons, nodes: SimulatedNodes, announce: Callable[[Sequence[str]], None]
) -> None:
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(Controllers(commons, choose_controllers(["*"])).run(), name="controllers")
        tasks.create_task(scheduler.run(), name="scheduler")
        tasks.create_task(nodes.run(), name="simulated nodes")
        await nodes.ready.wait()
        announce(nodes.names)
