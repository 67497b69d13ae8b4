"""A server as people run it, one for the whole run, and kubectl in every version there is."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.kubectl import Kubectl, find_binaries
from tests.e2e.servers import running_server

BINARIES = find_binaries()


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of an API server that runs."""
    with running_server(tmp_path_factory.mktemp("apiserver")) as (file, _):
        yield file


@pytest.fixture(scope="session", params=[*BINARIES] or ["none"])
def kubectl(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """One version after the other."""
    if not BINARIES:
        is_ci = os.environ.get("CI") == "true"  # noqa: TID251  # the convention of every CI
        (pytest.fail if is_ci else pytest.skip)("there is no kubectl in the path")
    kubeconfig: Path = request.getfixturevalue("kubeconfig")
    return Kubectl(BINARIES[request.param], tmp_path_factory.mktemp("home"), kubeconfig)
