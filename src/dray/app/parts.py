"""One part of dray in a process of its own, against any API server: scheduler, controllers, or nodes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dray.api.registry import SERVED
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
from dray.controllers.assembly import ControllerOptions, run_controllers
from dray.controllers.runtime import Effects
from dray.controllers.served import find_absent
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.scheduler.configuration import SchedulerConfiguration
from dray.scheduler.loop import KINDS, Scheduler, SchedulerEffects

__all__ = ["Around", "Part", "choose_versions", "make_controllers_part", "make_scheduler_part", "run_part"]

_CONTROLLERS_LEASE: Final = "kube-controller-manager"
"""That of Kubernetes' own, so that of both sorts one works."""


@dataclass(frozen=True, slots=True)
class Around:
    """What a part works with."""

    client: Client
    clock: Clock
    entropy: Entropy
    log: Log

    @property
    def pace(self) -> Pace:
        """How long to wait for an API server that fails."""
        return Pace(self.clock, self.entropy)


Part = Callable[[Around], Awaitable[None]]
"""Runs until cancelled. If it fails, it is begun again, so it may keep no state elsewhere."""


def make_scheduler_part(configuration: SchedulerConfiguration, identity: str) -> Part:
    """A scheduler; where several agree by a lease, one works, and the others keep their views up to date."""

    async def run(around: Around) -> None:
        informers = SharedInformers(around.client, around.pace, around.log)
        effects = SchedulerEffects(around.clock, around.entropy, around.log)
        absent = await find_absent(around.client, KINDS, around.pace, around.log)
        options = make_scheduler_options(configuration, identity, absent)
        scheduler = Scheduler(around.client, informers, options, effects)
        candidacy = make_candidacy(configuration, identity)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informers.run(), name="informers")
            if candidacy is None:
                await scheduler.run()
            else:
                await lead(around.client, candidacy, around.pace, around.log, scheduler.run)

    return run


def make_controllers_part(connection: Connection, identity: str, *, elects: bool) -> Part:
    """All controllers that Kubernetes' controller manager has and we do, too."""

    async def run(around: Around) -> None:
        candidacy = Candidacy(name=_CONTROLLERS_LEASE, identity=identity) if elects else None
        options = ControllerOptions(candidacy=candidacy, root_ca=await asyncio.to_thread(_read_authority, connection))
        await run_controllers(around.client, Effects(around.clock, around.entropy, around.log), options)

    return run


def _read_authority(connection: Connection) -> str:
    authority = connection.trust.authority
    if authority is None:
        return ""
    return authority.read_text(encoding="utf-8") if isinstance(authority, Path) else authority.decode()


async def run_part(
    name: str,
    part: Part,
    connection: Connection,
    environment: Mapping[str, str],
    told: tuple[Clock, Log, Callable[[], None]],
) -> None:
    """Run a part until the process is asked to end. Raises Unreachable where there is no server to begin with."""
    clock, log, announce = told
    ended = catch_signals()
    entropy = wire_entropy()
    async with _open_client(connection, environment, clock) as client, asyncio.TaskGroup() as tasks:
        around = Around(client, clock, entropy, log)
        running = tasks.create_task(supervise(name, lambda: part(around), around.pace, log), name=name)
        announce()
        await ended.wait()
        running.cancel()


@asynccontextmanager
async def _open_client(connection: Connection, environment: Mapping[str, str], clock: Clock) -> AsyncIterator[Client]:
    """A client that speaks the versions that the server serves."""
    async with wire_connected_client(connection, environment, clock) as client:
        versions = choose_versions(await UntypedClient(client).discover())
    async with wire_connected_client(connection, environment, clock, versions=versions) as client:
        yield client


def choose_versions(resources: Resources) -> dict[str, str]:
    """By group, the version to speak where the server does not serve the one we know best."""
    versions: dict[str, str] = {}
    for kind in SERVED:
        for version in (kind.declared_version, *(each.name for each in kind.versions)):
            try:
                resources.find_kind(kind.api_version(version), kind.name)
            except UnknownResource:
                continue
            if version != kind.declared_version:
                versions.setdefault(kind.group, version)
            break
    return versions
