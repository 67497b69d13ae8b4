from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from dray.cli.main import app
from tests.conftest import Golden

ROOT = Path(__file__).parents[2]
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


@pytest.mark.parametrize("form", ["text", "json"])
def test_check_prints_broken_claims_as_expected(form: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["check", "-f", "examples/broken-claims/claims.yaml", "-o", form])
    assert result.exit_code == 1
    golden.check(f"check/broken-claims.{form}", result.output)
