"""`dray up`, `dray down` and `dray status` as people run them: one screen, one cluster a data directory, no remains."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.upping import dray, running, short_folder, started

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: kept}\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as path:
        yield path


def up(folder: Path, *words: str) -> list[str]:
    return ["--data-dir", str(folder), "--port", "0", *words]


def names(kubeconfig: Path, kind: str) -> list[str]:
    done = dray("get", kind, "-o", "name", KUBECONFIG=str(kubeconfig))
    assert done.returncode == 0, done.stderr
    return sorted(line.partition("/")[2] for line in done.stdout.splitlines())


def test_one_screen_says_what_runs_where_and_what_to_try(folder: Path) -> None:
    with started(*up(folder, "--nodes", "t4-vm", "--nodes", "control-plane")) as process:
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stderr is not None
        screen, said = process.stdout.read(), process.stderr.read()
        assert process.wait() == 0
    assert "Traceback" not in said
    assert "error" not in said
    kubeconfig = folder / "kubeconfig"
    assert f"export KUBECONFIG={kubeconfig}" in screen
    assert "scheduler, 2 nodes" in screen
    assert len(screen.splitlines()) < 24


def test_a_cluster_goes_into_the_background_and_is_ended(folder: Path) -> None:
    begun = dray("up", *up(folder, "-d", "--nodes", "t4-vm"))
    assert (begun.returncode, begun.stderr) == (0, "")
    assert "1 node is ready: t4-vm-0" in begun.stdout
    assert names(folder / "kubeconfig", "nodes") == ["t4-vm-0"]
    status = json.loads(dray("status", "--data-dir", str(folder), "-o", "json").stdout)
    (process,) = status["running"]
    assert process["address"] in begun.stdout
    assert process["kubeconfig"] == str(folder / "kubeconfig")
    assert status["cluster"] == {
        "nodes": 1,
        "nodesReady": 1,
        "pods": {},
        "claims": 0,
        "claimsAllocated": 0,
        "devices": 1,
        "devicesInUse": 0,
    }
    shown = dray("status", "--data-dir", str(folder))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "1, 1 of them ready" in shown.stdout
    ended = dray("down", "--data-dir", str(folder))
    assert ended.stdout == f"cluster: process {process['pid']} has ended\n"
    assert dray("down", "--data-dir", str(folder)).stdout == f"nothing runs on {folder}\n"
    gone = dray("status", "--data-dir", str(folder))
    assert (gone.returncode, gone.stdout) == (1, "")
    assert gone.stderr == f"error: nothing runs on {folder}\n  try: dray up --data-dir {folder}\n"


def test_a_second_start_continues_with_the_same_data_and_the_same_nodes(folder: Path) -> None:
    with running(*up(folder, "--nodes", "t4-vm:2")):
        assert dray("apply", "-f", "-", stdin=NAMESPACE, KUBECONFIG=str(folder / "kubeconfig")).returncode == 0
    with running(*up(folder)):
        assert names(folder / "kubeconfig", "nodes") == ["t4-vm-0", "t4-vm-1"]
        assert "kept" in names(folder / "kubeconfig", "namespaces")


def test_nodes_that_the_next_start_does_not_have_are_removed_and_others_stay(folder: Path) -> None:
    foreign = "apiVersion: v1\nkind: Node\nmetadata: {name: foreign}\n"
    with running(*up(folder, "--nodes", "t4-vm:2", "--nodes", "control-plane")):
        assert dray("apply", "-f", "-", stdin=foreign, KUBECONFIG=str(folder / "kubeconfig")).returncode == 0
    with running(*up(folder, "--nodes", "t4-vm")):
        assert names(folder / "kubeconfig", "nodes") == ["foreign", "t4-vm-0"]


def test_a_killed_cluster_leaves_its_data_directory_free(folder: Path) -> None:
    with started(*up(folder, "--nodes", "t4-vm")) as process:
        process.kill()
        process.wait()
    assert dray("status", "--data-dir", str(folder)).returncode == 1
    with running(*up(folder)):
        assert names(folder / "kubeconfig", "nodes") == ["t4-vm-0"]


@pytest.mark.parametrize("more", [[], ["-d"]])
def test_two_clusters_on_one_data_directory_are_refused(folder: Path, more: list[str]) -> None:
    with running(*up(folder, "--only", "apiserver")) as process:
        done = dray("up", *up(folder, *more))
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"error: dray runs on {folder} already, as process {process.pid} at https://")
        assert f"try: dray down --data-dir {folder}" in done.stderr


@pytest.mark.parametrize("more", [[], ["-d"]])
def test_a_port_in_use_is_said(folder: Path, more: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = dray("up", "--data-dir", str(folder), "--port", str(port), *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: cannot listen on port {port} of 127.0.0.1: another process listens there",
        "  try: another port; 0 takes a free one",
    ]


def test_settings_of_the_command_hold_in_the_background_too(folder: Path) -> None:
    begun = dray("--log", "json", "up", *up(folder, "-d", "--nodes", "t4-vm"))
    assert begun.returncode == 0, begun.stderr
    lines = (folder / "dray.log").read_text().splitlines()
    assert "scheduler is at work" in {json.loads(line)["message"] for line in lines}


@pytest.mark.parametrize(
    "words",
    [
        ["--nodes", "dgx-h10"],
        ["--nodes", "machine:2"],
        ["--only", "scheduler", "--nodes", "t4-vm"],
        ["--only", "apiserver", "--scheduler-config", "file"],
        ["--kubeconfig", "file"],
        ["--scheduler-config", "no-such-file"],
        ["--only", "scheduler", "--kubeconfig", "no-such-file"],
        ["--only", "controllers", "--controllers", "all", "--kubeconfig", os.devnull],
        ["--only", "node", "--kubeconfig", os.devnull],
        ["--runtime", "process", "--data-dir", f"/tmp/{'long' * 30}"],
        ["--data-dir", "/proc/dray"],
        ["--host", "203.0.113.1"],
    ],
    ids=" ".join,
)
def test_what_cannot_be_run_is_said_in_one_sentence(folder: Path, words: list[str]) -> None:
    given = words if "--data-dir" in words or "--only" in words else [*words, "--data-dir", str(folder)]
    done = dray("up", *given, HOME=str(folder))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") <= 2
    assert "Errno" not in done.stderr
