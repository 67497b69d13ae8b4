"""One part of dray in a process of its own, against any API server: scheduler, controllers, or nodes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.registry import Collector

from dray.api.registry import SERVED, AnyKind
from dray.app.clientwire import wire_connected_client
from dray.app.process import catch_signals
from dray.app.schedulersetup import make_candidacy, make_scheduler_options
from dray.app.serverwire import wire_entropy
from dray.app.supervision import supervise
from dray.client.connection import Connection
from dray.client.leading import Candidacy, lead
from dray.client.port import Client
from dray.client.resources import Resources, UnknownResource
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.client.untyped import UntypedClient
from dray.controllers.assembly import (
    CONTROLLER_NAMES,
    ControllerOptions,
    UnknownController,
    choose_controllers,
    run_controllers,
)
from dray.controllers.runtime import Effects
from dray.controllers.served import find_absent
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import DrayError
from dray.scheduler.configuration import SchedulerConfiguration
from dray.scheduler.loop import KINDS, Scheduler, SchedulerEffects
from dray.scheduler.metrics import SchedulerMetrics

__all__ = [
    "Around",
    "ControllerChoice",
    "ControllerChoiceError",
    "Part",
    "PartRun",
    "choose_versions",
    "make_controllers_part",
    "make_scheduler_part",
    "plan_controllers",
    "read_authority",
    "run_part",
]

_ALL_CONTROLLERS: Final = ("*",)
_CONTROLLERS_LEASE: Final = "kube-controller-manager"
"""That of Kubernetes' own, so that of both sorts one works."""
_CHOSEN_LEASE: Final = "dray-controllers"
"""Of some controllers: who chooses some has others do the rest."""


class ControllerChoiceError(DrayError):
    """A choice of controllers names none that there is."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.hint = f"* for all, -name for all but one; there are {', '.join(CONTROLLER_NAMES)}"


@dataclass(frozen=True, slots=True)
class Around:
    """What a part works with."""

    client: Client
    clock: Clock
    entropy: Entropy
    log: Log
    metrics: CollectorRegistry

    @property
    def pace(self) -> Pace:
        """How long to wait for an API server that fails."""
        return Pace(self.clock, self.entropy)


Part = Callable[[Around], Awaitable[None]]
"""Runs until cancelled. If it fails, it is begun again, so it may keep no state elsewhere."""


def make_scheduler_part(configuration: SchedulerConfiguration, *, checks_itself: bool = False) -> Part:
    """A scheduler; where several agree by a lease, one works, and the others keep their views up to date."""

    async def run(around: Around) -> None:
        informers = SharedInformers(around.client, around.pace, around.log)
        effects = SchedulerEffects(around.clock, around.entropy, around.log)
        absent = await find_absent(around.client, KINDS, around.pace, around.log)
        options = make_scheduler_options(configuration, checks_itself=checks_itself, absent=absent)
        observer = SchedulerMetrics(around.metrics)
        scheduler = Scheduler(around.client, informers, options, effects, observer)
        candidacy = make_candidacy(configuration, _identify(around.entropy))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informers.run(), name="informers")
            if candidacy is None:
                await scheduler.run()
            else:
                await lead(around.client, candidacy, around.pace, around.log, scheduler.run)

    return run


@dataclass(frozen=True, slots=True)
class ControllerChoice:
    """Which controllers run, and by which lease one of several processes is chosen; empty for none."""

    names: frozenset[str]
    lease: str


def plan_controllers(choices: Iterable[str] = _ALL_CONTROLLERS, *, elects: bool = True) -> ControllerChoice:
    """The controllers of a choice, as kube-controller-manager's `--controllers` has it. Raises ControllerChoiceError.

    Some of them elect their leader by another lease than all of them.
    """
    asked = tuple(choices)
    try:
        names = choose_controllers(asked)
    except UnknownController as fault:
        raise ControllerChoiceError(str(fault)) from fault
    lease = _CONTROLLERS_LEASE if asked == _ALL_CONTROLLERS else _CHOSEN_LEASE
    return ControllerChoice(names, lease if elects else "")


def make_controllers_part(connection: Connection, choice: ControllerChoice) -> Part:
    """Controllers; where several agree by a lease, one works, and the others keep their views up to date."""

    async def run(around: Around) -> None:
        candidacy = Candidacy(name=choice.lease, identity=_identify(around.entropy)) if choice.lease else None
        options = ControllerOptions(
            chosen=choice.names,
            candidacy=candidacy,
            root_ca=(await read_authority(connection)).decode(),
            metrics=around.metrics,
        )
        await run_controllers(around.client, Effects(around.clock, around.entropy, around.log), options)

    return run


async def read_authority(connection: Connection) -> bytes:
    """Who signs the server's certificate, in PEM; empty if that is whom the machine trusts."""
    authority = connection.trust.authority
    if isinstance(authority, Path):
        return await asyncio.to_thread(authority.read_bytes)
    return authority or b""


