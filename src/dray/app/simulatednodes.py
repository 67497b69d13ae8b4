"""Simulated nodes in this process: from the names of profiles to agents, drivers and devices."""

import asyncio
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

from msgspec import Struct

from dray.api.core.kinds import NODE, POD
from dray.api.core.taints import Taint
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import DEVICE_CLASS, RESOURCE_SLICE
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.driver.cdifiles import CdiMemory
from dray.driver.claims import AllocatedDevice, Claim, Prepared
from dray.driver.devices import Devices
from dray.driver.local import LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.port import DriverFromCallbacks
from dray.driver.published import SharedWatch
from dray.drivers.sim.catalog import Equipment, parse_equipment
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.fleet import list_shared_devices, make_attacher, make_drivers
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import AlreadyExists, DrayError
from dray.node.agent import NodeParts, ResidentDriver
from dray.node.checkpoint import NoCheckpoint
from dray.node.fleet import Fleet, FleetParts, open_fleet
from dray.node.localdrivers import connect_local
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiSpecs
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.values.quantity import parse_quantity

__all__ = ["NodeGroup", "NodeGroupError", "SimulatedNodes", "SimulationParts", "parse_node_groups"]

_GROUP: Final = re.compile(r"(?P<equipment>.+?)(?::(?P<count>[0-9]+))?", re.DOTALL)
_MOST_NODES: Final = 10_000
"""Of one group: more do not fit into one process, so a larger number is a slip."""
_CONTROL_PLANE: Final = "control-plane"
"""The equipment of a node that has no devices, and that pods keep away from."""
_CONTROL_PLANE_KEY: Final = "node-role.kubernetes.io/control-plane"


class NodeGroupError(DrayError):
    """A group of nodes is not as `PROFILE[:COUNT]`."""


class NodeGroup(Struct, frozen=True):
    """Nodes that are alike: how many, and what each of them has."""

    count: int
    equipment: Equipment
    is_control_plane: bool = False

    @property
    def title(self) -> str:
        """How names of its nodes begin: as its first profile."""
        return re.split(r"[:+]", self.equipment.text)[0]


def parse_node_groups(texts: Iterable[str]) -> list[NodeGroup]:
    """Read `dgx-h100`, `dgx-h100:mig+rdma-nic:4` and their like. Raises NodeGroupError, ProfileError."""
    return [_parse_group(text) for text in texts]


def _parse_group(text: str) -> NodeGroup:
    match = _GROUP.fullmatch(text)
    if match is None:
        raise NodeGroupError("a group of nodes has no name; try: dgx-h100, or dgx-h100:4 for four of them")
    name = match["equipment"]
    is_control_plane = name == _CONTROL_PLANE
    equipment = parse_equipment("plain" if is_control_plane else name)
    count = int(match["count"]) if match["count"] else equipment.nodes
    if not 1 <= count <= _MOST_NODES:
        raise NodeGroupError(f"{text}: a group has 1 to {_MOST_NODES} nodes; try: {name}:4 for four of them")
    if is_control_plane:
        equipment = Equipment(_CONTROL_PLANE, equipment.profiles, equipment.blueprints)
    return NodeGroup(count, equipment, is_control_plane)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulationParts:
    """What simulated nodes work with. `informers` are run by whoever made them."""

    client: Client
    informers: SharedInformers
    clock: Clock
    entropy: Entropy
    log: Log

    @property
    def pace(self) -> Pace:
        """How long to wait for an API server that fails."""
        return Pace(self.clock, self.entropy)


