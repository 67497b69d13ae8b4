"""The node agent's side of a driver: real registration and calls over its sockets, CDI files read as runtimes do."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from dray.client.port import Client
from dray.client.recording import EventRecorder
from dray.client.retrying import Pace
from dray.driver import ClaimRef
from dray.driver.waiting import wait_for_event
from dray.effects.log import Log
from dray.node.core.answers import PREPARE, UNPREPARE, PrepareAnswer, find_fault
from dray.node.core.cdi import ContainerShape, apply_edits
from dray.node.core.health import HealthReport
from dray.node.drivers import DriverListener, Drivers
from dray.node.metrics import NodeMetrics
from dray.node.plugins import Registry
from dray.node.runtime.devices import CdiFolders
from dray.node.surroundings import Surroundings
from dray.node.timers import Timers

__all__ = ["AgentSide", "CallRefused", "open_agent_side"]


class CallRefused(AssertionError):
    """The driver did not do what it was asked for, in the words that the pod's event would have."""


class AgentSide(DriverListener):
    """What a kubelet holds of the drivers of its node."""

    def __init__(self, node_name: str, around: Surroundings, cdi: CdiFolders) -> None:
        self.drivers = Drivers(node_name, around, self)
        self._around = around
        self._cdi = cdi
        self._changed = asyncio.Event()
        self._health: dict[str, HealthReport] = {}

    def driver_connected(self, driver: str) -> None:
        """Somebody may be waiting for this."""
        self._changed.set()

    def health_reported(self, driver: str, reports: Sequence[HealthReport]) -> None:
        """Keep what is said of each device."""
        self._health |= {each.device: each for each in reports}
        self._changed.set()

    def health_lost(self, driver: str) -> None:
        """Forget it all."""
        self._health.clear()
        self._changed.set()

    @property
    def health(self) -> Mapping[str, HealthReport]:
        """The last report on each device."""
        return dict(self._health)

    async def wait_change(self, seconds: float) -> None:
        """Wait until a driver connects or reports, or that long."""
        self._changed.clear()
        await wait_for_event(self._changed, self._around.clock, seconds)

    async def prepare(self, driver: str, claims: Sequence[ClaimRef]) -> Mapping[str, PrepareAnswer]:
        """Call the driver as for a pod that is to start. Raises CallRefused."""
        answers = await self.drivers.choose(driver).connection.prepare(claims)
        fault = find_fault(PREPARE, claims, {uid: answer.error for uid, answer in answers.items()})
        if fault:
            raise CallRefused(fault)
        return answers

    async def unprepare(self, driver: str, claims: Sequence[ClaimRef]) -> None:
        """Call the driver as after the last pod. Raises CallRefused."""
        errors = await self.drivers.choose(driver).connection.unprepare(claims)
        fault = find_fault(UNPREPARE, claims, errors)
        if fault:
            raise CallRefused(fault)

    def resolve(self, cdi_names: Sequence[str]) -> ContainerShape:
        """What a container gets that asks for these devices. Raises UnresolvableDevices."""
        return apply_edits(ContainerShape(), self._cdi.find_edits(cdi_names))


class _Closing(Exception):
    """Ends the tasks of an agent's side; never leaves this module."""


@asynccontextmanager
async def open_agent_side(
    node_name: str, folders: tuple[Path, Path], client: Client, pace: Pace, log: Log
) -> AsyncGenerator[AgentSide, None]:
    """Look for drivers in the first folder and for their CDI files in the second, for the length of a block."""
    registry, cdi = folders
    try:
        async with asyncio.TaskGroup() as tasks:
            around = Surroundings(
                client=client,
                clock=pace.clock,
                entropy=pace.entropy,
                log=log,
                metrics=NodeMetrics(),
                timers=Timers(pace.clock),
                events=EventRecorder(client, "dray-testing", pace, log),
                tasks=tasks,
            )
            side = AgentSide(node_name, around, CdiFolders((cdi,), log))
            tasks.create_task(Registry(registry, side.drivers, around).run(), name="registry")
            yield side
            await side.drivers.aclose()
            raise _Closing
    except* _Closing:
        pass