def _identify(entropy: Entropy) -> str:
    """A name unlike any other."""
    return f"{socket.gethostname()}_{entropy.uid()}"


@dataclass(frozen=True, slots=True)
class PartRun:
    """How a part is run. `announce` is called once, when the server has answered."""

    name: str
    part: Part
    connection: Connection
    environment: Mapping[str, str]
    clock: Clock
    log: Log
    announce: Callable[[], None]
    metrics_port: int | None = None
    """Where this machine can read metrics; None: nowhere."""
    entropy: Entropy = field(default_factory=wire_entropy)


async def run_part(run: PartRun) -> None:
    """Run a part until the process is asked to end.

    Raises Unreachable where there is no server to begin with, and OSError for a port of metrics that is taken.
    """
    ended = catch_signals()
    metrics = _Metrics()
    with _serve_metrics(run.metrics_port, metrics):
        async with _open_client(run) as client, asyncio.TaskGroup() as tasks:

            async def begin() -> None:
                await run.part(Around(client, run.clock, run.entropy, run.log, metrics.begin_anew()))

            pace = Pace(run.clock, run.entropy)
            running = tasks.create_task(supervise(run.name, begin, pace, run.log), name=run.name)
            run.announce()
            await ended.wait()
            running.cancel()


class _Metrics(Collector):
    """The figures of a part that may be begun anew: always those of its latest run."""

    def __init__(self) -> None:
        self._latest = CollectorRegistry()

    def begin_anew(self) -> CollectorRegistry:
        """Where the next run counts."""
        self._latest = CollectorRegistry()
        return self._latest

    def collect(self) -> Iterable[Metric]:
        """What the latest run has counted."""
        return self._latest.collect()


def _serve_metrics(port: int | None, metrics: _Metrics) -> AbstractContextManager[None]:
    return nullcontext() if port is None else _serving(port, metrics)


@contextmanager
def _serving(port: int, metrics: _Metrics) -> Iterator[None]:
    registry = CollectorRegistry()
    registry.register(metrics)
    server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@asynccontextmanager
async def _open_client(run: PartRun) -> AsyncIterator[Client]:
    """A client that speaks the versions that the server serves."""
    async with wire_connected_client(run.connection, run.environment, run.clock) as client:
        versions = choose_versions(await UntypedClient(client).discover())
    async with wire_connected_client(run.connection, run.environment, run.clock, versions=versions) as client:
        yield client


def choose_versions(resources: Resources) -> dict[AnyKind, str]:
    """The version to speak of kinds that the server does not serve in the one we know best."""
    versions: dict[AnyKind, str] = {}
    for kind in SERVED:
        for version in (kind.declared_version, *(each.name for each in kind.versions)):
            try:
                resources.find_kind(kind.api_version(version), kind.name)
            except UnknownResource:
                continue
            if version != kind.declared_version:
                versions[kind] = version
            break
    return versions
