"""Bars for what takes longer than a second: on a terminal, while a server does not answer, and nowhere else."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.servers import running_server

THREE = "".join(
    f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}, namespace: default}}\n---\n" for number in range(3)
)
Server = tuple[Path, "subprocess.Popen[str]"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running_server(tmp_path_factory.mktemp("server")) as found:
        yield found


def read_until(terminal: int, piece: bytes) -> bytes:
    """What is written on a terminal, up to a piece."""
    said = b""
    while piece not in said:
        said += os.read(terminal, 4096)
    return said


@pytest.mark.parametrize(
    ("words", "title", "code"),
    [
        (["apply", "-f", "-", "-o", "json"], b"0/3", 0),
        (["get", "configmaps", "-n", "default", "-o", "json"], b"asking what there is", 0),
        (["delete", "configmap", "c0", "-n", "default", "--ignore-not-found"], b"deleting", 0),
        (["logs", "nowhere"], b"waiting for the log", 2),
        (["device", "show", "nowhere"], b"asking the cluster", 2),
        (["devices", "-o", "json"], b"reading devices", 0),
        (["lint", "-f", "-", "-o", "json", "--cluster"], b"asking the cluster", 0),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_bar_is_shown_while_a_server_does_not_answer(
    server: Server, words: list[str], title: bytes, code: int, tmp_path: Path
) -> None:
    kubeconfig, process = server
    manifests = tmp_path / "manifests.yaml"
    manifests.write_text(THREE)
    terminal, other_side = os.openpty()
    process.send_signal(signal.SIGSTOP)
    try:
        with manifests.open("rb") as given:
            verb = subprocess.Popen(
                [sys.executable, "-m", "dray", *words],
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=other_side,
                env={"KUBECONFIG": str(kubeconfig), "PYTHONUTF8": "1", "TERM": "xterm"},
            )
        os.close(other_side)
        assert title in read_until(terminal, title)
    finally:
        process.send_signal(signal.SIGCONT)
    with verb:
        answer, _ = verb.communicate()
    os.close(terminal)
    assert verb.returncode == code
    if "json" in words:
        assert json.loads(answer) is not None
    assert b"\x1b" not in answer
