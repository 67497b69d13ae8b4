"""`dray convert`: manifests of any version as v1."""

from typing import Final

import typer

from dray.app.linting import OfflineJudge, know_profiles
from dray.app.wire import wire_offline_context, wire_registry
from dray.authoring.converting import convert
from dray.authoring.judging import Present, Yardstick
from dray.cli.drafts import DraftFiles, read_drafts
from dray.cli.manifestfiles import Recursive
from dray.cli.printing import render_error
from dray.cli.progress import show_progress
from dray.cli.session import get_session

__all__ = ["convert_files"]

_HINT: Final = "dray lint with the same files, which looks closer"


def convert_files(ctx: typer.Context, files: DraftFiles, recursive: Recursive = False) -> None:
    """Rewrite manifests of any version of DRA for v1.

    There is a comment on each change. What need not change stays as it is. The classic API (ResourceClass,
    parametersRef) becomes a start in v1: where a fact is missing a comment says which.

    \b
      dray convert -f old.yaml > new.yaml             what it makes of it, with comments
      dray convert -f old.yaml | dray apply -f -      and have that at once

    Exit codes: 0 all is v1, 1 something cannot be converted, 2 something could not be read, 3 facts are missing.
    """  # noqa: D301  # the mark of lines that are kept as they are
    manuscripts = read_drafts(files, recursive=recursive)
    registry = wire_registry()
    judge = OfflineJudge(registry, wire_offline_context(get_session(ctx).clock))
    with show_progress("converting"):
        converted = convert(manuscripts, registry, Yardstick(know_profiles(), judge, Present()))
    typer.echo(converted.text, nl=False)
    for problem in converted.problems:
        typer.echo(render_error(problem, hint=_HINT), nl=False, err=True)
    for fact in converted.missing:
        typer.echo(f"missing: {fact}", err=True)
    if converted.problems or converted.missing:
        raise typer.Exit(1 if converted.problems else 3)
