"""A node agent, or a driver, that kills itself at a named moment of its work, as a power cut would.

    python -m tests.e2e.dying agent|driver FOLDER KUBECONFIG [POINT]

A point is `what:before` or `what:after`, and the how manyth time: `checkpoint.put:after:2`. Nothing in agents and
drivers knows of points: they are in what stands around the ports.
"""

import asyncio
import inspect
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.client.http import Surroundings, open_http_client
from dray.client.informer import Informer
from dray.client.kubeconfig import find_places, load_connection
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.driver import AllocatedDevice, Claim, ContainerEdits, Device, Devices, Driver, Prepared, PreparedClaim, env
from dray.driver.cdifiles import CdiFolder
from dray.driver.checkpoint import CheckpointFile, ClaimRecord, ClaimState
from dray.driver.files import FileLock
from dray.driver.host import HostParts, open_host
from dray.driver.metrics import DriverMetrics
from dray.driver.published import NarrowWatches
from dray.driver.serve import open_sockets
from dray.driver.sockets import plan_sockets
from dray.effects.clock import SystemClock
from dray.effects.entropy import SystemEntropy
from dray.effects.log import Log, TextLog
from dray.node.agent import NodeParts
from dray.node.checkpoint import FileCheckpoint
from dray.node.fleet import FleetParts, open_fleet
from dray.node.registration import NodeFacts
from dray.node.runtime.devices import CdiFolders
from dray.node.runtime.process import ProcessRuntime

DRIVER = "gpu.example.com"
NODE = "node-a"
DEVICES = ("gpu-0", "gpu-1")


class Point:
    """When to die."""

    def __init__(self, text: str) -> None:
        self._what, self._moment, count = text.split(":") if text else ("", "", "1")
        self._left = int(count)

    def pass_by(self, what: str, moment: str) -> None:
        if (what, moment) == (self._what, self._moment):
            self._left -= 1
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)


class Watched:
    """Stands for something else, and passes the points before and after each call of some of its methods."""

    def __init__(self, thing: Any, title: str, methods: Sequence[str], point: Point) -> None:
        self._thing, self._title, self._methods, self._point = thing, title, methods, point

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._thing, name)
        return self._watch(f"{self._title}.{name}", found) if name in self._methods else found

    def _watch(self, what: str, method: Callable[..., Any]) -> Callable[..., Any]:
        async def call_later(*words: Any, **more: Any) -> Any:
            self._point.pass_by(what, "before")
            answer = await method(*words, **more)
            self._point.pass_by(what, "after")
            return answer

        def call(*words: Any, **more: Any) -> Any:
            self._point.pass_by(what, "before")
            answer = method(*words, **more)
            self._point.pass_by(what, "after")
            return answer

        return call_later if inspect.iscoroutinefunction(method) else call


class Hardware:
    """Devices, each a file that holds the uid of the claim that has it; and a history of what was done to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "hardware"
        self._history = folder / "history"
        self._folder.mkdir(exist_ok=True)

    def take(self, device: str, claim: str) -> None:
        file = self._folder / device
        owner = file.read_text() if file.exists() else claim
        self.note("take" if owner == claim else "conflict", device, claim)
        file.write_text(claim)

    def give_back(self, device: str, claim: str) -> None:
        file = self._folder / device
        self.note("give", device, claim)
        if file.exists() and file.read_text() == claim:
            file.unlink()

    def note(self, *words: str) -> None:
        with self._history.open("a") as stream:
            stream.write(" ".join(words) + "\n")

    def owners(self) -> dict[str, str]:
        return {each.name: each.read_text() for each in sorted(self._folder.iterdir())}

    def history(self) -> list[list[str]]:
        return [line.split() for line in self._history.read_text().splitlines()] if self._history.exists() else []


class GpuDriver(Driver):
    name = DRIVER

    def __init__(self, hardware: Any) -> None:
        self._hardware = hardware

    async def devices(self) -> Devices:
        return Devices.of(*(Device(name=each) for each in DEVICES))

    async def prepare(self, claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
        for each in devices:
            self._hardware.take(each.name, claim.uid)
        return Prepared.of(each.prepared(ContainerEdits(env=env({"GPU": each.name}))) for each in devices)

    async def unprepare(self, claim: PreparedClaim) -> None:
        for each in claim.devices:
            self._hardware.give_back(each.name, claim.uid)


class Remembering:
    """A driver's checkpoint that notes in the history of the hardware when a claim counts as prepared."""

    def __init__(self, file: CheckpointFile, hardware: Hardware) -> None:
        self._file, self._hardware = file, hardware

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    async def put(self, record: ClaimRecord) -> None:
        await self._file.put(record)
        if record.state is ClaimState.READY:
            self._hardware.note("ready", record.keys[0].device, record.claim.uid)

    async def remove(self, claim_uid: str) -> None:
        await self._file.remove(claim_uid)


