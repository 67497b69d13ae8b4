"""A whole cluster on a thread of its own: API server over HTTPS, store in memory, controllers, scheduler, nodes.

What runs is what `dray up` runs; only the store is another. Tests stay on their thread, and hand work over with `call`.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

import uvloop

from dray.api.core.kinds import POD
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.app.cluster import ClusterOptions, make_cluster
from dray.app.hosting import Beside, Ground, Premises, host_cluster
from dray.app.nodegroups import NodeGroup
from dray.app.nodes import NodePlan
from dray.client.port import Client
from dray.driver.published import SharedWatch
from dray.effects.log import MemoryLog
from dray.errors import DrayError
from dray.node.assembly import SimulatedSite
from dray.node.fleet import FleetParts, open_fleet
from dray.server.assembly import MASTER
from dray.server.inprocess import InProcessClient
from dray.server.serving import Address

__all__ = ["ClusterError", "ClusterThread", "Inside"]

T = TypeVar("T")

_PATIENCE_SECONDS: Final = 20.0
"""How long starting and ending may take before a test fails instead of hanging. They take a fraction of a second."""


class ClusterError(DrayError):
    """The cluster of a test did not start, has ended, or is asked for what it cannot do."""


@dataclass(frozen=True, slots=True)
class Inside:
    """What runs in the cluster, for work on its own loop. `site` takes further nodes."""

    premises: Premises
    client: Client
    site: SimulatedSite


class ClusterThread:
    """A running cluster. Made, used and closed by one thread, which is not its own."""

    def __init__(self, ground: Ground, groups: Sequence[NodeGroup], log: MemoryLog) -> None:
        self.log = log
        self.url = ""
        self.nodes: tuple[str, ...] = ()
        self._ground = ground
        self._groups = groups
        self._ready: Future[None] = Future()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._inside: Inside | None = None
        self._thread = threading.Thread(target=self._run, name="dray cluster", daemon=True)
        self._thread.start()
        try:
            self._ready.result(_PATIENCE_SECONDS)
        except BaseException as fault:
            self.end()
            self.join()
            if isinstance(fault, TimeoutError):
                raise ClusterError(f"the cluster is not ready within {_PATIENCE_SECONDS:g} s{self.errors}") from None
            raise

    def call(self, work: Callable[[Inside], Coroutine[object, object, T]], within_seconds: float) -> T:
        """Do something on the cluster's loop, and wait for what comes of it. Raises TimeoutError."""
        if self._loop is None or self._inside is None or not self._thread.is_alive():
            raise ClusterError("the cluster of this test has ended")
        inside = self._inside

        async def limited() -> T:
            async with asyncio.timeout(within_seconds):
                return await work(inside)

        future = asyncio.run_coroutine_threadsafe(limited(), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def end(self) -> None:
        """Ask the cluster to end. May be repeated."""
        if self._loop is not None and self._ended is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._ended.set)

    def join(self) -> None:
        """Wait until the cluster has ended."""
        self._thread.join(_PATIENCE_SECONDS)

    @property
    def errors(self) -> str:
        """What went wrong in the cluster, a line each, to be added to a message."""
        lines = (f"\n  {each.message} {each.facts}" for each in self.log.entries if each.level == "error")
        return "".join(dict.fromkeys(lines))

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve())
        except BaseException as fault:  # the outermost frame of the thread: whoever waits is told
            if self._ready.done():
                raise
            self._ready.set_exception(fault)

    async def _serve(self) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with host_cluster(self._ground, Address(), self._beside()) as url:
            self.url = url
            await self._ended.wait()

    def _beside(self) -> Beside:
        cluster = make_cluster(ClusterOptions(NodePlan(groups=self._groups)), self._announce)

        async def run(premises: Premises) -> None:
            async with self._open_site(premises) as site:
                client = InProcessClient(premises.api.desk, MASTER, "dray-testing")
                self._inside = Inside(premises, client, site)
                await cluster(premises)

        return run

    @asynccontextmanager
    async def _open_site(self, premises: Premises) -> AsyncIterator[SimulatedSite]:
        """Where nodes stand that come later."""
        parts = FleetParts(
            client=premises.client,
            clock=premises.clock,
            entropy=premises.entropy,
            log=premises.log,
            pods=premises.informers.get(POD),
        )
        watches = SharedWatch(premises.informers.get(RESOURCE_SLICE))
        async with open_fleet(parts) as fleet, AsyncExitStack() as drivers:
            premises.api.desk.nodes.attach(fleet.streams)
            yield SimulatedSite(fleet, premises.client, watches, drivers)

    def _announce(self, nodes: Sequence[str]) -> None:
        self.nodes = tuple(nodes)
        if not self._ready.done():
            self._ready.set_result(None)
