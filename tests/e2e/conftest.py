"""A server as people run it, one for the whole run, and kubectl in every version there is."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl, find_binaries

BINARIES = find_binaries()


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of an API server that runs."""
    folder = tmp_path_factory.mktemp("apiserver")
    file, log = folder / "kubeconfig", folder / "log"
    options = ["--only", "apiserver", "--data-dir", str(folder / "data"), "--port", "0"]
    command = [sys.executable, "-m", "dray", "up", *options, "--kubeconfig-out", str(file)]
    with log.open("w") as errors, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True) as server:
        assert server.stdout is not None
        server.stdout.readline()  # said once it is ready
        assert server.poll() is None, f"dray up ended with {server.returncode}: {log.read_text()}"
        yield file
        server.terminate()
        assert server.wait(timeout=20) == 0, log.read_text()


@pytest.fixture(scope="session", params=[*BINARIES] or ["none"])
def kubectl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """One version after the other."""
    if not BINARIES:
        is_ci = os.environ.get("CI") == "true"  # noqa: TID251  # the convention of every CI
        (pytest.fail if is_ci else pytest.skip)("there is no kubectl in the path")
    kubeconfig: Path = request.getfixturevalue("kubeconfig")
    return Kubectl(BINARIES[request.param], tmp_path_factory.mktemp("home"), kubeconfig)
