"""The agent of one node: its pods, its drivers, and what ties them together.

Pods come from an informer that agents may share; drivers from a registration directory, from this process, or both.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dray.api.core.pod import Pod
from dray.node.checkpoint import Checkpoint, CheckpointFailed
from dray.node.claimkeeper import ClaimKeeper, ReleaseFailed
from dray.node.connection import DriverConnection
from dray.node.core.health import DeviceName, HealthReport
from dray.node.core.podplan import plan_pod
from dray.node.core.podstate import Event
from dray.node.core.prepared_claims import ClaimRecord
from dray.node.core.recovery import recover
from dray.node.drivers import DriverInstance, DriverListener, Drivers
from dray.node.podtask import PodTask
from dray.node.podwork import Place, PodWork
from dray.node.runtime.port import Runtime
from dray.node.surroundings import Surroundings
from dray.node.wiping import wipe_slices

__all__ = ["NodeAgent", "NodeParts", "ResidentDriver"]

_REVIEW_SECONDS: Final = 60.0
"""How often claims are looked over that are held for pods nobody knows of, and health that may have run out."""


@dataclass(frozen=True, slots=True)
class ResidentDriver:
    """A driver that lives in this process, under the name it publishes devices with; see `localdrivers`."""

    name: str
    connection: DriverConnection


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeParts:
    """What one node is made of."""

    name: str
    runtime: Runtime
    checkpoint: Checkpoint
    host_ip: str = "127.0.0.1"
    plugin_root: Path | None = None
    """The agent's root, with the directory in which plugins register; None for a node without sockets."""
    resident_drivers: Sequence[ResidentDriver] = ()


