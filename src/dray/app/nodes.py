"""The nodes of a cluster in this process: from what was asked for to agents, drivers and devices."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from dray.api.core.kinds import NODE, POD
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_SLICE
from dray.app.housing import House, Housing, MachineHousing, SimulatedHousing, check_sockets
from dray.app.nodegroups import NodeGroup, PlannedNode, plan_nodes
from dray.app.settings import NodeSettings
from dray.app.wishes import RuntimeChoice
from dray.client.informer import Informer
from dray.client.nodeendpoint import SERVING_CERTIFICATE
from dray.client.port import Client, NodeStreams, ObjectName
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.driver.cdifiles import CdiMemory, CdiStore
from dray.driver.checkpoint import Checkpoint, CheckpointMemory
from dray.driver.claims import AllocatedDevice, Claim, Prepared
from dray.driver.devices import Devices
from dray.driver.local import LocalDriver, LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.port import DriverFromCallbacks
from dray.driver.published import SharedWatch, SliceWatches
from dray.drivers.sim.catalog import Equipment
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.fleet import list_shared_devices, make_attacher, make_drivers
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import AlreadyExists, Forbidden, NotFound
from dray.node.agent import NodeParts, ResidentDriver
from dray.node.fleet import Fleet, FleetParts, open_fleet
from dray.node.localdrivers import connect_local
from dray.node.machine import describe_machine
from dray.node.metrics import NodeMetrics
from dray.node.registration import NodeFacts

__all__ = ["ClusterNodes", "Endpoint", "NodePlan", "NodeSupplies", "NodeViews", "Reach", "share_views"]


class Endpoint(Struct, frozen=True):
    """Where the agents of this process answer the API server; a port of 0 says that they are in its process."""

    host_ip: str = "127.0.0.1"
    port: int = 0
    certificate: str = ""
    """In PEM."""


Reach = Callable[[NodeStreams], AbstractAsyncContextManager[Endpoint]]
"""Lets the API server reach containers for the length of a block, and says where."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePlan:
    """Which nodes there are to be, and what runs their containers."""

    groups: Sequence[NodeGroup]
    runtime: RuntimeChoice = RuntimeChoice.SIMULATED
    folder: Path = Path()
    """Where nodes on this machine keep what they have, each in a folder of its own."""
    departed: Sequence[str] = ()
    """Nodes that there were once, and that are to go."""
    settings: NodeSettings = field(default_factory=NodeSettings)

    @property
    def nodes(self) -> Sequence[PlannedNode]:
        """One by one."""
        return list(plan_nodes(self.groups))

    def is_local(self, node: PlannedNode) -> bool:
        """Whether containers of a node are processes of this machine."""
        return node.is_machine or self.runtime is RuntimeChoice.PROCESS

    @property
    def local_count(self) -> int:
        """On how many nodes containers are processes of this machine."""
        return sum(map(self.is_local, self.nodes))

    def check(self) -> None:
        """Find out whether nodes can be as planned. Raises PathTooLong."""
        for node in self.nodes:
            if self.is_local(node):
                check_sockets(self.folder, node.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeViews:
    """What agents and drivers see of the cluster. Whoever made the informers runs them."""

    pods: Informer[Pod]
    nodes: Informer[Node]
    slices: SliceWatches


def share_views(informers: SharedInformers) -> NodeViews:
    """Views of everything, which the rest of the process has, too."""
    slices = SharedWatch(informers.get(RESOURCE_SLICE))
    return NodeViews(pods=informers.get(POD), nodes=informers.get(NODE), slices=slices)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSupplies:
    """What nodes work with."""

    client: Client
    clock: Clock
    entropy: Entropy
    log: Log
    views: NodeViews
    metrics: NodeMetrics | None = None

    @property
    def pace(self) -> Pace:
        """How long to wait for an API server that fails."""
        return Pace(self.clock, self.entropy)


@dataclass(frozen=True, slots=True)
class _Site:
    """What the nodes of one run share."""

    fleet: Fleet
    endpoint: Endpoint
    local: MachineHousing


class ClusterNodes:
    """All of them, with their drivers. `ready` is set once every node is registered and its devices are published."""

    def __init__(self, plan: NodePlan, supplies: NodeSupplies) -> None:
        self.ready = asyncio.Event()
        self._plan = plan
        self._nodes = plan.nodes
        self._equipments = [group.equipment for group in plan.groups]
        self._supplies = supplies
        self._faults = FaultBoard()
        self._simulated = SimulatedHousing()
        self._metrics: dict[str, DriverMetrics] = {}
        self._pending = len(self._nodes)

    @property
    def ready_count(self) -> int:
        """How many are."""
        return len(self._nodes) - self._pending

    @property
    def names(self) -> list[str]:
        """The names of the nodes, in the order in which they were asked for."""
        return [each.name for each in self._nodes]

    async def run(self, reach: Reach) -> None:
        """Serve until cancelled. `reach` lets the API server reach the containers."""
        supplies = self._supplies
        supplies.views.nodes.add_handler(self._faults.note)
        await _remove_nodes(supplies.client, self._plan.departed)
        await _ensure_classes(supplies.client, self._equipments, supplies.log)
        fleet_parts = FleetParts(
            client=supplies.client,
            clock=supplies.clock,
            entropy=supplies.entropy,
            log=supplies.log,
            pods=supplies.views.pods,
            metrics=supplies.metrics,
            prepare_retry_seconds=self._plan.settings.prepare_retry_seconds,
        )
        async with (
            open_fleet(fleet_parts) as fleet,
            reach(fleet.streams) as endpoint,
            asyncio.TaskGroup() as tasks,
        ):
            site = _Site(fleet, endpoint, MachineHousing(self._plan.folder, endpoint.host_ip))
            for name, devices in list_shared_devices(self._equipments).items():
                tasks.create_task(self._publish_shared(name, devices), name=f"shared devices of {name}")
            attacher = make_attacher(self._equipments, supplies.client, supplies.pace, supplies.log)
            if attacher is not None:
                tasks.create_task(attacher.run(), name="attach devices")
            if not self._nodes:
                self.ready.set()
            for node in self._nodes:
                tasks.create_task(self._run_node(site, node), name=f"node {node.name}")

    async def _run_node(self, site: _Site, node: PlannedNode) -> None:
        housing: Housing = site.local if self._plan.is_local(node) else self._simulated
        async with AsyncExitStack() as stack:
            house = await stack.enter_async_context(housing.open(node.name, site.fleet.around))
            # Drivers publish their devices for a node that is there.
            await site.fleet.register(_describe(node, house, site.endpoint))
            drivers: list[LocalDriver] = []
            for driver in make_drivers(node.equipment, self._faults):
                kept = await stack.enter_async_context(house.keep_driver(driver.name))
                place = self._place(node.name, driver.name, house.cdi, kept)
                drivers.append(await stack.enter_async_context(open_local_driver(driver, place)))
            parts = NodeParts(
                name=node.name,
                runtime=house.runtime,
                checkpoint=house.checkpoint,
                host_ip=site.endpoint.host_ip,
                plugin_root=house.root,
                resident_drivers=[ResidentDriver(each.name, connect_local(node.name, each)) for each in drivers],
            )
            await site.fleet.start_agent(parts)
            for each in drivers:
                await each.host.wait_published()
            self._pending -= 1
            if not self._pending:
                self.ready.set()
            await asyncio.Event().wait()

    async def _publish_shared(self, name: str, devices: Devices) -> None:
        async def tell() -> Devices:
            return devices

        async def prepare(claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
            raise NotImplementedError("devices are prepared by the driver of the node")

        driver = DriverFromCallbacks(name, devices=tell, prepare=prepare)
        async with open_local_driver(driver, self._place("", name, CdiMemory(), CheckpointMemory())):
            await asyncio.Event().wait()

    def _place(self, node: str, driver: str, cdi: CdiStore, kept: Checkpoint) -> LocalNode:
        supplies = self._supplies
        return LocalNode(
            name=node,
            client=supplies.client,
            watches=supplies.views.slices,
            pace=supplies.pace,
            log=supplies.log,
            metrics=self._metrics.setdefault(driver, DriverMetrics(driver)),
            cdi=cdi,
            checkpoint=kept,
        )


def _describe(node: PlannedNode, house: House, endpoint: Endpoint) -> NodeFacts:
    version = house.runtime.version
    facts = describe_machine(node.name, version) if node.is_machine else _describe_planned(node, version)
    annotations = {SERVING_CERTIFICATE: endpoint.certificate} if endpoint.port else {}
    return replace(facts, host_ip=endpoint.host_ip, port=endpoint.port, annotations=annotations)


def _describe_planned(node: PlannedNode, version: str) -> NodeFacts:
    return NodeFacts(
        name=node.name,
        runtime_version=version,
        capacity=node.capacity,
        labels=node.labels,
        taints=node.taints,
        architecture=node.architecture,
    )


async def _remove_nodes(client: Client, names: Iterable[str]) -> None:
    """Delete nodes that nobody runs any more; their slices and pods follow."""
    for name in names:
        try:
            await client.delete(NODE, ObjectName(name))
        except NotFound:
            continue


async def _ensure_classes(client: Client, equipments: Sequence[Equipment], log: Log) -> None:
    """Create the DeviceClasses that the drivers bring along; those that are there stay as they are."""
    classes: dict[str, DeviceClass] = {
        each.metadata.name: each for equipment in equipments for each in equipment.classes()
    }
    for each in classes.values():
        try:
            await client.create(DEVICE_CLASS, each)
        except AlreadyExists:
            continue
        except Forbidden as fault:  # an agent that runs apart may have fewer rights than its administrator
            log.info("device class is not created", name=each.metadata.name, err=fault)
