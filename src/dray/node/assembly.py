"""Simulated nodes, put together: agent, runtime, and drivers in this process."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from dray.api.core.taints import Taint
from dray.client.port import Client
from dray.driver.cdi import CdiSpec
from dray.driver.cdifiles import CdiMemory
from dray.driver.local import LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.published import SliceWatches
from dray.node.agent import NodeAgent, NodeParts, ResidentDriver
from dray.node.checkpoint import NoCheckpoint
from dray.node.fleet import Fleet
from dray.node.localdrivers import connect_local
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiSpecs
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.values.quantity import Quantity

__all__ = ["SimulatedNode", "SimulatedSite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulatedNode:
    """A node that is made up: its name, its drivers, what else is said of it."""

    name: str
    drivers: Sequence[Driver] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    capacity: Mapping[str, Quantity] = field(default_factory=dict)
    taints: tuple[Taint, ...] = ()


class SimulatedSite:
    """Where simulated nodes stand: they share addresses, one watch of slices, and metrics of each driver.

    Drivers end when `stack` is closed, which its owner does before the fleet ends. `client` is what drivers use.
    """

    def __init__(self, fleet: Fleet, client: Client, slices: SliceWatches, stack: AsyncExitStack) -> None:
        self._fleet = fleet
        self._client = client
        self._slices = slices
        self._stack = stack
        self._network = SimulatedNetwork()
        self._metrics: dict[str, DriverMetrics] = {}

    async def add_node(self, node: SimulatedNode) -> NodeAgent:
        """Start a node's drivers, register it, and run its pods from then on."""
        around = self._fleet.around
        files: list[CdiMemory] = []
        residents: list[ResidentDriver] = []
        for driver in node.drivers:
            cdi = CdiMemory()
            local = LocalNode(
                name=node.name,
                client=self._client,
                watches=self._slices,
                pace=around.pace,
                log=around.log,
                metrics=self._metrics.setdefault(driver.name, DriverMetrics(driver.name)),
                cdi=cdi,
            )
            running = await self._stack.enter_async_context(open_local_driver(driver, local))
            files.append(cdi)
            residents.append(ResidentDriver(driver.name, connect_local(node.name, running)))

        def list_specs() -> list[CdiSpec]:
            return [spec for each in files for spec in each.specs.values()]

        runtime = SimulatedRuntime(around.clock, around.timers, CdiSpecs(list_specs), self._network)
        facts = NodeFacts(
            node.name,
            runtime.version,
            capacity=node.capacity,
            labels=node.labels,
            taints=node.taints,
            os_image="simulated",
        )
        parts = NodeParts(name=node.name, runtime=runtime, checkpoint=NoCheckpoint(), resident_drivers=residents)
        return await self._fleet.add_node(facts, parts)
