"""One driver at work: what runs around it, whatever way the kubelet's calls come in.

`DriverHost` owns the driver's tasks: it asks for devices and has them published, keeps the claims, passes health on,
and writes reports. `dray.driver.serve` puts sockets in front of it, `dray.driver.local` nothing at all.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from dray.client.port import Client, Unreachable
from dray.client.retrying import Pace
from dray.driver.cdifiles import CdiStore
from dray.driver.checkpoint import Checkpoint
from dray.driver.claims import ClaimRef, Prepared, PreparedClaim
from dray.driver.devices import Devices, Pool, Reach
from dray.driver.health import HealthWatch
from dray.driver.metrics import DriverMetrics
from dray.driver.port import Driver
from dray.driver.publish import PublishEffects, PublishError, SlicePublisher
from dray.driver.published import SliceScope, SliceWatches
from dray.driver.service import ClaimService, Surroundings
from dray.driver.status import Reports, StatusWriter
from dray.driver.waiting import wait_for_event
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.errors import ApiError

__all__ = ["DriverHost", "HostParts", "open_host"]

_FIRST_RETRY_SECONDS: Final = 0.5
_LONGEST_RETRY_SECONDS: Final = 60.0
_DRAIN_SECONDS: Final = 30.0
"""How long running calls may take to end once the driver is to stop: less than the kubelet waits for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostParts:
    """What a host is made of."""

    node_name: str
    """Empty for a driver that serves no node: it only publishes pools that several nodes reach."""
    client: Client
    checkpoint: Checkpoint
    cdi: CdiStore
    watches: SliceWatches
    pace: Pace
    log: Log
    metrics: DriverMetrics
    boot_id: str = ""


class DriverHost:
    """The SDK's side of a running driver: `dray.driver.port.Host`, and what sockets need.

    `claims` answers the kubelet, `health` tells its watchers how devices fare.
    """

    def __init__(self, driver: Driver, parts: HostParts, tasks: asyncio.TaskGroup) -> None:
        self._driver = driver
        self._parts = parts
        self._tasks = tasks
        self._devices_changed = asyncio.Event()
        self._offered = asyncio.Event()
        self._status = StatusWriter(parts.client, driver.name, parts.pace)
        self._publishers: dict[str, SlicePublisher] = {}
        around = Surroundings(
            client=parts.client,
            checkpoint=parts.checkpoint,
            cdi=parts.cdi,
            clock=parts.pace.clock,
            log=parts.log,
            metrics=parts.metrics,
            boot_id=parts.boot_id,
        )
        self.claims = ClaimService(driver, around, tasks, on_ready=self._report_prepared)
        self.health = HealthWatch(driver, parts.node_name, parts.pace.clock, parts.log)

    @property
    def node_name(self) -> str:
        """The node that the driver serves."""
        return self._parts.node_name

    @property
    def client(self) -> Client:
        """The API server."""
        return self._parts.client

    @property
    def clock(self) -> Clock:
        """The time."""
        return self._parts.pace.clock

    @property
    def log(self) -> Log:
        """Where the driver says what happened."""
        return self._parts.log

    @property
    def publish_error(self) -> str:
        """Why devices are not published; empty if they are."""
        return next((each.error for each in self._publishers.values() if each.error), "")

    def devices_changed(self) -> None:
        """Have the driver asked for its devices again."""
        self._devices_changed.set()

    def health_changed(self) -> None:
        """Have the driver asked for the health of its devices again."""
        self.health.changed()

    def prepared_claims(self) -> list[PreparedClaim]:
        """What the checkpoint holds."""
        return [record.to_release() for record in self._parts.checkpoint.records()]

    async def report(self, claim: ClaimRef, devices: Reports) -> None:
        """Write what the claim's status says of some of its devices."""
        await self._status.write(claim, devices)

    async def wait_published(self) -> None:
        """Wait until the devices that the driver told last are published."""
        await self._offered.wait()
        for publisher in tuple(self._publishers.values()):
            await publisher.wait_published()

    async def keep_published(self) -> None:
        """Ask the driver for its devices, have them published, ask again when they may have changed. Never ends."""
        failures = 0
        while True:
            self._devices_changed.clear()
            again: float | None = self._driver.rescan_seconds
            try:
                self._offer(await self._driver.devices())
                failures = 0
            except PublishError as fault:
                self.log.error("devices cannot be published", driver=self._driver.name, err=fault)
            except Exception as fault:  # an author's code may raise anything; the next question may go better
                self.log.error(
                    "driver cannot tell its devices", driver=self._driver.name, err=f"{type(fault).__name__}: {fault}"
                )
                again = min(_FIRST_RETRY_SECONDS * 2.0**failures, _LONGEST_RETRY_SECONDS)
                failures += 1
            await wait_for_event(self._devices_changed, self.clock, again)

    def _offer(self, devices: Devices) -> None:
        if self.node_name:
            self._publish_for(self.node_name, devices)
        elif not all(map(_is_shared, devices.pools)):
            raise PublishError("a driver without a node has no pool of its node: say what its pools are reachable from")
        if not self.node_name or "" in self._publishers or any(map(_is_shared, devices.pools)):
            self._publish_for("", devices)
        self._offered.set()

    def _publish_for(self, node_name: str, devices: Devices) -> None:
        publisher = self._publishers.get(node_name)
        if publisher is None:
            scope = SliceScope(self._driver.name, node_name)
            parts = self._parts
            effects = PublishEffects(client=parts.client, pace=parts.pace, log=parts.log, metrics=parts.metrics)
            publisher = SlicePublisher(scope, parts.watches.open(scope, self._tasks), effects)
            self._publishers[node_name] = publisher
            self._tasks.create_task(publisher.run(), name=f"publish {self._driver.name}")
        publisher.offer(devices)

    def _report_prepared(self, claim: ClaimRef, prepared: Prepared) -> None:
        reports = [(each.key, each.report) for each in prepared.devices if each.report is not None]
        if reports:
            self._tasks.create_task(self._report_in_background(claim, reports), name=f"report {claim}")

    async def _report_in_background(self, claim: ClaimRef, reports: Reports) -> None:
        try:
            await self.report(claim, reports)
        except (ApiError, Unreachable) as fault:
            self.log.error("devices are not reported", claim=claim, driver=self._driver.name, err=fault)


def _is_shared(pool: Pool) -> bool:
    return pool.reachable_from is not Reach.NODE


class _Ended(Exception):
    """Ends the tasks of a host; never leaves this module."""


@asynccontextmanager
async def open_host(driver: Driver, parts: HostParts) -> AsyncGenerator[DriverHost, None]:
    """Start a driver and everything around it but the calls; end it in good order.

    Calls that are running when it ends may run on for a while. Claims stay prepared and slices published: pods go on.
    """
    try:
        async with asyncio.TaskGroup() as tasks:
            host = DriverHost(driver, parts, tasks)
            driver.attach(host)
            try:
                await driver.start()
                if orphans := await host.claims.remove_orphans():
                    parts.log.info("CDI files without a claim removed", driver=driver.name, files=len(orphans))
                parts.metrics.add_claims_in_use(len(parts.checkpoint.records()))
                tasks.create_task(host.keep_published(), name=f"devices of {driver.name}")
                yield host
                await wait_for_event(host.claims.idle, host.clock, _DRAIN_SECONDS)
            finally:
                await driver.stop()
                driver.attach(None)
            raise _Ended
    except* _Ended:
        pass
