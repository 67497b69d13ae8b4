"""`dray demo`: see what dray does, on clusters that come and go."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractContextManager
from typing import Annotated, Final

import typer

from dray.app.settings import system_environment
from dray.cli.access import fail_with, refuse
from dray.cli.colours import paint
from dray.cli.printing import Output, render_columns, render_json
from dray.cli.progress import show_progress
from dray.cli.session import get_session
from dray.demo.cluster import Cluster, ClusterError
from dray.demo.commands import Commands, Done
from dray.demo.example import Example, ExampleError
from dray.demo.library import TOUR, USE_CASES, find_examples, list_names, select
from dray.demo.player import Silence, Surroundings, Unmet, play
from dray.demo.score import Result, render_score
from dray.effects.entropy import SystemEntropy
from dray.effects.log import MemoryLog

__all__ = ["run_demo"]

_AT_ONCE: Final = 2
"""Use cases that are tried side by side."""


def run_demo(
    ctx: typer.Context,
    name: Annotated[
        str, typer.Argument(metavar="[NAME]", help="tour, use-cases, or one of those that --list names.")
    ] = TOUR,
    lists: Annotated[bool, typer.Option("--list", help="Only print which demos there are.")] = False,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print the answer.")] = Output.TEXT,
) -> None:
    """Show what dray does, on clusters that come and go.

    Each command is run before your eyes. Needs no cluster and leaves none. Commands are those of kubectl where that
    is in the path, else dray's own. The tour takes half a minute; use-cases tries twelve things that people do with
    GPUs, and counts.

    \b
      dray demo                 the tour: sharing, waiting, alignment, partitions
      dray demo --list          everything that can be shown
      dray demo device-health   one of these
      dray demo use-cases       all twelve use cases, and the score

    Exit codes: 0 everything came out as told, 1 something did not, 2 it could not be shown.
    """  # noqa: D301  # the mark of lines that are kept as they are
    try:
        if lists:
            _list_demos(output)
            return
        examples = select(name, find_examples())
        around = Surroundings(
            place=find_examples().parent,
            environment=system_environment(),
            clock=get_session(ctx).clock,
            entropy=SystemEntropy(),
            log=MemoryLog(),
        )
        is_told = output is Output.TEXT and name != USE_CASES
        results = asyncio.run(_tell(examples, around) if is_told else _try_all(examples, around, output))
    except (ExampleError, ClusterError) as fault:
        raise fail_with(fault) from fault
    except KeyboardInterrupt:
        raise refuse("the demo was interrupted; its cluster is gone") from None
    if output is Output.JSON:
        typer.echo(render_json(results), nl=False)
    elif name == USE_CASES:
        typer.echo(f"\n{render_score(results)}", nl=False)
    if not all(each.holds for each in results):
        raise typer.Exit(1)


def _list_demos(output: Output) -> None:
    folder = find_examples()
    examples = [example for name in list_names(folder) for example in select(name, folder)]
    if output is Output.JSON:
        typer.echo(render_json([{"name": each.name, "title": each.title} for each in examples]), nl=False)
        return
    rows = [
        (TOUR, "Sharing, waiting, alignment, partitions: what to see first"),
        (USE_CASES, "All twelve use cases of GPUs, and the score"),
        *((each.name, each.title) for each in examples),
    ]
    typer.echo(render_columns(("name", "what it shows"), rows), nl=False)


class _Stage:
    """Shows everything: the sentence, the command, what it printed."""

    def opens(self, cluster: Cluster) -> None:
        self.runs(cluster.command)
        typer.echo(cluster.output, nl=False)

    def says(self, text: str) -> None:
        typer.echo(paint(f"\n{text}", colour=typer.colors.GREEN))

    def runs(self, line: str) -> None:
        typer.echo(paint(f"$ {line}", is_bold=True))

    def prints(self, done: Done) -> None:
        typer.echo(done.output, nl=False)

    def waits(self, title: str) -> AbstractContextManager[object]:
        return show_progress(title)


async def _tell(examples: Sequence[Example], around: Surroundings) -> list[Result]:
    """One after another, before the eyes of whoever asked."""
    typer.echo(f"Commands run in {around.place}, where their files are.")
    if not Commands(around.place, around.environment, None).has_kubectl:
        typer.echo("There is no kubectl in the path: dray's own verbs are shown instead.")
    results = []
    for number, example in enumerate(examples, 1):
        heading = f"{number}. {example.title}" if len(examples) > 1 else example.title
        typer.echo(paint(f"\n{heading}\n{'=' * len(heading)}", is_bold=True))
        typer.echo(example.about)
        try:
            results.append(Result(example.name, example.title, await play(example, around, _Stage())))
        except Unmet as fault:
            results.append(Result(example.name, example.title, problem=str(fault)))
            typer.echo(paint(f"\nThis did not come out as it should: {fault}", colour=typer.colors.RED))
    typer.echo("\nEverything held. There is more: dray demo --list" if all(r.holds for r in results) else "")
    return results


async def _try_all(examples: Sequence[Example], around: Surroundings, output: Output) -> list[Result]:
    """Side by side, told in order."""
    results: list[Result] = []
    playing = _play_side_by_side(examples, around)
    while len(results) < len(examples):
        with show_progress("playing examples", len(examples)) as advance:
            advance(len(results))
            each = await anext(playing)
        results.append(each)
        if output is Output.TEXT:
            verdict = f"holds ({each.facts} facts)" if each.holds else f"FAILS: {each.problem}"
            typer.echo(f"{len(results):>2}. {each.title:<64} {verdict}")
    return results


async def _play_side_by_side(examples: Sequence[Example], around: Surroundings) -> AsyncIterator[Result]:
    slots = asyncio.Semaphore(_AT_ONCE)

    async def try_one(example: Example) -> Result:
        async with slots:
            try:
                return Result(example.name, example.title, await play(example, around, Silence()))
            except (Unmet, ClusterError) as fault:
                return Result(example.name, example.title, problem=str(fault))

    tasks = [asyncio.create_task(try_one(each)) for each in examples]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
