"""One process as a cluster: an API server that listens, the controllers of every cluster, and what runs beside."""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from dray.app.serverwire import wire_identity, wire_judge, wire_node_relay
from dray.app.supervision import supervise
from dray.app.wire import wire_registry
from dray.client.port import Client
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.basic import BasicControllers
from dray.controllers.runtime import Effects
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.server.assembly import MASTER, ApiServer, ServerParts, open_api_server
from dray.server.identity.credentials import Credentials, make_ssl_context
from dray.server.inprocess import InProcessClient
from dray.server.serving import Address, serve
from dray.store.compaction import HistoryWindow, run_compaction
from dray.store.port import Store

__all__ = ["Beside", "Ground", "Premises", "host_cluster", "is_any"]

_MANAGER: Final = "kube-controller-manager"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a process as a cluster stands on. Whoever opened the store closes it."""

    store: Store
    credentials: Credentials
    clock: Clock
    entropy: Entropy
    log: Log
    keep: Callable[[ssl.SSLContext], Coroutine[None, None, None]] | None = None
    """Renews what the server shows, until cancelled; None where certificates outlive the process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """What the API server offers to whatever runs beside it in its process. `informers` are run already."""

    client: Client
    informers: SharedInformers
    api: ApiServer
    clock: Clock
    entropy: Entropy
    log: Log


Beside = Callable[[Premises], Awaitable[None]]
"""Runs until cancelled. If it fails, it is begun again with informers of its own, so it may keep no state elsewhere."""


@asynccontextmanager
async def host_cluster(ground: Ground, address: Address, beside: Beside | None) -> AsyncIterator[str]:
    """Serve for the length of a block; yields the address that clients on this machine use.

    Raises CannotListen for an address that cannot be listened on.
    """
    credentials = ground.credentials
    parts = ServerParts(
        kinds=tuple(wire_registry()),
        store=ground.store,
        clock=ground.clock,
        entropy=ground.entropy,
        judge=wire_judge(),
        identity=wire_identity(credentials.signing_key, ground.clock, {}),
        log=ground.log,
    )
    async with open_api_server(parts) as api, asyncio.TaskGroup() as tasks:
        compaction = run_compaction(ground.store, HistoryWindow(), ground.clock, ground.log)
        api.desk.nodes.attach(wire_node_relay(credentials, api.desk.view))
        pace = Pace(ground.clock, ground.entropy)

        async def run_parts() -> None:
            await _run_parts(ground, api, beside)

        running = [
            tasks.create_task(compaction, name="compaction"),
            tasks.create_task(supervise("controllers", run_parts, pace, ground.log), name="parts"),
        ]
        shown = make_ssl_context(credentials)
        if ground.keep is not None:
            running.append(tasks.create_task(ground.keep(shown), name="certificates"))
        async with serve(api.application, address, shown) as bound:
            yield f"https://{_reachable(bound.host)}:{bound.port}"
        for task in running:
            task.cancel()


async def _run_parts(ground: Ground, api: ApiServer, beside: Beside | None) -> None:
    """What works on objects through the Client port, on views that it shares."""
    client = InProcessClient(api.desk, MASTER, _MANAGER)
    informers = SharedInformers(client, Pace(ground.clock, ground.entropy), ground.log)
    effects = Effects(ground.clock, ground.entropy, ground.log)
    root_ca = ground.credentials.authority.certificate.decode()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(informers.run(), name="informers")
        basic = BasicControllers(client, wire_registry(), root_ca, effects, informers)
        tasks.create_task(basic.run(), name="basic controllers")
        if beside is not None:
            clock, entropy, log = ground.clock, ground.entropy, ground.log
            await beside(Premises(client=client, informers=informers, api=api, clock=clock, entropy=entropy, log=log))


def is_any(host: str) -> bool:
    """Whether listening there is listening on every address of the machine."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _reachable(host: str) -> str:
    """How clients on this machine reach what listens at `host`."""
    if is_any(host):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
