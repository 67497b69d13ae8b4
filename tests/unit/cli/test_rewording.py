from enum import StrEnum
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from dray.cli.rewording import reword


class Colour(StrEnum):
    RED = "red"


def words_of(given: list[str]) -> list[str]:
    """What comes of a command line."""
    app = typer.Typer()
    said: list[list[str]] = []

    @app.callback()
    def root(level: Annotated[str, typer.Option("--level")] = "info") -> None:
        pass

    @app.command("go")
    def go(
        ctx: typer.Context,
        nodes: Annotated[list[str] | None, typer.Option("--nodes")] = None,
        colour: Annotated[Colour | None, typer.Option("--colour", "-c")] = None,
        folder: Annotated[Path, typer.Option("--folder")] = Path("here"),
        elects: Annotated[bool | None, typer.Option("--elect/--no-elect")] = None,
        detach: Annotated[bool, typer.Option("--detach", "-d")] = False,
    ) -> None:
        said.append(reword(ctx, without="detach"))

    result = CliRunner().invoke(app, given)
    assert result.exit_code == 0, result.output
    return said[0]


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (["go"], ["go"]),
        (["go", "-d"], ["go"]),
        (["--level", "debug", "go", "--detach"], ["--level", "debug", "go"]),
        (["go", "--nodes", "a", "-d", "--nodes", "b"], ["go", "--nodes", "a", "--nodes", "b"]),
        (["go", "-c", "red"], ["go", "--colour", "red"]),
        (["go", "--folder=here"], ["go", "--folder", "here"]),
        (["go", "--elect"], ["go", "--elect"]),
        (["go", "--no-elect"], ["go", "--no-elect"]),
    ],
)
def test_what_was_given_is_given_again_and_nothing_else(given: list[str], want: list[str]) -> None:
    assert words_of(given) == want
