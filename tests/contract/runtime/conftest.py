"""Every runtime, once for each test."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

import pytest

from dray.driver.cdi import CdiDevice, CdiSpec, ContainerEdits
from dray.effects.clock import SystemClock
from dray.node.runtime.devices import CdiSpecs
from dray.node.runtime.port import Runtime
from dray.node.runtime.process import ProcessRuntime
from dray.node.runtime.simulated import SimulatedNetwork, SimulatedRuntime
from dray.node.timers import Timers
from tests.contract.store.scenarios import pytest_pyfunc_call

__all__ = ["pytest_pyfunc_call"]

SPEC = CdiSpec(
    cdi_version="0.5.0",
    kind="example.com/gpu",
    devices=(CdiDevice(name="a", container_edits=ContainerEdits(env=("GPU=gpu-a", "DRA_CPUSET_x=0"))),),
)


@asynccontextmanager
async def simulated(folder: Path) -> AsyncGenerator[Runtime, None]:
    timers = Timers(SystemClock())
    ringing = asyncio.create_task(timers.run())
    yield SimulatedRuntime(SystemClock(), timers, CdiSpecs(lambda: [SPEC]), SimulatedNetwork())
    ringing.cancel()
    with suppress(asyncio.CancelledError):
        await ringing


class _Over(Exception):
    pass


@asynccontextmanager
async def process(folder: Path) -> AsyncGenerator[Runtime, None]:
    with suppress(ExceptionGroup):
        async with asyncio.TaskGroup() as tasks:
            yield ProcessRuntime(folder, CdiSpecs(lambda: [SPEC]), SystemClock(), tasks, "127.0.0.1")
            raise _Over


RUNTIMES: dict[str, Callable[[Path], AbstractAsyncContextManager[Runtime]]] = {
    "simulated": simulated,
    "process": process,
}


@pytest.fixture(params=list(RUNTIMES))
def runtime(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractAsyncContextManager[Runtime]:
    return RUNTIMES[request.param](tmp_path)


@pytest.fixture
def processes(tmp_path: Path) -> AbstractAsyncContextManager[Runtime]:
    return process(tmp_path)
