"""`dray status`: what runs on a data directory."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dray.app.running import RunRecord
from dray.app.settings import system_environment
from dray.app.wishes import PartName
from dray.cli.access import fail_with, refuse
from dray.cli.printing import Output, render_json
from dray.cli.progress import show_progress
from dray.cli.session import get_session
from dray.cli.uptext import render_facts
from dray.errors import DrayError

if TYPE_CHECKING:
    from dray.app.status import ClusterFigures, Status

__all__ = ["show_status"]


def show_status(
    ctx: typer.Context,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", metavar="FOLDER", help="Where objects and keys are kept.")
    ] = Path("dray-data"),
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Say what runs on a data directory, and what is in the cluster.

    \b
      dray status                            of ./dray-data
      dray status --data-dir /srv/cluster    of another folder

    Exit codes: 0 it runs and answers, 1 nothing runs, or the server does not answer; 2 it could not be found out.
    """  # noqa: D301  # the mark of lines that are kept as they are
    from dray.app.status import read_status  # noqa: PLC0415  # help is printed without loading HTTP

    try:
        with show_progress("asking the cluster"):
            status = asyncio.run(read_status(data_dir, system_environment(), get_session(ctx).clock))
    except (DrayError, OSError) as fault:
        raise fail_with(fault) from fault
    if output is Output.JSON:
        typer.echo(render_json(status), nl=False)
    elif status.running:
        typer.echo(_render(status, data_dir), nl=False)
    else:
        refuse(f"nothing runs on {data_dir}", hint=f"dray up --data-dir {data_dir}")
    if not status.running or status.problem:
        raise typer.Exit(1)


def _render(status: "Status", data_dir: Path) -> str:
    facts: list[tuple[str, str]] = []
    for record in status.running:
        facts.append((record.part or "cluster", _describe_process(record)))
        if record.part in ("", PartName.API_SERVER):
            facts += [("kubeconfig", record.kubeconfig)] if record.kubeconfig else []
            facts += _list_figures(status.cluster) if status.cluster is not None else [("problem", status.problem)]
    return f"dray runs on {data_dir}\n{render_facts(facts)}"


def _describe_process(record: RunRecord) -> str:
    place = f"{record.address}, " if record.address else ""
    return f"{place}process {record.pid}{f', in the background; it writes {record.log}' if record.log else ''}"


def _list_figures(figures: "ClusterFigures") -> list[tuple[str, str]]:
    pods = ", ".join(f"{number} {phase.lower()}" for phase, number in figures.pods.items())
    return [
        ("nodes", f"{figures.nodes}, {figures.nodes_ready} of them ready"),
        ("pods", f"{sum(figures.pods.values())}{': ' if pods else ''}{pods}"),
        ("claims", f"{figures.claims}, {figures.claims_allocated} of them allocated"),
        ("devices", f"{figures.devices}, {figures.devices_in_use} of them in use"),
    ]
