import asyncio
from pathlib import Path

import pytest

from dray.demo.commands import Commands

ROOT = Path(__file__).parents[3]


@pytest.fixture
def kubectl(tmp_path: Path) -> Path:
    """A folder with a kubectl that says what it was asked."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "kubectl $* $KUBECONFIG"\nexit 3\n', encoding="utf-8")
    program.chmod(0o755)
    return program.parent


@pytest.mark.parametrize(
    ("line", "want"),
    [
        ("kubectl get pods -n demo", "dray get pods -n demo"),
        ("kubectl describe pod web", "dray explain pod web"),
        ("kubectl get pods -l x=describe", "dray get pods -l x=describe"),
        ("dray devices --claim 'demo/*'", "dray devices --claim 'demo/*'"),
        ("dray convert -f x.yaml | kubectl apply -f -", "dray convert -f x.yaml | dray apply -f -"),
    ],
)
def test_verbs_of_dray_stand_in_for_kubectl(tmp_path: Path, line: str, want: str) -> None:
    commands = Commands(ROOT, {"PATH": str(tmp_path)}, None)
    assert not commands.has_kubectl
    assert commands.phrase(line) == want


def test_kubectl_is_run_where_it_is(kubectl: Path) -> None:
    commands = Commands(ROOT, {"PATH": str(kubectl)}, kubectl / "config")
    assert commands.phrase("kubectl get pods") == "kubectl get pods"
    done = asyncio.run(commands.run("kubectl get 'a b'"))
    assert (done.code, done.output) == (3, f"kubectl get a b {kubectl / 'config'}\n")


def test_errors_are_printed_with_the_rest(tmp_path: Path) -> None:
    done = asyncio.run(Commands(ROOT, {"PATH": str(tmp_path)}, None).run("dray check -f no-such-file.yaml"))
    assert done.code == 2
    assert "no-such-file.yaml" in done.output
