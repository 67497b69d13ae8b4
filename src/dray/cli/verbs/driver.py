"""`dray driver`: what authors of drivers need."""

from pathlib import Path
from typing import Annotated

import typer

from dray.app.newdriver import ProjectRefused, plan_project, write_project
from dray.cli.access import fail_with

__all__ = ["driver"]

driver = typer.Typer(help="Write drivers of devices.", no_args_is_help=True)


@driver.callback()
def _prepare() -> None:
    """Write drivers of devices."""


@driver.command("new")
def write_new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The driver's name, such as gpu.example.com.")],
    folder: Annotated[
        Path | None, typer.Option("--folder", metavar="FOLDER", help="Where to; else named after the driver.")
    ] = None,
) -> None:
    """Write a driver project that works, with tests, manifests, and hardware that is made up.

    \b
      dray driver new gpu.example.com                  into a folder of its name
      dray driver new gpu.example.com --folder mine    into another, which must be empty or not there

    Exit codes: 0 it is written, 2 it is not, and nothing was changed.
    """  # noqa: D301  # the mark of lines that are kept as they are
    try:
        project = plan_project(name)
        place = folder or Path(project.title)
        write_project(project, place)
    except ProjectRefused as fault:
        raise fail_with(fault) from fault
    typer.echo(f"{place}: {len(project.texts)} files of a driver for {name}\n  try: cd {place} && python -m pytest")
