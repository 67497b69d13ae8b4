"""A pytest plugin for authors of drivers: the fixture `dray_driver`.

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
    from dray.testing.undertest import DriverUnderTest

__all__ = ["dray_driver"]


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
