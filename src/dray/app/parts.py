"""One part of dray in a process of its own, against any API server: scheduler, controllers, or nodes."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from prometheus_client import CollectorRegistry, Metric, start_http_server
from prometheus_client.registry import Collector

from dray.api.coordination.kinds import LEASE
from dray.api.registry import SERVED, AnyKind
from dray.app.clientwire import wire_connected_client
from dray.app.process import catch_signals, settle_memory
from dray.app.schedulersetup import make_candidacy, make_scheduler_options
from dray.app.serverwire import wire_entropy
from dray.app.supervision import supervise
from dray.client.connection import Connection
from dray.client.leading import Candidacy, lead
from dray.client.port import Client, ListOptions, ObjectName
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
from dray.controllers.served import choose_mirrored
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.errors import AlreadyExists, DrayError, Forbidden, NotFound
from dray.scheduler.configuration import SchedulerConfiguration
from dray.scheduler.loop import KINDS, Scheduler, SchedulerEffects
from dray.scheduler.metrics import SchedulerMetrics

__all__ = [
    "Around",
    "ControllerChoice",
    "ControllerChoiceError",
    "MetricsUnshown",
    "Part",
    "PartRun",
    "Probe",
    "RightsMissing",
    "choose_versions",
    "make_controllers_part",
    "make_scheduler_part",
    "plan_controllers",
    "probe_list",
    "read_authority",
    "run_part",
]

_ALL_CONTROLLERS: Final = ("*",)
_CONTROLLERS_LEASE: Final = "kube-controller-manager"
"""That of Kubernetes' own, so that of both sorts one works."""
_CHOSEN_LEASE: Final = "dray-controllers"
"""Of some controllers: who chooses some has others do the rest."""


_METRICS_SECONDS: Final = 10.0
"""A loop that does not get round to being read by then is ending."""


class ControllerChoiceError(DrayError):
    """A choice of controllers names none that there is."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.hint = f"* for all, -name for all but one; there are {', '.join(CONTROLLER_NAMES)}"


class RightsMissing(DrayError):
    """The user of the kubeconfig may not do what a part has to do."""

    def __init__(self, part: str, faults: Sequence[Forbidden]) -> None:
        more = f"; {len(faults) - 1} more requests are refused" if len(faults) > 1 else ""
        super().__init__(f"the {part} cannot work: {faults[0]}{more}")
        self.hint = "a --kubeconfig of a user with more rights; docs/operations.md says which each part needs"


class MetricsUnshown(DrayError):
    """Metrics cannot be shown where they should."""

    def __init__(self, port: int, fault: OSError) -> None:
        super().__init__(f"metrics cannot be shown on port {port}: {fault.strerror or fault}")
        self.hint = "another --metrics-port; 0 takes a free one"


@dataclass(frozen=True, slots=True)
class Around:
    """What a part works with."""

    client: Client
    clock: Clock
    entropy: Entropy
    log: Log
    metrics: CollectorRegistry
    absent: frozenset[AnyKind]
    """Kinds that the server does not serve."""

    @property
    def pace(self) -> Pace:
        """How long to wait for an API server that fails."""
        return Pace(self.clock, self.entropy)


Probe = Callable[[Client], Awaitable[object]]
"""A request that a part has to be allowed. Whether it finds something does not matter."""


@dataclass(frozen=True, slots=True)
class Part:
    """What runs apart. `run` goes on until cancelled; if it fails, it is begun again, so it keeps nothing elsewhere."""

    run: Callable[[Around], Awaitable[None]]
    reads: Sequence[AnyKind] = ()
    """Kinds of which it has to read everything, if they are served."""
    probes: Sequence[Probe] = ()
    """What else it has to be allowed; made once, before it runs."""


def probe_list(kind: AnyKind, field_selector: str = "") -> Probe:
    """Whether objects of a kind may be read."""
    return lambda client: client.list(kind, ListOptions(limit=1, field_selector=field_selector))


def probe_lease(name: ObjectName) -> Probe:
    """Whether a lease may be taken, as far as reading it tells."""
    return lambda client: client.get(LEASE, name)


def make_scheduler_part(configuration: SchedulerConfiguration, *, checks_itself: bool = False) -> Part:
    """A scheduler; where several agree by a lease, one works, and the others keep their views up to date."""

    async def run(around: Around) -> None:
        informers = SharedInformers(around.client, around.pace, around.log)
        effects = SchedulerEffects(around.clock, around.entropy, around.log)
        options = make_scheduler_options(configuration, checks_itself=checks_itself, absent=around.absent)
        observer = SchedulerMetrics(around.metrics)
        scheduler = Scheduler(around.client, informers, options, effects, observer)
        candidacy = make_candidacy(configuration, _identify(around.entropy))
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informers.run(), name="informers")
            if candidacy is None:
                await scheduler.run()
            else:
                await lead(around.client, candidacy, around.pace, around.log, scheduler.run)

    candidacy = make_candidacy(configuration, "")
    leases = [] if candidacy is None else [probe_lease(candidacy.object_name)]
    return Part(run, KINDS, leases)


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
            absent=around.absent,
        )
        await run_controllers(around.client, Effects(around.clock, around.entropy, around.log), options)

    # What some controllers have to read depends on which they are, and shows once they run.
    kinds = choose_mirrored(SERVED) if choice.names == choose_controllers(_ALL_CONTROLLERS) else []
    leases = [probe_lease(Candidacy(name=choice.lease, identity="").object_name)] if choice.lease else []
    return Part(run, kinds, leases)


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

    Raises Unreachable where there is no server to begin with, RightsMissing, and MetricsUnshown.
    """
    ended = catch_signals()
    metrics = _Metrics()
    with _show_metrics(run.metrics_port, metrics, run.log):
        async with _open_client(run) as (client, absent), asyncio.TaskGroup() as tasks:
            await _require_rights(run, client, absent)

            async def begin() -> None:
                registry = metrics.begin_anew()
                await run.part.run(Around(client, run.clock, run.entropy, run.log, registry, absent))

            pace = Pace(run.clock, run.entropy)
            running = tasks.create_task(supervise(run.name, begin, pace, run.log), name=run.name)
            settle_memory()
            run.announce()
            await ended.wait()
            running.cancel()