class NodeAgent(DriverListener):
    """See the module. Owns the pod tasks of its node; they end with the task group of its surroundings."""

    def __init__(self, parts: NodeParts, around: Surroundings) -> None:
        self.name = parts.name
        self.runtime = parts.runtime
        self._around = around
        self._parts = parts
        self.drivers = Drivers(parts.name, around, self)
        self.keeper = ClaimKeeper(around, self.drivers, parts.checkpoint, self._note_released)
        self._work = PodWork(around, Place(parts.name, parts.host_ip), self.keeper, parts.runtime)
        self._work.health = parts.checkpoint.load_health(around.log)
        self._tasks: dict[str, PodTask] = {}
        self._arriving: set[str] = set()
        """Pods of which it is being found out what runs."""
        self._has_pods = False
        """Whether the pods of the beginning are all taken up: until then, none is known to be gone."""

    @property
    def pods(self) -> list[PodTask]:
        """The pods on the node, by uid."""
        return [self._tasks[uid] for uid in sorted(self._tasks)]

    def find_pod(self, uid: str) -> PodTask | None:
        """The pod of that uid."""
        return self._tasks.get(uid)

    async def start(self, pods: Iterable[Pod]) -> None:
        """Begin: connect drivers that are here, wipe the slices of those that are not, and take the pods up."""
        for each in self._parts.resident_drivers:
            self.add_resident_driver(each)
        self._around.begin(wipe_slices(self._around, self.name, keep=self.drivers.connected), f"wipe {self.name}")
        for pod in pods:
            await self._take_up(pod)
        self._has_pods = True
        await self.runtime.forget_others(self._tasks.keys() | self._arriving)
        if self._parts.plugin_root is not None or len(self.keeper.claims):
            self._review()

    def add_resident_driver(self, driver: ResidentDriver) -> DriverInstance:
        """Take in a driver of this process."""
        instance = DriverInstance(driver.name, f"resident:{driver.name}", driver.connection)
        self.drivers.add(instance)
        self.drivers.note_connection(instance, is_connected=True)
        return instance

    def observe(self, pod: Pod) -> None:
        """A pod of this node is there, or has changed."""
        task = self._tasks.get(pod.metadata.uid)
        if task is not None:
            task.observe(pod)
            return
        if pod.status.start_time is None and not pod.status.container_statuses:
            self._begin(pod, (), ())
        elif pod.metadata.uid not in self._arriving:
            self._around.begin(self._take_up(pod), f"take up {pod.metadata.name}")

    def observe_gone(self, pod: Pod) -> None:
        """A pod of this node is no longer in the API server."""
        task = self._tasks.get(pod.metadata.uid)
        if task is not None:
            task.observe_gone()

    async def _take_up(self, pod: Pod) -> None:
        """Begin with a pod that may have run before this agent did."""
        events: list[Event] = []
        tasks: list[PodTask] = []

        def offer(event: Event) -> None:
            if tasks:
                tasks[0].offer(event)
            else:
                events.append(event)

        containers = {each.name: each for each in plan_pod(pod).containers}
        self._arriving.add(pod.metadata.uid)
        try:
            found = await self._work.take_up(pod, containers, offer)
        finally:
            self._arriving.discard(pod.metadata.uid)
        if pod.metadata.uid not in self._tasks:
            tasks.append(self._begin(pod, [each.name for each in found], events))

    def _begin(self, pod: Pod, running: Sequence[str], events: Iterable[Event]) -> PodTask:
        now = self._around.clock.now().to_time()
        holds_claims = bool(self.keeper.claims.select_for_pod(pod.metadata.uid))
        state = recover(pod, plan_pod(pod), running, now, holds_claims=holds_claims)
        task = PodTask(pod, state, self._work, self._forget)
        self._tasks[pod.metadata.uid] = task
        for event in events:
            task.offer(event)
        task.observe(pod)
        return task

    def _forget(self, uid: str) -> None:
        self._tasks.pop(uid, None)

    def driver_connected(self, driver: str) -> None:
        """Try again what drivers did not do: this may have been what it waited for."""
        for task in self._tasks.values():
            task.retry_claims()
        self._release_strays()

    def driver_gone(self, driver: str) -> None:
        """Wipe the slices of a driver that was away for too long."""
        self._around.log.info("driver is gone, its slices are wiped", node=self.name, driver=driver)
        self._around.begin(wipe_slices(self._around, self.name, driver), f"wipe {driver}")

    def health_reported(self, driver: str, reports: Sequence[HealthReport]) -> None:
        """Keep the reports, and tell the pods whose devices they are about."""
        changed = self._work.health.note(driver, reports, self._around.clock.now().to_time())
        self._tell_health(changed)

    def health_lost(self, driver: str) -> None:
        """Know nothing any more."""
        self._tell_health(self._work.health.forget(driver))

    def _tell_health(self, changed: Iterable[DeviceName]) -> None:
        names = frozenset(changed)
        if not names:
            return
        self._around.begin(self._save_health(), f"save health of {self.name}")
        uids = {
            uid
            for record in self.keeper.claims.select()
            if any(DeviceName(driver, each.pool, each.device) in names for driver, each in record.devices)
            for uid in record.pod_uids
        }
        for uid in sorted(uids):
            if uid in self._tasks:
                self._tasks[uid].wake()

    async def _save_health(self) -> None:
        try:
            await self._parts.checkpoint.save_health(self._work.health)
        except CheckpointFailed as fault:
            self._around.log.error("health of devices is not saved", node=self.name, err=fault)

    def _review(self) -> None:
        """Release what is held for pods that are no longer there, and show health that has run out."""
        self._release_strays()
        for task in self._tasks.values():
            if task.plan.has_claims:
                task.wake()
        self._around.timers.set(_REVIEW_SECONDS, self._review)

    def _note_released(self, records: Sequence[ClaimRecord]) -> None:
        """Try again at once what may have waited for these claims to be taken back.

        That is pods with claims that have their names, and those that their drivers refused: for devices that were in
        use, perhaps. A pod may be sent here for them before the one that had them is quite over.
        """
        names = {(each.ref.namespace, each.ref.name) for each in records}
        drivers = {driver for each in records for driver in each.drivers}
        for uid, task in self._tasks.items():
            wanted = task.claim_names
            if any((task.pod.metadata.namespace, each) in names for each in wanted) or (
                wanted and any(not drivers.isdisjoint(each.drivers) for each in self.keeper.claims.select_for_pod(uid))
            ):
                task.retry_claims()

    def _release_strays(self) -> None:
        if self._has_pods:
            for uid in sorted(self.keeper.claims.pod_uids - self._tasks.keys() - self._arriving):
                self._around.begin(self._release_stale(uid), f"release claims of {uid}")

    async def aclose(self) -> None:
        """Let go of drivers, and of the memory of what is prepared. Containers and slices stay as they are."""
        await self.drivers.aclose()
        await asyncio.to_thread(self._parts.checkpoint.close)

    async def _release_stale(self, uid: str) -> None:
        try:
            await self.keeper.release(uid)
        except ReleaseFailed as fault:
            self._around.log.error("claims of a pod that is gone are not released", node=self.name, pod=uid, err=fault)
