"""A driver without sockets or files, in the process of its caller: for simulated nodes by the thousand, and for tests.

The promises are those of a driver behind a socket: the same `ClaimService` answers, with a checkpoint and CDI specs in
memory. Many drivers share one watch of slices and one set of metrics.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from dray.client.port import Client
from dray.client.retrying import Pace
from dray.driver.cdifiles import CdiMemory, CdiStore
from dray.driver.checkpoint import Checkpoint, CheckpointMemory
from dray.driver.health import reports_health
from dray.driver.host import DriverHost, HostParts, open_host
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.published import SliceWatches
from dray.effects.log import Log

__all__ = ["LocalDriver", "LocalNode", "open_local_driver"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalNode:
    """Where a local driver runs. What it keeps is here, so that a driver started again finds it."""

    name: str
    client: Client
    watches: SliceWatches
    pace: Pace
    log: Log
    metrics: DriverMetrics
    cdi: CdiStore = field(default_factory=CdiMemory)
    checkpoint: Checkpoint = field(default_factory=CheckpointMemory)


@dataclass(frozen=True, slots=True)
class LocalDriver:
    """A driver at work: `host.claims` answers calls, `host.health.reports` tells health if `has_health`."""

    name: str
    host: DriverHost
    has_health: bool


@asynccontextmanager
async def open_local_driver(driver: Driver, node: LocalNode) -> AsyncGenerator[LocalDriver, None]:
    """Run a driver for the length of a block."""
    parts = HostParts(
        node_name=node.name,
        client=node.client,
        checkpoint=node.checkpoint,
        cdi=node.cdi,
        watches=node.watches,
        pace=node.pace,
        log=node.log,
        metrics=node.metrics,
    )
    async with open_host(driver, parts) as host:
        yield LocalDriver(driver.name, host, reports_health(driver))
