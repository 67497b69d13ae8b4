"""Running dray: the parts of one process, from the data directory up, until somebody asks it to end."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from dray.app.hosting import Beside, Ground, host_cluster, is_any
from dray.app.process import catch_signals, run_process, settle_memory
from dray.app.running import RunRecord, hold_run_file
from dray.app.serverwire import wire_entropy, wire_keeper, wire_store
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.server.identity.credentials import Credentials, ensure_credentials
from dray.server.identity.kubeconfig import Access, write_kubeconfig
from dray.server.serving import Address

__all__ = ["UpOptions", "run_up"]


@dataclass(frozen=True, slots=True)
class UpOptions:
    """What to run where. `address` is where to listen; only loopback unless asked otherwise."""

    data_dir: Path
    kubeconfig: Path
    address: Address
    names: Sequence[str] = ()
    """Further names and addresses that the server's certificate is good for."""
    record: RunRecord = field(default_factory=RunRecord)
    """What others are told of this process; where it can be reached is added."""


def run_up(
    options: UpOptions, clock: Clock, log: Log, announce: Callable[[str], None], beside: Beside | None = None
) -> None:
    """Run until the process is told to end. `announce` gets the address once everything answers.

    Raises DrayError or OSError for what cannot be served: a data directory in use, a port that is taken.
    """
    options.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold_run_file(options.data_dir) as tell:

        def note(url: str) -> None:
            tell(_describe(options, url))
            announce(url)

        run_process(_run(options, clock, log, note, beside))


async def _run(
    options: UpOptions, clock: Clock, log: Log, announce: Callable[[str], None], beside: Beside | None
) -> None:
    ended = catch_signals()
    address = options.address
    names = options.names if is_any(address.host) else (*options.names, address.host)
    folder = options.data_dir / "pki"
    credentials = ensure_credentials(folder, clock.now().to_time(), names=names)
    async with wire_store(options.data_dir) as store:
        keep = wire_keeper(folder, clock, log, names=names)
        ground = Ground(store=store, credentials=credentials, clock=clock, entropy=wire_entropy(), log=log, keep=keep)
        async with host_cluster(ground, address, beside) as url:
            settle_memory()
            _write_access(options, credentials, url)
            announce(url)
            await ended.wait()


def _describe(options: UpOptions, url: str) -> RunRecord:
    kubeconfig = str(options.kubeconfig.absolute())
    return replace(options.record, pid=os.getpid(), address=url, kubeconfig=kubeconfig)


def _write_access(options: UpOptions, credentials: Credentials, url: str) -> None:
    access = Access(url, credentials.authority.certificate, client=credentials.admin)
    options.kubeconfig.parent.mkdir(parents=True, exist_ok=True)
    write_kubeconfig(options.kubeconfig, access)
