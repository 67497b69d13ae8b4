"""`dray bench`: measure this machine."""

from typing import Annotated

import typer

from dray.cli.printing import Output, render_json
from dray.cli.progress import show_progress

__all__ = ["bench"]

bench = typer.Typer(help="Measure how fast dray is on this machine.", no_args_is_help=True)


@bench.callback()
def _group() -> None:
    """Keep the verb below a word of its own, for there will be more."""


@bench.command("scheduling")
def measure(
    nodes: Annotated[int, typer.Option("--nodes", min=1, help="Nodes, with ten devices each.")] = 500,
    pods: Annotated[int, typer.Option("--pods", min=1, help="Pods, with a claim each.")] = 2500,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
    is_json: Annotated[bool, typer.Option("--json", help="The same as -o json.")] = False,
) -> None:
    """Create pods with claims in a cluster of its own, and say how soon they are on nodes.

    Everything is as in use: server, durable store in a temporary folder, controllers, scheduler. Half of the devices
    are taken beforehand.

    \b
      dray bench scheduling                          500 nodes, 2500 pods
      dray bench scheduling --nodes 50 --pods 250    a tenth of that

    Exit codes: 0 it was measured.
    """  # noqa: D301  # the mark of lines that are kept as they are
    from dray.app.schedulingbench import measure_scheduling  # noqa: PLC0415  # other verbs start faster without

    with show_progress("measuring"):
        figures = measure_scheduling(nodes, pods)
    if is_json or output is Output.JSON:
        typer.echo(render_json(figures.to_facts()), nl=False)
        return
    for name, value in figures.to_facts().items():
        shown = ", ".join(f"{part} {share:.0%}" for part, share in value.items()) if isinstance(value, dict) else value
        typer.echo(f"{name.replace('_', ' '):<20} {shown}")
