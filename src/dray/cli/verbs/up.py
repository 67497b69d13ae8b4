"""`dray up`: run dray in this process."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from dray.cli.printing import render_error
from dray.cli.session import get_session
from dray.errors import DrayError

__all__ = ["run"]


class Part(StrEnum):
    """What can be run by itself."""

    API_SERVER = "apiserver"


def run(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    only: Annotated[Part, typer.Option("--only", help="Which part to run.")] = Part.API_SERVER,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", metavar="FOLDER", help="Where objects and keys are kept.")
    ] = Path("dray-data"),
    host: Annotated[
        str, typer.Option("--host", help="Address to listen on. Others than loopback reach everyone.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 6443,
    kubeconfig_out: Annotated[
        Path | None,
        typer.Option("--kubeconfig-out", metavar="FILE", help="Where to write the administrator's kubeconfig."),
    ] = None,
) -> None:
    """Run the API server, and what keeps its objects in order, until interrupted."""
    from dray.app.up import UpOptions, run_up  # noqa: PLC0415  # other verbs start faster without the server
    from dray.server.serving import Address  # noqa: PLC0415  # as above

    session = get_session(ctx)
    kubeconfig = kubeconfig_out or data_dir / "kubeconfig"
    options = UpOptions(data_dir, kubeconfig, Address(host, port))

    def announce(url: str) -> None:
        typer.echo(f"dray is up at {url}\n  try: kubectl --kubeconfig {kubeconfig} get namespaces")

    try:
        run_up(options, session.clock, session.log, announce)
    except (DrayError, OSError) as fault:
        typer.echo(render_error(str(fault)), nl=False, err=True)
        raise typer.Exit(2) from fault