class SimulatedNodes:
    """All of them, with their drivers. `ready` is set once every node is registered and its devices are published."""

    def __init__(self, groups: Sequence[NodeGroup], parts: SimulationParts, follow: Callable[[Fleet], None]) -> None:
        self.ready = asyncio.Event()
        self._nodes = list(_list_nodes(groups))
        self._equipments = [group.equipment for group in groups]
        self._parts = parts
        self._follow = follow
        self._faults = FaultBoard()
        self._network = SimulatedNetwork()
        self._watch = SharedWatch(parts.informers.get(RESOURCE_SLICE))
        self._metrics: dict[str, DriverMetrics] = {}
        self._pending = len(self._nodes)

    @property
    def names(self) -> list[str]:
        """The names of the nodes, in the order in which they were asked for."""
        return [facts.name for facts, _ in self._nodes]

    async def run(self) -> None:
        """Serve until cancelled."""
        parts = self._parts
        parts.informers.get(NODE).add_handler(self._faults.note)
        await _ensure_classes(parts.client, self._equipments)
        fleet_parts = FleetParts(
            client=parts.client,
            clock=parts.clock,
            entropy=parts.entropy,
            log=parts.log,
            pods=parts.informers.get(POD),
        )
        async with open_fleet(fleet_parts) as fleet, asyncio.TaskGroup() as tasks:
            self._follow(fleet)
            for name, devices in list_shared_devices(self._equipments).items():
                tasks.create_task(self._publish_shared(name, devices), name=f"shared devices of {name}")
            attacher = make_attacher(self._equipments, parts.client, parts.pace, parts.log)
            if attacher is not None:
                tasks.create_task(attacher.run(), name="attach devices")
            if not self._nodes:
                self.ready.set()
            for facts, equipment in self._nodes:
                tasks.create_task(self._run_node(fleet, facts, equipment), name=f"node {facts.name}")

    async def _run_node(self, fleet: Fleet, facts: NodeFacts, equipment: Equipment) -> None:
        cdi = CdiMemory()
        async with AsyncExitStack() as stack:
            drivers = [
                await stack.enter_async_context(open_local_driver(each, self._place(facts.name, each.name, cdi)))
                for each in make_drivers(equipment, self._faults)
            ]
            around = fleet.around
            runtime = SimulatedRuntime(around.clock, around.timers, CdiSpecs(cdi.specs.values), self._network)
            parts = NodeParts(
                name=facts.name,
                runtime=runtime,
                checkpoint=NoCheckpoint(),
                resident_drivers=[ResidentDriver(each.name, connect_local(facts.name, each)) for each in drivers],
            )
            await fleet.add_node(facts, parts)
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
        async with open_local_driver(driver, self._place("", name, CdiMemory())):
            await asyncio.Event().wait()

    def _place(self, node: str, driver: str, cdi: CdiMemory) -> LocalNode:
        parts = self._parts
        return LocalNode(
            name=node,
            client=parts.client,
            watches=self._watch,
            pace=parts.pace,
            log=parts.log,
            metrics=self._metrics.setdefault(driver, DriverMetrics(driver)),
            cdi=cdi,
        )


def _list_nodes(groups: Sequence[NodeGroup]) -> Iterator[tuple[NodeFacts, Equipment]]:
    """Nodes by group. Groups that begin alike count on."""
    counts: dict[str, int] = {}
    for group in groups:
        for _ in range(group.count):
            index = counts.get(group.title, 0)
            counts[group.title] = index + 1
            yield _describe(group, index), group.equipment


def _describe(group: NodeGroup, index: int) -> NodeFacts:
    shape = group.equipment.shape
    role = {_CONTROL_PLANE_KEY: ""} if group.is_control_plane else {}
    return NodeFacts(
        name=f"{group.title}-{index}",
        runtime_version="simulated://1",
        capacity={"cpu": parse_quantity(shape.cpu), "memory": parse_quantity(shape.memory)},
        labels={**group.equipment.labels(index), **role},
        taints=(Taint(key=_CONTROL_PLANE_KEY, effect="NoSchedule"),) if group.is_control_plane else (),
        architecture=shape.architecture,
    )


async def _ensure_classes(client: Client, equipments: Sequence[Equipment]) -> None:
    """Create the DeviceClasses that the drivers bring along; those that are there stay as they are."""
    classes: dict[str, DeviceClass] = {
        each.metadata.name: each for equipment in equipments for each in equipment.classes()
    }
    for each in classes.values():
        try:
            await client.create(DEVICE_CLASS, each)
        except AlreadyExists:
            continue
