from collections.abc import Iterator

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from dray.cli.main import app
from tests.conftest import Golden

WIDE = {"COLUMNS": "100"}


def verbs() -> Iterator[list[str]]:
    """Every path of the command, groups before what is in them."""
    pending: list[tuple[list[str], object]] = [([], get_command(app))]
    while pending:
        path, command = pending.pop(0)
        yield path
        if isinstance(command, TyperGroup):
            pending += [([*path, name], each) for name, each in command.commands.items()]


@pytest.mark.parametrize("path", list(verbs()), ids=lambda path: " ".join(["dray", *path]))
def test_help_is_as_expected(path: list[str], golden: Golden) -> None:
    result = CliRunner().invoke(app, [*path, "--help"], prog_name="dray", env=WIDE)
    assert result.exit_code == 0
    golden.check(f"help/{'-'.join(['dray', *path])}.txt", result.output)
