"""The sorts of nodes there are, put together: simulated ones with drivers in this process, and this machine itself."""

import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from dray.api.core.taints import Taint
from dray.client.port import Client
from dray.driver.cdi import CdiSpec
from dray.driver.cdifiles import CdiMemory
from dray.driver.local import LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.published import SliceWatches
from dray.node.agent import NodeAgent, NodeParts, ResidentDriver
from dray.node.checkpoint import FileCheckpoint, NoCheckpoint
from dray.node.fleet import Fleet
from dray.node.localdrivers import connect_local
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CDI_FOLDERS, CdiFolders, CdiSpecs
from dray.node.runtime.process import ProcessRuntime
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.values.quantity import Quantity, QuantityFormat

__all__ = ["MachineNode", "SimulatedNode", "SimulatedSite", "add_machine_node"]

_DEFAULT_ROOT: Final = Path("/var/lib/kubelet")
_ARCHITECTURES: Final = {"x86_64": "amd64", "aarch64": "arm64"}


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
            local = LocalNode(
                name=node.name,
                client=self._client,
                watches=self._slices,
                pace=around.pace,
                log=around.log,
                metrics=self._metrics.setdefault(driver.name, DriverMetrics(driver.name)),
            )
            running = await self._stack.enter_async_context(open_local_driver(driver, local))
            files.append(local.cdi)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineNode:
    """This machine as a node, with containers as its processes, and drivers that register at its sockets."""

    name: str
    root: Path = _DEFAULT_ROOT
    """What a kubelet calls its root: sockets of plugins, checkpoint, pods."""
    cdi_folders: Sequence[Path] = CDI_FOLDERS
    host_ip: str = "127.0.0.1"
    port: int = 0
    """Where the agent's endpoint listens, if it runs apart from the API server."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    resident_drivers: Sequence[ResidentDriver] = ()


async def add_machine_node(fleet: Fleet, node: MachineNode) -> NodeAgent:
    """Make this machine a node. Processes that an agent before this one left behind are ended.

    Raises CheckpointCorrupt where the memory of what is prepared cannot be trusted.
    """
    around = fleet.around
    devices = CdiFolders(node.cdi_folders, around.log)
    runtime = ProcessRuntime(node.root, devices, around.clock, around.tasks, node.host_ip)
    runtime.end_leftovers()
    facts = NodeFacts(
        node.name,
        runtime.version,
        capacity=_measure(),
        labels=node.labels,
        annotations=node.annotations,
        host_ip=node.host_ip,
        port=node.port,
        architecture=_ARCHITECTURES.get(platform.machine(), platform.machine()),
        kernel=platform.release(),
        os_image=_read_os_image(),
        machine_id=_read("/etc/machine-id"),
        boot_id=_read("/proc/sys/kernel/random/boot_id"),
    )
    parts = NodeParts(
        name=node.name,
        runtime=runtime,
        checkpoint=FileCheckpoint(node.root),
        host_ip=node.host_ip,
        plugin_root=node.root,
        resident_drivers=node.resident_drivers,
    )
    return await fleet.add_node(facts, parts)


def _measure() -> dict[str, Quantity]:
    """Processors and memory of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": Quantity.of(len(os.sched_getaffinity(0))),
        "memory": Quantity.of(memory, QuantityFormat.BINARY_SI),
        "pods": Quantity.of(110),
    }


def _read_os_image() -> str:
    facts = dict(line.partition("=")[::2] for line in _read("/etc/os-release").splitlines())
    return facts.get("PRETTY_NAME", "").strip('"')


def _read(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8").strip()
    except OSError:
        return ""
