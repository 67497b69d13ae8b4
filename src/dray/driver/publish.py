"""Keeping ResourceSlices as a driver wants them: plan, write, look again when something changed.

One publisher owns the slices of one driver for one node, or those of named pools that belong to no single node. It
plans from what is published, so it may die at any moment; and it looks after its slices, so what somebody else changes
or deletes comes back.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from dray.api.core.kinds import NODE
from dray.api.meta import DeleteOptions, Preconditions
from dray.api.resource.kinds import RESOURCE_SLICE
from dray.api.resource.slice import ResourceSlice, ResourceSliceSpec
from dray.client.port import Client, ObjectName, Unreachable, WriteOptions
from dray.client.retrying import Pace
from dray.driver.devices import Devices, Pool, Reach
from dray.driver.dropped import find_dropped_features
from dray.driver.metrics import DriverMetrics
from dray.driver.published import Published, SliceScope, SliceWatch
from dray.driver.slices import (
    Publisher,
    SlicePlan,
    SliceWrite,
    check_devices,
    have_same_content,
    list_pools,
    plan_slice_writes,
)
from dray.driver.waiting import wait_for_event
from dray.effects.log import Log
from dray.errors import ApiError, BadRequest, Conflict, DrayError, Invalid, NotFound

__all__ = ["PublishEffects", "PublishError", "SlicePublisher"]

_FOREIGN_CHANGE_SECONDS: Final = 5.0
"""How long to wait after somebody else changed our slices before they are put right: another instance of the driver may
be about to go, and two that correct each other must not do it as fast as they can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishEffects:
    """What a publisher works with. `pace` spaces out retries."""

    client: Client
    pace: Pace
    log: Log
    metrics: DriverMetrics


class PublishError(DrayError):
    """What is offered cannot be published as it is; trying again is of no use."""


