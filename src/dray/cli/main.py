"""The command line: global options, and the table of verbs.

Exit codes, the same for every verb: 0 what was asked is done and all is well; 1 what was looked at has faults; 2 the
command could not be carried out as given.
"""

from pathlib import Path
from typing import Annotated

import typer

from dray.app.settings import LogFormat, SettingsError
from dray.cli.printing import render_error
from dray.cli.session import open_session
from dray.cli.verbs.backup import restore_file, write_backup
from dray.cli.verbs.bench import bench
from dray.cli.verbs.check import check_files
from dray.cli.verbs.config import config
from dray.cli.verbs.device import device
from dray.cli.verbs.up import run
from dray.cli.verbs.version import show_version
from dray.effects.log import Level

__all__ = ["app", "main"]

app = typer.Typer(
    name="dray",
    help="Kubernetes Dynamic Resource Allocation, whole, in Python.",
    epilog="Exit codes: 0 all is well, 1 what was looked at has faults, 2 the command could not be carried out.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


@app.callback()
def _prepare(
    ctx: typer.Context,
    config_file: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings file (YAML); else DRAY_CONFIG.")
    ] = None,
    log_format: Annotated[LogFormat | None, typer.Option("--log", help="How log lines are written.")] = None,
    log_level: Annotated[Level | None, typer.Option("--log-level", help="The least that is logged.")] = None,
    debug: Annotated[bool, typer.Option("--debug", help="Print the trace of an error too.")] = False,
) -> None:
    flags = {"log.format": log_format, "log.level": log_level}
    given = {name: str(value) for name, value in flags.items() if value is not None}
    try:
        open_session(ctx, file=config_file, flags=given, is_debugging=debug)
    except SettingsError as fault:
        typer.echo(render_error(str(fault)), nl=False, err=True)
        raise typer.Exit(2) from fault


app.command("backup")(write_backup)
app.command("check")(check_files)
app.command("restore")(restore_file)
app.command("up")(run)
app.command("version")(show_version)
app.add_typer(bench, name="bench")
app.add_typer(config, name="config")
app.add_typer(device, name="device")


def main() -> None:
    """Run the command with the arguments of this process."""
    app(prog_name="dray")
