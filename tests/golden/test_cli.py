from pathlib import Path

import pytest
from typer.testing import CliRunner

from dray.cli.main import app
from tests.conftest import Golden
from tools.generate_docs import list_verbs, render_help

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("path", list(list_verbs()), ids=lambda path: " ".join(["dray", *path]))
def test_help_is_as_expected(path: list[str], golden: Golden) -> None:
    golden.check(f"help/{'-'.join(['dray', *path])}.txt", render_help(path))


@pytest.mark.parametrize("form", ["text", "json"])
def test_check_prints_broken_claims_as_expected(form: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = CliRunner().invoke(app, ["check", "-f", "examples/broken-claims/claims.yaml", "-o", form])
    assert result.exit_code == 1
    golden.check(f"check/broken-claims.{form}", result.output)


@pytest.mark.parametrize("form", ["text", "json"])
def test_settings_are_shown_as_expected(form: str, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRAY_LOG_LEVEL", "debug")
    monkeypatch.delenv("DRAY_CONFIG", raising=False)
    result = CliRunner().invoke(app, ["--log", "json", "config", "show", "-o", form])
    assert result.exit_code == 0
    golden.check(f"config/show.{form}", result.output)
