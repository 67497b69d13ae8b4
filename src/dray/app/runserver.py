"""Running an API server alone; and what a whole cluster does the same way."""

from pathlib import Path
from typing import Final

from msgspec.structs import replace

from dray.app.up import UpOptions, run_up
from dray.app.wishes import PartName, Surroundings, UpReport, Wish
from dray.server.serving import Address
from dray.store.opening import DATABASE_FILE

__all__ = ["begin_report", "plan_up", "run_server"]

_LOOPBACK: Final = "127.0.0.1"
_PORT: Final = 6443


def run_server(wish: Wish, around: Surroundings) -> None:
    """Run an API server alone until the process is told to end. Raises DrayError, OSError."""
    report = begin_report(wish, PartName.API_SERVER)
    options = plan_up(wish, around, PartName.API_SERVER)
    run_up(options, around.clock, around.log, lambda url: around.announce(replace(report, url=url)))


def begin_report(wish: Wish, part: str) -> UpReport:
    """What can be said before anything runs."""
    return UpReport(
        part=part,
        url="",
        kubeconfig=str(_choose_kubeconfig(wish).absolute()),
        data_dir=str(wish.data_dir),
        is_continued=(wish.data_dir / DATABASE_FILE).exists(),
    )


def plan_up(wish: Wish, around: Surroundings, part: str) -> UpOptions:
    """Where data are, and where the server listens."""
    address = Address(wish.host or _LOOPBACK, _PORT if wish.port is None else wish.port)
    return UpOptions(wish.data_dir, _choose_kubeconfig(wish), address, record=around.describe(part))


def _choose_kubeconfig(wish: Wish) -> Path:
    return wish.kubeconfig_out or wish.data_dir / "kubeconfig"
