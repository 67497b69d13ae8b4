"""`dray config`: what is set, and by whom."""

from typing import Annotated

import typer

from dray.app.settings import SETTINGS
from dray.cli.printing import Output, render_columns, render_json
from dray.cli.session import get_session

__all__ = ["config"]

config = typer.Typer(help="See the settings in force.", no_args_is_help=True)


@config.callback()
def _config() -> None:
    """Keep `show` a verb of its own, also while it is the only one."""


@config.command("show")
def show_config(
    ctx: typer.Context,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Print every setting with its value and where the value came from.

    \b
      dray config show                                a line for each
      dray --config dray.yaml config show -o json     with those of a file, for machines
      DRAY_LOG_LEVEL=debug dray config show           with one of the environment

    Exit codes: 0 they are shown, 2 one is unknown or impossible.
    """  # noqa: D301  # the mark of lines that are kept as they are
    view = get_session(ctx).view
    if output is Output.JSON:
        rows = [
            {"name": name, "value": view.values[name], "origin": view.origins[name], "unit": setting.unit}
            for name, setting in SETTINGS.items()
        ]
        typer.echo(render_json(rows), nl=False)
        return
    lines = [
        (name, view.values[name], view.origins[name], setting.variable, setting.description)
        for name, setting in SETTINGS.items()
    ]
    typer.echo(render_columns(("name", "value", "origin", "variable", "meaning"), lines), nl=False)
