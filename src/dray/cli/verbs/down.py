"""`dray down`: end what runs on a data directory."""

import asyncio
from pathlib import Path
from typing import Annotated, Final

import typer

from dray.app.running import RunRecord, end_running
from dray.app.wishes import PartName
from dray.cli.access import fail_with
from dray.cli.progress import show_progress
from dray.cli.session import get_session
from dray.effects.clock import Clock
from dray.errors import DrayError

__all__ = ["end"]

_ORDER: Final = (PartName.SCHEDULER, PartName.CONTROLLERS, PartName.NODE, "")
"""Parts before the server that they may work on."""


def end(
    ctx: typer.Context,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", metavar="FOLDER", help="Where objects and keys are kept.")
    ] = Path("dray-data"),
    only: Annotated[PartName | None, typer.Option("--only", help="End one part that runs alone, nothing else.")] = None,
) -> None:
    """End what runs on a data directory, in good order, and wait for it.

    Objects stay: `dray up` on the same data directory continues.

    \b
      dray down                            what runs on ./dray-data
      dray down --data-dir /srv/cluster    what runs on another folder

    Exit codes: 0 nothing runs there any more, 2 it did not end.
    """  # noqa: D301  # the mark of lines that are kept as they are
    parts = _ORDER if only is None else ("" if only is PartName.API_SERVER else only,)
    clock = get_session(ctx).clock
    try:
        with show_progress("ending"):
            ended = asyncio.run(_end_all(data_dir, parts, clock))
    except (DrayError, OSError) as fault:
        raise fail_with(fault) from fault
    for record in ended:
        typer.echo(f"{record.part or 'cluster'}: process {record.pid} has ended")
    if not ended:
        typer.echo(f"nothing runs on {data_dir}")


async def _end_all(data_dir: Path, parts: tuple[str, ...], clock: Clock) -> list[RunRecord]:
    ended = [await end_running(data_dir, part, clock) for part in parts]
    return [record for record in ended if record is not None]
