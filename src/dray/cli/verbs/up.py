"""`dray up`: run dray in this process."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from dray.cli.printing import render_error
from dray.cli.session import get_session
from dray.errors import DrayError

__all__ = ["run"]

_NAMES_SHOWN: Final = 3


class Part(StrEnum):
    """What can be run by itself."""

    API_SERVER = "apiserver"


def run(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    only: Annotated[Part | None, typer.Option("--only", help="Run one part alone instead of a whole cluster.")] = None,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--nodes",
            metavar="PROFILE[:COUNT]",
            help="Simulated nodes, such as dgx-h100, dgx-h100:mig+rdma-nic:4 or control-plane; may be repeated.",
            show_default="dgx-h100:2",
        ),
    ] = None,
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
    """Run a cluster until interrupted: API server, controllers, scheduler, and simulated nodes with devices."""
    # Imported here, so that other verbs start without a server, and an API server alone without the rest.
    from dray.app.up import UpOptions, run_up  # noqa: PLC0415
    from dray.server.serving import Address  # noqa: PLC0415

    session = get_session(ctx)
    kubeconfig = kubeconfig_out or data_dir / "kubeconfig"
    options = UpOptions(data_dir, kubeconfig, Address(host, port))

    def announce(url: str) -> None:
        typer.echo(f"dray is up at {url}\n  try: kubectl --kubeconfig {kubeconfig} get namespaces")

    try:
        if only is Part.API_SERVER:
            run_up(options, session.clock, session.log, announce)
            return
        from dray.app.cluster import ClusterOptions, make_cluster  # noqa: PLC0415
        from dray.app.simulatednodes import parse_node_groups  # noqa: PLC0415

        cluster = make_cluster(ClusterOptions(parse_node_groups(nodes or ["dgx-h100:2"])), _announce_nodes)
        run_up(options, session.clock, session.log, announce, cluster)
    except (DrayError, OSError) as fault:
        typer.echo(render_error(str(fault)), nl=False, err=True)
        raise typer.Exit(2) from fault


def _announce_nodes(names: Sequence[str]) -> None:
    listed = ", ".join(names[:_NAMES_SHOWN])
    more = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    typer.echo(f"nodes are ready: {listed}{more}")