class SlicePublisher:
    """Publishes what was offered last. Run it once, in a task of its own."""

    def __init__(self, scope: SliceScope, watch: SliceWatch, effects: PublishEffects) -> None:
        self._scope = scope
        self._watch = watch
        self._effects = effects
        self._clock = effects.pace.clock
        self._offered: Mapping[str, Pool] | None = None
        self._named: set[str] = set()
        self._identity = Publisher(driver=scope.driver, node_name=scope.node_name)
        self._published = Published()
        self._adopted: dict[tuple[str, int], tuple[ResourceSliceSpec, ResourceSliceSpec]] = {}
        self._look_at: float | None = None
        self._woken = asyncio.Event()
        self._settled = asyncio.Event()
        self._error = ""

    @property
    def error(self) -> str:
        """Why the last attempt failed; empty once one succeeded."""
        return self._error

    def offer(self, devices: Devices) -> None:
        """Publish these devices from now on, and no others. Raises PublishError for pools that cannot be.

        A publisher of a node takes the pools of that node, one of no node the others; each passes over the rest.
        """
        pools = self._pick(devices)
        if faults := check_devices(pools):
            raise PublishError("; ".join(map(str, faults)))
        self._offered = pools
        self._named |= pools.keys()
        self._settled.clear()
        self._wake_in(0.0)

    async def wait_published(self) -> None:
        """Wait until what was offered is published."""
        await self._settled.wait()

    async def run(self) -> None:
        """Publish until cancelled. Slices stay: whether they go is for the node to say."""
        await self._watch.wait_synced()
        self._watch.follow(self._scope, self._see)
        failures = 0
        try:
            while True:
                await self._wait_until_due()
                failures = 0 if await self._attempt() else failures + 1
                if failures:
                    self._wake_in(self._effects.pace.get_delay(failures - 1))
                elif (seconds := self._published.seconds_to_distrust(self._clock.monotonic())) is not None:
                    self._wake_in(seconds)
        finally:
            self._watch.leave(self._scope)

    def _pick(self, devices: Devices) -> dict[str, Pool]:
        node_name = self._scope.node_name
        try:
            pools = list_pools(devices, node_name)
        except ValueError as fault:
            raise PublishError(str(fault)) from fault
        picked = {name: pool for name, pool in pools.items() if (pool.reachable_from is Reach.NODE) == bool(node_name)}
        if "" in picked:
            raise PublishError("a pool that several nodes reach needs a name")
        return picked

    def _see(self, seen: ResourceSlice, *, is_there: bool) -> None:
        if self._published.saw(seen, is_there=is_there):
            self._wake_in(_FOREIGN_CHANGE_SECONDS)

    def _wake_in(self, seconds: float) -> None:
        at = self._clock.monotonic() + seconds
        self._look_at = at if self._look_at is None else min(at, self._look_at)
        self._woken.set()

    async def _wait_until_due(self) -> None:
        while True:
            self._woken.clear()
            seconds = None if self._look_at is None else self._look_at - self._clock.monotonic()
            if seconds is not None and seconds <= 0:
                self._look_at = None
                return
            await wait_for_event(self._woken, self._clock, seconds)

    async def _attempt(self) -> bool:
        """Publish once. Returns whether that worked."""
        wanted = self._offered
        if wanted is None:
            return True
        try:
            await self._sync(wanted)
        except (ApiError, Unreachable) as fault:
            self._complain(fault)
            return False
        self._error = ""
        if wanted is self._offered:
            self._settled.set()
        return True

    def _complain(self, fault: ApiError | Unreachable) -> None:
        self._effects.metrics.count_publish_error()
        error = _describe(fault)
        tell = self._effects.log.debug if error == self._error or _is_race(fault) else self._effects.log.error
        tell("devices are not published", driver=self._scope.driver, node=self._scope.node_name, err=error)
        self._error = error

    async def _sync(self, wanted: Mapping[str, Pool]) -> None:
        self._published.distrust_old(self._clock.monotonic())
        plan = self._plan(wanted)
        if plan.creates and await self._is_other_node():
            plan = self._plan(wanted)
        for gone in plan.deletes_before:
            await self._delete(gone)
        for write in plan.updates:
            await self._update(write)
        for write in plan.creates:
            self._keep(write, await self._effects.client.create(RESOURCE_SLICE, write.resource, self._options))
        for gone in plan.deletes_after:
            await self._delete(gone)
        if not plan.is_empty:
            self._tell(plan)

    def _plan(self, wanted: Mapping[str, Pool]) -> SlicePlan:
        slices = self._published.slices()
        if not self._scope.node_name:
            slices = [each for each in slices if each.spec.pool.name in self._named]
        return plan_slice_writes(self._identity, wanted, slices, self._adopted)

    async def _is_other_node(self) -> bool:
        """Look up the Node that owns the slices. Whether it is another one than before, under the same name."""
        if not self._scope.node_name:
            return False
        node = await self._effects.client.get(NODE, ObjectName(self._scope.node_name))
        is_other = node.metadata.uid != self._identity.node_uid
        self._identity = replace(self._identity, node_uid=node.metadata.uid)
        return is_other

    @property
    def _options(self) -> WriteOptions:
        return WriteOptions(field_manager=self._scope.driver)

    async def _delete(self, gone: ResourceSlice) -> None:
        metadata = gone.metadata
        exactly = Preconditions(uid=metadata.uid, resource_version=metadata.resource_version)
        try:
            await self._effects.client.delete(
                RESOURCE_SLICE, ObjectName(metadata.name), DeleteOptions(preconditions=exactly)
            )
        except NotFound:
            pass
        except Conflict:
            self._published.distrust(metadata.name)
            raise
        self._published.deleted(gone)

    async def _update(self, write: SliceWrite) -> None:
        try:
            stored = await self._effects.client.update(RESOURCE_SLICE, write.resource, self._options)
        except (Conflict, NotFound):
            self._published.distrust(write.resource.metadata.name)
            raise
        self._keep(write, stored)

    def _keep(self, write: SliceWrite, stored: ResourceSlice) -> None:
        """Remember what was written; if the server dropped a part of it, be content with the rest, and say so."""
        self._published.wrote(stored, self._clock.monotonic())
        place, sent = (write.pool, write.index), write.resource.spec
        if have_same_content(sent, stored.spec):
            self._adopted.pop(place, None)
            return
        self._adopted[place] = (sent, stored.spec)
        features = ", ".join(find_dropped_features(sent, stored.spec))
        self._effects.metrics.count_publish_error()
        self._effects.log.error(
            "API server dropped fields of devices",
            driver=self._scope.driver,
            pool=write.pool,
            slice=stored.metadata.name,
            features=features,
        )

    def _tell(self, plan: SlicePlan) -> None:
        deleted = len(plan.deletes_before) + len(plan.deletes_after)
        counts = {"create": len(plan.creates), "update": len(plan.updates), "delete": deleted}
        self._effects.metrics.count_slice_writes(counts)
        self._effects.log.info("devices published", driver=self._scope.driver, node=self._scope.node_name, **counts)


def _describe(fault: ApiError | Unreachable) -> str:
    """The same text for the same fault: slices that are refused have another name every time."""
    faults = fault.faults if isinstance(fault, BadRequest | Invalid) else ()
    return "; ".join(map(str, faults)) or str(fault)


def _is_race(fault: ApiError | Unreachable) -> bool:
    """Lost races are daily business: the next plan starts from what won."""
    return isinstance(fault, Conflict | NotFound)
