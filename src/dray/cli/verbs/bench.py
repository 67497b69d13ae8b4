"""`dray bench`: measure this machine."""

from typing import Annotated

import typer

from dray.cli.printing import render_json

__all__ = ["bench"]

bench = typer.Typer(help="Measure how fast dray is on this machine.", no_args_is_help=True)


@bench.callback()
def _group() -> None:
    """Keep the verb below a word of its own, for there will be more."""


@bench.command("scheduling")
def measure(
    nodes: Annotated[int, typer.Option("--nodes", min=1, help="Nodes, with ten devices each.")] = 500,
    pods: Annotated[int, typer.Option("--pods", min=1, help="Pods, with a claim each.")] = 2500,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Create pods with claims in a cluster of its own, and say how soon they are on nodes.

    Everything is as in use: server, durable store in a temporary folder, controllers, scheduler. Half of the devices
    are taken beforehand.
    """
    from dray.app.schedulingbench import measure_scheduling  # noqa: PLC0415  # other verbs start faster without

    figures = measure_scheduling(nodes, pods)
    if json:
        typer.echo(render_json(figures.to_facts()), nl=False)
        return
    for name, value in figures.to_facts().items():
        shown = ", ".join(f"{part} {share:.0%}" for part, share in value.items()) if isinstance(value, dict) else value
        typer.echo(f"{name.replace('_', ' '):<20} {shown}")
