"""Running dray: the parts of one process, from the data directory up, until somebody asks it to end."""

import asyncio
import gc
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import uvloop

from dray.app.hosting import Beside, Ground, host_cluster, is_any
from dray.app.serverwire import wire_entropy, wire_store
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.server.identity.credentials import Credentials, ensure_credentials
from dray.server.identity.kubeconfig import Access, write_kubeconfig
from dray.server.serving import Address

__all__ = ["UpOptions", "run_up"]

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
    names = options.names if is_any(address.host) else (*options.names, address.host)
    credentials = ensure_credentials(options.data_dir / "pki", clock.now().to_time(), names=names)
    async with wire_store(options.data_dir) as store:
        ground = Ground(store=store, credentials=credentials, clock=clock, entropy=wire_entropy(), log=log)
        async with host_cluster(ground, address, beside) as url:
            _settle_memory()
            _write_access(options, credentials, url)
            announce(url)
            await ended.wait()


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
