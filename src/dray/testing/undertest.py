"""A driver under test, on a node that is as real as it can be without a machine of its own.

The driver is served on unix sockets in a folder of its own. dray's node agent finds it there, registers it and calls it
as a kubelet does; the API server, in memory, is a real one. Methods are plain functions: the event loop of the world
runs for as long as one of them does.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path
from typing import TypeVar

from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.client.port import Client, ListOptions, ObjectName
from dray.client.retrying import Pace
from dray.driver import ClaimRef, Device, Driver, Health
from dray.driver.host import DriverHost
from dray.driver.metrics import DriverMetrics
from dray.driver.serving import NodePlaces, ServingParts, open_served_driver
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog
from dray.node.core.cdi import ContainerShape
from dray.testing.agentside import AgentSide, open_agent_side
from dray.testing.allocating import Wanted, allocate, deallocate, ref_to
from dray.testing.apiserver import open_memory_cluster

__all__ = ["DriverUnderTest", "PreparedPod", "World"]

T = TypeVar("T")

_PATIENCE_SECONDS = 20.0
"""How long anything may take before the test fails instead of hanging. Nothing takes nearly so long."""
_LOOK_SECONDS = 0.02


class PreparedPod:
    """A pod whose claim is prepared: what its containers get."""

    def __init__(self, claim: ClaimRef, cdi_names: Mapping[str, tuple[str, ...]], shape: ContainerShape) -> None:
        self.claim = claim
        self.cdi_names = cdi_names
        """The CDI devices that the driver answered, by device."""
        self.container = shape
        """What a container gets that uses the whole claim: `env`, `device_nodes`, `mounts` and the rest."""

    @property
    def env(self) -> Mapping[str, str]:
        """The variables that the container gets."""
        return self.container.env


class World:
    """An event loop with an API server and the agent's side of one node, in a folder that is short enough for sockets.

    Everything in it makes progress while `wait` runs, and only then.
    """

    def __init__(self, folder: Path, node_name: str = "node-a") -> None:
        self.node_name = node_name
        self.log = MemoryLog()
        self.pace = Pace(SystemClock(), SystemEntropy(), first_seconds=0.05)
        self.places = NodePlaces(
            node_name=node_name, plugins=folder / "plugins", registry=folder / "registry", cdi=folder / "cdi"
        )
        self.places.registry.mkdir()
        self._runner = asyncio.Runner()
        self._stack: list[tuple[asyncio.Event, asyncio.Task[None]]] = []
        self.client: Client = self.enter(open_memory_cluster([node_name], self.pace.clock, self.pace.entropy, self.log))
        folders = (self.places.registry, self.places.cdi)
        self.agent: AgentSide = self.enter(open_agent_side(node_name, folders, self.client, self.pace, self.log))

    def wait(self, work: Coroutine[object, object, T]) -> T:
        """Run the world until `work` is done."""

        async def within() -> T:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await work

        return self._runner.run(within())

    def wait_until(self, is_true: Callable[[], bool], what: str) -> None:
        """Run the world until something holds."""

        async def look() -> None:
            while not is_true():
                await self.pace.clock.sleep(_LOOK_SECONDS)

        try:
            self.wait(look())
        except TimeoutError as fault:
            errors = "".join(f"\n  {each.message} {each.facts}" for each in self.log.entries if each.level == "error")
            raise AssertionError(f"{what}: not within {_PATIENCE_SECONDS:g} s{errors}") from fault

    def enter(self, block: AbstractAsyncContextManager[T]) -> T:
        """Enter a block, in a task of its own that leaves it when the world is left."""
        stopped = asyncio.Event()

        async def begin() -> T:
            entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
            task = asyncio.create_task(_keep(block, entered, stopped))
            task.add_done_callback(lambda _: None if entered.done() else entered.cancel())
            with suppress(asyncio.CancelledError):
                await entered
            if entered.cancelled():
                await task  # raises what kept the block from being entered
            self._stack.append((stopped, task))
            return entered.result()

        return self.wait(begin())

    def leave(self) -> None:
        """Leave the block that was entered last."""
        stopped, task = self._stack.pop()

        async def end() -> None:
            stopped.set()
            await task

        self.wait(end())

    def close(self) -> None:
        """Leave everything."""
        try:
            while self._stack:
                self.leave()
        finally:
            self._runner.close()


async def _keep(block: AbstractAsyncContextManager[T], entered: "asyncio.Future[T]", stopped: asyncio.Event) -> None:
    async with block as value:
        entered.set_result(value)
        await stopped.wait()


class DriverUnderTest:
    """One driver, served and registered. Made by the fixture `dray_driver`."""

    def __init__(self, driver: Driver, world: World) -> None:
        self.driver = driver
        self.world = world
        self._claims = 0
        self._start()

    def _start(self) -> None:
        world = self.world
        metrics = DriverMetrics(self.driver.name)
        parts = ServingParts(client=world.client, pace=world.pace, log=world.log, metrics=metrics)
        self._host: DriverHost = world.enter(_only_host(open_served_driver(self.driver, world.places, parts)))
        name = self.driver.name
        world.wait_until(lambda: name in world.agent.drivers.connected, f"driver {name} registers")
        world.wait(self._host.wait_published())

    def restart(self, driver: Driver | None = None) -> None:
        """Stop the driver in good order and start it again, or another object of its class, as an update does."""
        self.world.leave()
        name = self.driver.name
        self.world.wait_until(lambda: name not in self.world.agent.drivers.connected, f"driver {name} goes")
        self.driver = driver or self.driver
        self._start()

    @property
    def slices(self) -> list[ResourceSlice]:
        """What the driver has published, by name of the slice."""
        options = ListOptions(field_selector=f"spec.driver={self.driver.name}")
        listed = self.world.wait(self.world.client.list(RESOURCE_SLICE, options))
        return sorted(listed.items, key=lambda each: each.metadata.name)

    @property
    def devices(self) -> dict[str, Device]:
        """Every published device by name, in the order in which schedulers try them."""
        return {device.name: device for each in self.slices for device in each.spec.devices or ()}

    def publish_again(self) -> None:
        """Have the driver asked for its devices, and wait until they are published."""
        self._host.devices_changed()

        async def published() -> None:
            await asyncio.sleep(0)  # the host takes notice
            await self._host.wait_published()

        self.world.wait(published())

    def prepare(self, *wanted: Wanted | str, claim: str = "") -> PreparedPod:
        """Give a new claim some devices, by name or with circumstances, and have it prepared as for a pod.

        Raises `CallRefused` with the text that the pod's event would have.
        """
        self._claims += 1
        devices = [Wanted(device=each) if isinstance(each, str) else each for each in wanted]
        name = claim or f"claim-{self._claims}"
        made = self.world.wait(allocate(self.world.client, self.driver.name, self.world.node_name, name, devices))
        return self.prepare_again(ref_to(made))

    def prepare_again(self, claim: ClaimRef) -> PreparedPod:
        """Have a claim prepared, for the first time or once more."""
        answers = self.world.wait(self.world.agent.prepare(self.driver.name, [claim]))
        devices = answers[claim.uid].devices
        names = {each.device: tuple(each.cdi_ids) for each in devices}
        asked = [name for each in devices for name in each.cdi_ids]
        return PreparedPod(claim, names, self.world.agent.resolve(asked))

    def unprepare(self, pod: PreparedPod) -> None:
        """Have a claim taken back, as after its last pod, and delete it."""
        self.world.wait(self.world.agent.unprepare(self.driver.name, [pod.claim]))
        self.world.wait(deallocate(self.world.client, pod.claim))

    def claim(self, pod: PreparedPod) -> ResourceClaim:
        """The claim as the API server has it, with what the driver reported in `status.devices`."""
        name = ObjectName(pod.claim.name, pod.claim.namespace)
        return self.world.wait(self.world.client.get(RESOURCE_CLAIM, name))

    def wait_reported(self, pod: PreparedPod) -> ResourceClaim:
        """The claim, once the driver has reported on a device of it."""
        self.world.wait_until(lambda: bool(self.claim(pod).status.devices), "the driver reports on a device")
        return self.claim(pod)

    def wait_health(self, device: str, health: Health) -> None:
        """Wait until the agent was told that a device fares so."""

        def told() -> bool:
            report = self.world.agent.health.get(device)
            return report is not None and report.health == health

        self.world.wait_until(told, f"device {device} is {health}")

    @property
    def cdi_files(self) -> Sequence[Path]:
        """The CDI files there are."""
        return sorted(self.world.places.cdi.glob("*.json"))


@asynccontextmanager
async def _only_host(
    served: AbstractAsyncContextManager[tuple[DriverHost, object]],
) -> AsyncGenerator[DriverHost, None]:
    async with served as (host, _):
        yield host
