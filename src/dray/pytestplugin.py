"""A pytest plugin: the fixture `dray_cluster` for tests that need a cluster, and `dray_driver` for authors of drivers.

    @pytest.mark.dray(nodes=["t4-vm"])
    def test_my_manifests_run(dray_cluster):
        dray_cluster.apply(Path("deploy/pod.yaml"))
        dray_cluster.wait_pod("train")
        assert dray_cluster.devices("train") == ("t4-vm-0/gpu-0",)

    def test_a_container_sees_its_gpu(dray_driver):
        gpu = dray_driver(MyDriver())
        pod = gpu.prepare("gpu-0")
        assert pod.env["GPU"] == "gpu-0"

It comes with dray; nothing has to be configured. pytest loads every plugin at every start, so this module stands apart
and loads `dray.testing` with the first test that needs it.
"""

import tempfile
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from dray.driver import Driver
    from dray.testing.cluster import Cluster
    from dray.testing.clusters import Clusters
    from dray.testing.undertest import DriverUnderTest

__all__ = ["dray_cluster", "dray_clusters", "dray_driver", "pytest_configure"]


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known."""
    config.addinivalue_line(
        "markers",
        'dray(nodes=["dgx-h100"], scope="function"): what the fixture dray_cluster gives: nodes as for `dray up '
        '--nodes`, and a cluster of one\'s own ("function") or a namespace of a shared one ("session")',
    )


@pytest.fixture(scope="session")
def dray_clusters() -> "Generator[Clusters, None, None]":
    """The clusters of this run. For fixtures of your own: `dray_clusters.lend(...)` in a `with`."""
    from dray.testing.clusters import Clusters  # noqa: PLC0415 (see above)

    clusters = Clusters()
    try:
        yield clusters
    finally:
        clusters.close()


@pytest.fixture
def dray_cluster(request: pytest.FixtureRequest, dray_clusters: "Clusters") -> "Generator[Cluster, None, None]":
    """A running cluster, as the closest marker `dray` asks: API server, controllers, scheduler, simulated nodes."""
    marker = request.node.get_closest_marker("dray")
    wanted = dict(marker.kwargs) if marker else {}
    if (marker and marker.args) or not wanted.keys() <= {"nodes", "scope"}:
        pytest.fail("the marker dray takes nodes=[...] and scope='function' or 'session', nothing else", pytrace=False)
    with dray_clusters.lend(**wanted, title=request.node.name) as cluster:
        yield cluster


@pytest.fixture
def dray_driver() -> "Generator[Callable[[Driver], DriverUnderTest], None, None]":
    """Serves a driver on a node of its own, registers it, and answers a `DriverUnderTest`."""
    from dray.testing.undertest import DriverUnderTest, World  # noqa: PLC0415 (see above)

    # Below the system's temporary folder and not pytest's, whose paths are too long for sockets.
    with tempfile.TemporaryDirectory(prefix="dray-") as folder:
        world = World(Path(folder))
        try:
            yield lambda driver: DriverUnderTest(driver, world)
        finally:
            world.close()