@asynccontextmanager
async def open_driver(folder: Path, client: Client, log: Log, point: Point) -> AsyncIterator[None]:
    """As `open_served_driver` does it, with points around what it keeps."""
    hardware = Hardware(folder)
    clock = SystemClock()
    own = folder / "plugins" / DRIVER
    own.mkdir(parents=True, exist_ok=True)
    file = CheckpointFile(own / "checkpoint.json", FileLock(own / "serialize.lock"), clock, is_shared=False)
    driver = GpuDriver(Watched(hardware, "hardware", ("take", "give_back"), point))
    metrics, pace = DriverMetrics(DRIVER), Pace(clock, SystemEntropy())
    checkpoint: Any = Watched(Remembering(file, hardware), "checkpoint", ("put", "remove"), point)
    cdi: Any = Watched(CdiFolder(folder / "cdi"), "cdi", ("write", "remove"), point)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(file.open())
        parts = HostParts(
            node_name=NODE,
            client=client,
            checkpoint=checkpoint,
            cdi=cdi,
            watches=NarrowWatches(client, pace, log),
            pace=pace,
            log=log,
            metrics=metrics,
        )
        host = await stack.enter_async_context(open_host(driver, parts))
        paths = plan_sockets(DRIVER, folder / "plugins_registry", own, "")
        await stack.enter_async_context(open_sockets(driver, host, paths, metrics))
        yield


@asynccontextmanager
async def open_agent(folder: Path, client: Client, log: Log, point: Point) -> AsyncIterator[None]:
    """A node on this machine, with points around checkpoint and runtime."""
    clock, entropy = SystemClock(), SystemEntropy()
    focus: Focus[Pod] = Focus(kind=POD, field_selector=f"spec.nodeName={NODE}")
    pods = Informer(client, focus, Pace(clock, entropy), log)
    following = asyncio.create_task(pods.run())
    checkpoint = FileCheckpoint(folder)
    fleet_parts = FleetParts(client=client, clock=clock, entropy=entropy, log=log, pods=pods)
    async with open_fleet(fleet_parts) as fleet:
        devices = CdiFolders([folder / "cdi"], log)
        runtime = ProcessRuntime(folder, devices, clock, fleet.around.tasks, "127.0.0.1")
        runtime.end_leftovers()
        steps = ("open_sandbox", "close_sandbox", "start", "stop", "forget")
        watched: Any = Watched(runtime, "runtime", steps, point)
        saved: Any = Watched(checkpoint, "checkpoint", ("save_claims",), point)
        parts = NodeParts(name=NODE, runtime=watched, checkpoint=saved, plugin_root=folder)
        await fleet.add_node(NodeFacts(NODE, runtime.version), parts)
        yield
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)


async def run(part: str, folder: Path, kubeconfig: Path, point: Point) -> None:
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    clock = SystemClock()
    log = TextLog(sys.stderr, clock)
    connection = load_connection(find_places({}, kubeconfig))
    async with open_http_client(connection, Surroundings(clock, SystemEntropy(), {})) as client:
        open_part = open_agent if part == "agent" else open_driver
        async with open_part(folder, client, log, point):
            print("ready", flush=True)
            await stopped.wait()


if __name__ == "__main__":
    part, folder, kubeconfig, *rest = sys.argv[1:]
    asyncio.run(run(part, Path(folder), Path(kubeconfig), Point(rest[0] if rest else "")))
