"""A whole cluster beside the API server of this process: controllers, a scheduler, nodes with devices."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from prometheus_client import CollectorRegistry, generate_latest

from dray.app.hosting import Beside, Premises
from dray.app.nodes import ClusterNodes, Endpoint, NodePlan, NodeSupplies, share_views
from dray.client.port import NodeStreams
from dray.controllers.assembly import Controllers, choose_controllers
from dray.controllers.basic import BASIC_NAMES
from dray.controllers.commons import Commons
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.runtime import Effects
from dray.effects.claimcreation import ClaimCreations
from dray.node.metrics import NodeMetrics
from dray.scheduler.loop import Scheduler, SchedulerEffects, SchedulerOptions
from dray.scheduler.metrics import SchedulerMetrics

__all__ = ["ClusterOptions", "make_cluster"]


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What the cluster consists of."""

    nodes: NodePlan
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
    creations = ClaimCreations(registry)
    commons = Commons(premises.client, premises.informers, effects, ControllerMetrics(registry, creations))
    controllers = Controllers(commons, choose_controllers(["*"]) - BASIC_NAMES)
    scheduler = Scheduler(
        premises.client,
        premises.informers,
        options.scheduler,
        SchedulerEffects(premises.clock, premises.entropy, premises.log),
        SchedulerMetrics(registry, creations),
    )
    supplies = NodeSupplies(
        client=premises.client,
        clock=premises.clock,
        entropy=premises.entropy,
        log=premises.log,
        views=share_views(premises.informers),
        metrics=NodeMetrics(registry),
    )
    nodes = ClusterNodes(options.nodes, supplies)

    @asynccontextmanager
    async def reach(streams: NodeStreams) -> AsyncIterator[Endpoint]:
        """In this process, for as long as this runs."""
        premises.api.desk.nodes.attach(streams)
        try:
            yield Endpoint()
        finally:
            premises.api.desk.nodes.detach(streams)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(controllers.run(), name="controllers")
        tasks.create_task(scheduler.run(), name="scheduler")
        tasks.create_task(nodes.run(reach), name="nodes")
        await nodes.ready.wait()
        announce(nodes.names)
