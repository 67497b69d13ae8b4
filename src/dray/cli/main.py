"""The command line: global options. The verbs are in `dray.cli.verbtable`.

Exit codes, the same for every verb: 0 what was asked is done and all is well; 1 what was looked at has faults; 2 the
command could not be carried out as given.
"""

from pathlib import Path
from typing import Annotated

import typer

from dray.app.settings import LogFormat, SettingsError
from dray.cli.session import open_session
from dray.cli.verbtable import VerbGroup
from dray.effects.level import Level

__all__ = ["app", "main"]

app = typer.Typer(
    name="dray",
    cls=VerbGroup,
    help="Kubernetes Dynamic Resource Allocation, whole, in Python.",
    epilog="Exit codes: 0 all is well, 1 what was looked at has faults, 2 the command could not be carried out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        from dray.cli.verbs.version import render_version  # noqa: PLC0415  # as verbs are, loaded when used

        typer.echo(render_version(), nl=False)
        raise typer.Exit


@app.callback()
def _prepare(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    config_file: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings file (YAML); else DRAY_CONFIG.")
    ] = None,
    log_format: Annotated[LogFormat | None, typer.Option("--log", help="How log lines are written.")] = None,
    log_level: Annotated[Level | None, typer.Option("--log-level", help="The least that is logged.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print the trace of an error too.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="The same as the verb version.")
    ] = False,
) -> None:
    flags = {"log.format": log_format, "log.level": log_level}
    given = {name: str(value) for name, value in flags.items() if value is not None}
    try:
        open_session(ctx, file=config_file, flags=given, is_debugging=debug)
    except SettingsError as fault:
        hint = "dray config show lists the settings; they come from a file, DRAY_* variables and options"
        from dray.cli.access import refuse  # noqa: PLC0415  # loaded where something is wrong: it knows clients

        raise refuse(str(fault), hint=hint) from fault


def main() -> None:
    """Run the command with the arguments of this process."""
    app(prog_name="dray")