async def _require_rights(run: PartRun, client: Client, absent: Set[AnyKind]) -> None:
    """Find out before anything runs what would be refused again and again. Raises RightsMissing."""

    async def make(probe: Probe) -> Forbidden | None:
        try:
            await probe(client)
        except Forbidden as fault:
            return fault
        except (NotFound, AlreadyExists):
            return None
        return None

    lists = [probe_list(kind) for kind in run.part.reads if kind not in absent]
    answers = await asyncio.gather(*map(make, [*lists, *run.part.probes]))
    if faults := [each for each in answers if each is not None]:
        raise RightsMissing(run.name, faults)


class _Metrics(Collector):
    """The figures of a part that may be begun anew: always those of its latest run.

    They are asked for on a thread of their own, and read on the event loop, where what they count is not changing.
    """

    def __init__(self) -> None:
        self._latest = CollectorRegistry()
        self._loop = asyncio.get_running_loop()

    def begin_anew(self) -> CollectorRegistry:
        """Where the next run counts."""
        self._latest = CollectorRegistry()
        return self._latest

    def collect(self) -> Iterable[Metric]:
        """What the latest run has counted."""

        async def read() -> list[Metric]:
            return list(self._latest.collect())

        return asyncio.run_coroutine_threadsafe(read(), self._loop).result(_METRICS_SECONDS)


def _show_metrics(port: int | None, metrics: _Metrics, log: Log) -> AbstractContextManager[None]:
    return nullcontext() if port is None else _showing(port, metrics, log)


@contextmanager
def _showing(port: int, metrics: _Metrics, log: Log) -> Iterator[None]:
    registry = CollectorRegistry()
    registry.register(metrics)
    try:
        server, thread = start_http_server(port, addr="127.0.0.1", registry=registry)
    except OSError as fault:
        raise MetricsUnshown(port, fault) from fault
    log.info("metrics are shown", port=server.server_port)
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@asynccontextmanager
async def _open_client(run: PartRun) -> AsyncIterator[tuple[Client, frozenset[AnyKind]]]:
    """A client that speaks the versions that the server serves, and the kinds that it does not serve at all."""
    async with wire_connected_client(run.connection, run.environment, run.clock) as client:
        spoken = choose_versions(await UntypedClient(client).discover())
    absent = frozenset(kind for kind in SERVED if kind not in spoken)
    if names := sorted(f"{kind.plural}.{kind.group}" for kind in absent if "list" in kind.verbs):
        run.log.info("kinds are not served", kinds=" ".join(names))
    async with wire_connected_client(run.connection, run.environment, run.clock, versions=spoken) as client:
        yield client, absent


def choose_versions(resources: Resources) -> dict[AnyKind, str]:
    """The version to speak of each kind that is served: the one we know best, or else the newest there is."""
    return {
        kind: version
        for kind in SERVED
        if (version := next((each.name for each in kind.versions if _is_served(resources, kind, each.name)), ""))
    }


def _is_served(resources: Resources, kind: AnyKind, version: str) -> bool:
    try:
        resources.find_kind(kind.api_version(version), kind.name)
    except UnknownResource:
        return False
    return True
