"""A driver in this process on a server in memory, with a clock that tests move."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from dray.api.meta import Condition
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice
from dray.client.informer import Informer
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.driver import (
    AllocatedDevice,
    Claim,
    ClaimRef,
    ContainerEdits,
    Device,
    DeviceHealth,
    DeviceReport,
    Devices,
    Driver,
    DriverConfig,
    Health,
    Prepared,
    PreparedClaim,
    PreparedDevice,
    attributes,
    capacity,
    env,
)
from dray.driver.cdifiles import CdiMemory
from dray.driver.local import LocalDriver, LocalNode, open_local_driver
from dray.driver.metrics import DriverMetrics
from dray.driver.published import SharedWatch
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.testing.allocating import Wanted, allocate, ref_to
from dray.testing.apiserver import open_memory_cluster

__all__ = ["NODE", "EchoConfig", "EchoDriver", "Wanted", "World", "echo_device", "open_world"]

NODE = "node-a"
_QUIET_ROUNDS = 200
"""Turns of the event loop after which nothing that does not wait for the clock is on its way any more."""


class EchoConfig(DriverConfig, frozen=True):
    api_version = "echo.example.com/v1"
    kind = "EchoConfig"
    greeting: str = "hello"


class EchoDriver(Driver):
    """Offers what it is told to, and remembers what it was asked for."""

    name = "echo.example.com"
    configs = (EchoConfig,)

    def __init__(self) -> None:
        self.offers = Devices.of(*(echo_device(number) for number in range(3)))
        self.calls: list[str] = []
        self.fail: Callable[[str], None] = lambda call: None
        """Sees each call; may raise what it fails with."""
        self.gate: asyncio.Event | None = None
        """What preparing waits for, if anything."""
        self.reports: DeviceReport | None = None
        self.common = ContainerEdits()
        self.conditions: tuple[Condition, ...] = ()
        self.fares: dict[str, Health] = {}
        self.released: list[PreparedClaim] = []

    def _note(self, call: str) -> None:
        self.calls.append(call)
        self.fail(call)

    async def devices(self) -> Devices:
        self._note("devices")
        return self.offers

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        self._note(f"prepare {claim.name}")
        if self.gate is not None:
            await self.gate.wait()
        return Prepared.of((self._ready(each) for each in devices), common=self.common)

    def _ready(self, device: AllocatedDevice) -> PreparedDevice:
        config = device.find_config(EchoConfig) or EchoConfig()
        edits = ContainerEdits(env=env({f"ECHO_{device.name.upper().replace('-', '_')}": config.greeting}))
        return device.prepared(edits, report=self.reports, memo={"greeting": config.greeting})

    async def unprepare(self, claim: PreparedClaim) -> None:
        self._note(f"unprepare {claim.name}")
        self.released.append(claim)

    async def health(self) -> Sequence[DeviceHealth]:
        self._note("health")
        return [DeviceHealth(device=name, health=health) for name, health in self.fares.items()]


def echo_device(number: int, model: str = "echo") -> Device:
    return Device(name=f"echo-{number}", attributes=attributes(model=model), capacity=capacity(memory="1Gi"))


class World:
    """The server, the node and the clock. `start` runs a driver there."""

    def __init__(self, client: Client, node: LocalNode, cdi: CdiMemory, clock: FakeClock, log: MemoryLog) -> None:
        self.client = client
        self.node = node
        self.cdi = cdi
        self.clock = clock
        self.log = log

    def start(self, driver: Driver) -> AbstractAsyncContextManager[LocalDriver]:
        return open_local_driver(driver, self.node)

    async def settle(self) -> None:
        """Let everybody work until nobody has anything to do before the clock moves."""
        for _ in range(_QUIET_ROUNDS):
            await asyncio.sleep(0)

    async def slices(self) -> list[ResourceSlice]:
        listed = await self.client.list(RESOURCE_SLICE)
        return sorted(listed.items, key=lambda each: each.metadata.name)

    async def device_names(self) -> list[str]:
        return [device.name for each in await self.slices() for device in each.spec.devices or ()]

    async def allocate(self, name: str, *wanted: Wanted | str, driver: str = EchoDriver.name) -> ClaimRef:
        devices = [Wanted(device=each) if isinstance(each, str) else each for each in wanted]
        return ref_to(await allocate(self.client, driver, NODE, name, devices))

    @property
    def errors(self) -> list[str]:
        return [each.message for each in self.log.entries if each.level == "error"]


@asynccontextmanager
async def open_world() -> AsyncGenerator[World, None]:
    clock, entropy, log = FakeClock(), SeededEntropy(1), MemoryLog()
    async with open_memory_cluster([NODE], clock, entropy, log) as client:
        pace = Pace(clock, entropy, first_seconds=0.5)
        informer = Informer(client, Focus(kind=RESOURCE_SLICE), pace, log)
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(informer.run())
            cdi = CdiMemory()
            node = LocalNode(
                name=NODE,
                client=client,
                watches=SharedWatch(informer),
                pace=pace,
                log=log,
                metrics=DriverMetrics(EchoDriver.name),
                cdi=cdi,
            )
            yield World(client, node, cdi, clock, log)
            watching.cancel()
