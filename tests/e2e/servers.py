"""API servers as people run them: a process, a data directory, a kubeconfig."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["running_cluster", "running_server", "start_server"]


def start_server(folder: Path, port: int = 0) -> tuple[Path, subprocess.Popen[str]]:
    """A server that answers, on the data that the folder has, and its kubeconfig."""
    file, log = folder / "kubeconfig", folder / "log"
    options = ["--only", "apiserver", "--data-dir", str(folder / "data"), "--port", str(port)]
    command = [sys.executable, "-m", "dray", "up", *options, "--kubeconfig-out", str(file)]
    with log.open("a") as errors:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
    assert server.stdout is not None
    server.stdout.readline()  # said once it is ready
    assert server.poll() is None, f"dray up ended with {server.returncode}: {log.read_text()}"
    return file, server


@contextmanager
def running_server(folder: Path) -> Iterator[tuple[Path, subprocess.Popen[str]]]:
    """The same for the length of a block, ended in good order."""
    file, server = start_server(folder)
    with server:
        try:
            yield file, server
        finally:
            server.terminate()
        assert server.wait(timeout=20) == 0, (folder / "log").read_text()


@contextmanager
def running_cluster(folder: Path, *nodes: str) -> Iterator[Path]:
    """A whole cluster for the length of a block, with these groups of nodes; its kubeconfig once they are ready."""
    file, log = folder / "kubeconfig", folder / "log"
    groups = [word for each in nodes for word in ("--nodes", each)]
    options = ["--data-dir", str(folder / "data"), "--port", "0", "--kubeconfig-out", str(file), *groups]
    command = [sys.executable, "-m", "dray", "up", *options]
    with (
        log.open("a") as errors,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as cluster,
    ):
        assert cluster.stdout is not None
        try:
            ready = any("dray is up" in line for line in cluster.stdout)
            assert ready, f"dray up ended: {log.read_text()}"
            yield file
        finally:
            cluster.terminate()
        assert cluster.wait(timeout=20) == 0, log.read_text()
