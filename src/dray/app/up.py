"""Running dray: the parts of one process, from the data directory up, until somebody asks it to end."""

import asyncio
import gc
import ipaddress
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop

from dray.app.serverwire import wire_entropy, wire_identity, wire_judge, wire_node_relay, wire_store
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
from dray.server.identity.credentials import Credentials, ensure_credentials, make_ssl_context
from dray.server.identity.kubeconfig import Access, write_kubeconfig
from dray.server.inprocess import InProcessClient
from dray.server.serving import Address, serve
from dray.store.compaction import HistoryWindow, run_compaction

__all__ = ["Beside", "Premises", "UpOptions", "run_up"]

_MANAGER: Final = "kube-controller-manager"
_COLLECT_AFTER: Final = 50_000
"""Objects made before the collector looks for cycles: API objects form none, so looking often is time lost."""


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What to run where. `host` is where to listen; only loopback unless asked otherwise."""

    data_dir: Path
    kubeconfig: Path
    address: Address
    names: Sequence[str] = ()
    """Further names and addresses that the server's certificate is good for."""


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


def run_up(
    options: UpOptions, clock: Clock, log: Log, announce: Callable[[str], None], beside: Beside | None = None
) -> None:
    """Run until the process is told to end. `announce` gets the address once everything answers.

    Raises DrayError or OSError for what cannot be served: a store in use, a port that is taken.
    """
    try:
        uvloop.run(_run(options, clock, log, announce, beside))
    except BaseExceptionGroup as failures:
        raise _find_cause(failures) from failures


def _find_cause(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one failure that ended everything, if it was one."""
    cause: BaseException = failures
    while isinstance(cause, BaseExceptionGroup) and len(cause.exceptions) == 1:
        cause = cause.exceptions[0]
    return cause


async def _run(
    options: UpOptions, clock: Clock, log: Log, announce: Callable[[str], None], beside: Beside | None
) -> None:
    ended = _catch_signals()
    options.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    address = options.address
    names = options.names if _is_any(address.host) else (*options.names, address.host)
    credentials = ensure_credentials(options.data_dir / "pki", clock.now().to_time(), names=names)
    entropy = wire_entropy()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(wire_store(options.data_dir))
        parts = ServerParts(
            kinds=tuple(wire_registry()),
            store=store,
            clock=clock,
            entropy=entropy,
            judge=wire_judge(),
            identity=wire_identity(credentials.signing_key, clock, {}),
            log=log,
        )
        api = await stack.enter_async_context(open_api_server(parts))
        api.desk.nodes.attach(wire_node_relay(credentials, api.desk.view))
        tasks = await stack.enter_async_context(asyncio.TaskGroup())
        client = InProcessClient(api.desk, MASTER, _MANAGER)
        root_ca = credentials.authority.certificate.decode()
        pace = Pace(clock, entropy)

        async def run_parts() -> None:
            informers = SharedInformers(client, pace, log)
            premises = Premises(client=client, informers=informers, api=api, clock=clock, entropy=entropy, log=log)
            await _run_parts(premises, root_ca, beside)

        running = [
            tasks.create_task(run_compaction(store, HistoryWindow(), clock, log), name="compaction"),
            tasks.create_task(supervise("controllers", run_parts, pace, log), name="parts"),
        ]
        _settle_memory()
        async with serve(api.application, address, make_ssl_context(credentials)) as bound:
            url = f"https://{_reachable(bound.host)}:{bound.port}"
            _write_access(options, credentials, url)
            announce(url)
            await ended.wait()
        for task in running:
            task.cancel()


async def _run_parts(premises: Premises, root_ca: str, beside: Beside | None) -> None:
    """What works on objects through the Client port, on views that it shares."""
    effects = Effects(premises.clock, premises.entropy, premises.log)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(premises.informers.run(), name="informers")
        basic = BasicControllers(premises.client, wire_registry(), root_ca, effects, premises.informers)
        tasks.create_task(basic.run(), name="basic controllers")
        if beside is not None:
            await beside(premises)


def _catch_signals() -> asyncio.Event:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, ended.set)
    return ended


def _write_access(options: UpOptions, credentials: Credentials, url: str) -> None:
    access = Access(url, credentials.authority.certificate, client=credentials.admin)
    options.kubeconfig.parent.mkdir(parents=True, exist_ok=True)
    write_kubeconfig(options.kubeconfig, access)


def _settle_memory() -> None:
    """What is there now stays: the collector need not look at it again, and looks at the rest less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 20, 100)


def _is_any(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False


def _reachable(host: str) -> str:
    """How clients on this machine reach what listens at `host`."""
    if _is_any(host):
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
