"""`dray up`: run dray in this process, or in the background."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Final

import typer
from msgspec.structs import fields

from dray.app.detaching import begin_detached, tell_ready
from dray.app.running import AlreadyRunning, find_running, log_path
from dray.app.settings import system_environment
from dray.app.wishes import PartName, RuntimeChoice, Surroundings, UpReport, Wish
from dray.cli.access import fail_with, refuse
from dray.cli.progress import show_progress
from dray.cli.rewording import reword
from dray.cli.session import get_session
from dray.cli.uptext import render_up
from dray.errors import DrayError

__all__ = ["run"]

_CLUSTER: Final = frozenset({"data_dir", "nodes", "runtime", "host", "port", "kubeconfig_out"})
_SCHEDULER: Final = frozenset({"scheduler_config", "checks_itself"})
_APART: Final = frozenset({"data_dir", "kubeconfig", "context", "metrics_port"})
_MEANINGFUL: Final = {
    None: _CLUSTER | _SCHEDULER,
    PartName.API_SERVER: _CLUSTER - {"nodes", "runtime"},
    PartName.SCHEDULER: _APART | _SCHEDULER | {"elects"},
    PartName.CONTROLLERS: _APART | {"controllers", "elects"},
    PartName.NODE: _APART | {"nodes", "runtime", "host", "port"},
}
"""Which wishes mean something to what is run."""
_FLAGS: Final = {"checks_itself": "--self-check", "elects": "--leader-elect"}
"""Of wishes that are called otherwise."""


def run(  # noqa: PLR0913  # one parameter for each option
    ctx: typer.Context,
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            "--nodes",
            metavar="PROFILE[:COUNT]",
            help="Nodes, such as dgx-h100, dgx-h100:mig+rdma-nic:4, control-plane, or machine for this machine itself; "
            "may be repeated.",
            show_default="dgx-h100:2, or what the data directory had before",
        ),
    ] = None,
    runtime: Annotated[
        RuntimeChoice | None,
        typer.Option(
            "--runtime",
            help="Whether containers only seem to run, or are processes of this machine.",
            show_default="simulated, or what the data directory had before",
        ),
    ] = None,
    data_dir: Annotated[
        Path, typer.Option("--data-dir", metavar="FOLDER", help="Where objects and keys are kept.")
    ] = Path("dray-data"),
    host: Annotated[
        str | None,
        typer.Option(
            "--host",
            metavar="ADDRESS",
            help="Address to listen on. Others than loopback reach everyone.",
            show_default="127.0.0.1",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Port to listen on; 0 takes a free one.",
            show_default="6443; of --only node, 0",
        ),
    ] = None,
    kubeconfig_out: Annotated[
        Path | None,
        typer.Option(
            "--kubeconfig-out",
            metavar="FILE",
            help="Where to write the administrator's kubeconfig.",
            show_default="kubeconfig in the data directory",
        ),
    ] = None,
    only: Annotated[
        PartName | None,
        typer.Option(
            "--only",
            help="Run one part alone; all but apiserver work on the cluster of --kubeconfig, dray's or any other.",
        ),
    ] = None,
    kubeconfig: Annotated[
        Path | None,
        typer.Option("--kubeconfig", metavar="FILE", help="The cluster that a part works on; else as kubectl."),
    ] = None,
    context: Annotated[str, typer.Option("--context", metavar="NAME", help="Which context of the kubeconfig.")] = "",
    scheduler_config: Annotated[
        Path | None,
        typer.Option(
            "--scheduler-config", metavar="FILE", help="Profiles of the scheduler, as a KubeSchedulerConfiguration."
        ),
    ] = None,
    controllers: Annotated[
        str,
        typer.Option("--controllers", metavar="NAMES", help="Which controllers: *, names, and -name to leave one out."),
    ] = "*",
    leader_elect: Annotated[
        bool | None,
        typer.Option(
            "--leader-elect/--no-leader-elect",
            help="Whether one of several schedulers, or of several controllers, is chosen by a lease.",
            show_default="chosen",
        ),
    ] = None,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            "--metrics-port",
            metavar="PORT",
            min=0,
            max=65535,
            help="Where a part shows its metrics on loopback; a whole cluster does at its /metrics.",
            show_default="nowhere",
        ),
    ] = None,
    self_check: Annotated[
        bool, typer.Option("--self-check", help="Have every decision of the scheduler audited; slower.")
    ] = False,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Go into the background once everything is ready.")
    ] = False,
    ready_fd: Annotated[int | None, typer.Option("--ready-fd", hidden=True)] = None,
) -> None:
    """Run a cluster until interrupted, or in the background.

    API server, controllers, scheduler, and nodes with devices. A second run on the same data continues. With
    --only, one part alone, also for clusters that are not dray's.

    \b
      dray up                                          two machines with eight GPUs each
      dray up -d --nodes control-plane --nodes t4-vm   in the background, until dray down
      dray up --runtime process                        containers are processes of this machine
      dray up --only scheduler --kubeconfig FILE       a scheduler for some other cluster
    """  # noqa: D301  # the mark of lines that are kept as they are
    wish = Wish(
        data_dir=data_dir,
        nodes=tuple(nodes or ()),
        runtime=runtime,
        host=host,
        port=port,
        kubeconfig_out=kubeconfig_out,
        kubeconfig=kubeconfig,
        context=context,
        scheduler_config=scheduler_config,
        checks_itself=self_check,
        controllers=controllers,
        elects=leader_elect,
        metrics_port=metrics_port,
    )
    _refuse_meaningless(wish, only)
    try:
        if detach:
            _go_into_background(ctx, wish, only)
        else:
            _run(ctx, wish, only, ready_fd)
    except (DrayError, OSError) as fault:
        raise fail_with(fault) from fault
    except KeyboardInterrupt:
        raise refuse("interrupted before everything was ready") from None


def _run(ctx: typer.Context, wish: Wish, only: PartName | None, ready_fd: int | None) -> None:
    from dray.app.process import spare_collector  # noqa: PLC0415  # help is printed without an event loop

    spare_collector()
    session = get_session(ctx)
    log_file = (
        None if ready_fd is None else log_path(wish.data_dir, "" if only in (None, PartName.API_SERVER) else only)
    )
    with ExitStack() as waiting:
        waiting.enter_context(show_progress("starting"))

        def announce(report: UpReport) -> None:
            waiting.close()
            text = render_up(report, is_detached=ready_fd is not None)
            if ready_fd is None:
                typer.echo(text, nl=False)
                sys.stdout.flush()
            else:
                tell_ready(ready_fd, text)

        nodes = session.view.settings.node
        around = Surroundings(session.clock, session.log, system_environment(), announce, log_file, nodes)
        _choose_runner(only)(wish, around)


def _go_into_background(ctx: typer.Context, wish: Wish, only: PartName | None) -> None:
    running = find_running(wish.data_dir, _name_run(only))
    if running is not None:
        raise AlreadyRunning(wish.data_dir, running)
    with show_progress("starting"):
        said = begin_detached(reword(ctx, without="detach"), _choose_log(wish, only))
    typer.echo(said, nl=False)


def _name_run(only: PartName | None) -> str:
    """By what name it is known on its data directory: an API server alone stands for the cluster."""
    return "" if only in (None, PartName.API_SERVER) else only


def _choose_log(wish: Wish, only: PartName | None) -> Path:
    """Where a process in the background writes."""
    return log_path(wish.data_dir, _name_run(only))


def _choose_runner(only: PartName | None) -> Callable[[Wish, Surroundings], None]:
    """Each is imported by itself, so that one part starts without the others."""
    match only:
        case None:
            from dray.app.runcluster import run_cluster  # noqa: PLC0415

            return run_cluster
        case PartName.API_SERVER:
            from dray.app.runserver import run_server  # noqa: PLC0415

            return run_server
        case _:
            from dray.app.runpart import run_single_part  # noqa: PLC0415

            return lambda wish, around: run_single_part(only, wish, around)


def _refuse_meaningless(wish: Wish, only: PartName | None) -> None:
    """Leave the command if something is wished that means nothing to what is run."""
    for each in fields(Wish):
        if getattr(wish, each.name) != each.default and each.name not in _MEANINGFUL[only]:
            flag = _FLAGS.get(each.name, f"--{each.name.replace('_', '-')}")
            raise refuse(
                f"{flag} means nothing to {'a whole cluster' if only is None else f'--only {only}'}",
                hint=f"dray up {'' if only is None else f'--only {only} '}without {flag}",
            )
