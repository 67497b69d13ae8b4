"""Preparing the claims of pods and taking them back: the one owner of a node's `PreparedClaims`.

A claim goes through these steps, each safe to repeat after a crash:

    fetch and judge → remember for the pod, checkpoint → call drivers → remember devices, checkpoint
    forget for the pod; the last one: call drivers → forget, checkpoint

Claims are checkpointed before a driver first hears of them and after it heard of them last.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from dray.api.core.pod import Pod
from dray.api.resource.allocation import SkippableNodeOperation
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import ObjectName, Unreachable
from dray.driver.claims import ClaimRef
from dray.errors import ApiError, DrayError
from dray.node.checkpoint import Checkpoint, CheckpointFailed
from dray.node.connection import DriverCallFailed
from dray.node.core.answers import PREPARE, UNPREPARE, find_fault
from dray.node.core.claims import ClaimPlan, PreparationFailed, find_claim_uses, plan_claim
from dray.node.core.prepared_claims import ClaimRecord, PreparedClaims, drivers_to_call
from dray.node.drivers import DriverInstance, DriverMissing, Drivers
from dray.node.surroundings import Surroundings

__all__ = ["ClaimKeeper", "ReleaseFailed"]

_PREPARE: Final = SkippableNodeOperation.PREPARE
_UNPREPARE: Final = SkippableNodeOperation.UNPREPARE


class ReleaseFailed(DrayError):
    """A driver did not take its devices back; it is asked again."""


@dataclass(slots=True)
class _Batch:
    """The claims that go to one instance of a driver in one call."""

    driver: str
    instance: DriverInstance
    claims: list[ClaimRef] = field(default_factory=list)


class ClaimKeeper:
    """Claims of one node. Different pods are served side by side; one claim is in one driver's hands at a time."""

    def __init__(
        self,
        around: Surroundings,
        drivers: Drivers,
        checkpoint: Checkpoint,
        on_released: Callable[[Sequence[ClaimRecord]], None] = lambda _: None,
    ) -> None:
        self._around = around
        self._client = around.client
        self._metrics = around.metrics
        self._drivers = drivers
        self._checkpoint = checkpoint
        self._busy: dict[str, asyncio.Event] = {}
        self._on_released = on_released
        self._releases = 0
        self.claims: PreparedClaims = checkpoint.load_claims()
        self._metrics.note_claims(drivers.node, self.claims)

    async def prepare(self, pod: Pod) -> None:
        """Make the devices of a pod's claims ready. Raises PreparationFailed.

        What failed half-way stays remembered for the pod, so that `release` gives it back.
        """
        with self._timed("PrepareResources"):
            plans = await self._plan(pod)
            uids = [plan.ref.uid for plan in plans]
            await self._while_busy(uids, lambda: self._prepare(pod, plans))

    @property
    def chances(self) -> int:
        """How often a driver has come or taken devices back. What failed over a change may succeed now."""
        return self._drivers.arrivals + self._releases

    @contextmanager
    def _timed(self, operation: str) -> Iterator[None]:
        begun, is_error = self._around.clock.monotonic(), True
        try:
            yield
            is_error = False
        finally:
            self._metrics.note_operation(operation, self._around.clock.monotonic() - begun, is_error=is_error)

    async def _plan(self, pod: Pod) -> list[ClaimPlan]:
        return [plan_claim(pod, use, await self._fetch(pod, use.claim_name)) for use in find_claim_uses(pod)]

    async def _fetch(self, pod: Pod, name: str) -> ResourceClaim:
        try:
            return await self._client.get(RESOURCE_CLAIM, ObjectName(name, pod.metadata.namespace))
        except (ApiError, Unreachable) as fault:
            raise PreparationFailed(f"fetch ResourceClaim {name}: {fault}") from fault

    def _find_instances(self, plans: Sequence[ClaimPlan]) -> dict[str, DriverInstance]:
        """The instance of every driver that will be called, found before anything is remembered."""
        wanted = {name for plan in plans for name in plan.skipped_by_driver if plan.calls(name, _PREPARE)}
        try:
            return {name: self._drivers.choose(name) for name in sorted(wanted)}
        except DriverMissing as fault:
            raise PreparationFailed(str(fault)) from fault

    async def _prepare(self, pod: Pod, plans: Sequence[ClaimPlan]) -> None:
        batches: dict[str, _Batch] = {}
        instances = self._find_instances(plans)
        records = [self.claims.reserve(plan, pod.metadata.uid) for plan in plans]
        await self._keep("cache")
        fresh = [record for record in records if not record.is_prepared]
        for record in fresh:
            for driver in drivers_to_call(record, _PREPARE):
                batches.setdefault(driver, _Batch(driver, instances[driver])).claims.append(record.ref)
            for driver in record.drivers.keys() - set(drivers_to_call(record, _PREPARE)):
                self._metrics.count_skip(driver, "prepare")
        faults = await _run_all([self._call_prepare(batch) for batch in batches.values()])
        if faults:
            await self._keep("state")
            raise PreparationFailed(faults[0])
        for record in fresh:
            self.claims.note_prepared(record.ref)
        if fresh:
            await self._keep("state")
        self._metrics.note_claims(self._drivers.node, self.claims)

    async def _keep(self, what: str) -> None:
        try:
            await self._checkpoint.save_claims(self.claims)
        except CheckpointFailed as fault:
            raise PreparationFailed(f"checkpoint ResourceClaim {what}: {fault}") from fault

    async def _call_prepare(self, batch: _Batch) -> str | None:
        try:
            answers = await batch.instance.connection.prepare(batch.claims)
        except DriverCallFailed as fault:
            return f"{PREPARE}: {fault}"
        known = {claim.uid: claim for claim in batch.claims}
        for uid, answer in answers.items():
            if uid in known and not answer.error:
                self.claims.note_devices(known[uid], batch.driver, answer.devices)
        return find_fault(PREPARE, batch.claims, {uid: answer.error for uid, answer in answers.items()})

    async def release(self, pod_uid: str) -> None:
        """Hold nothing more for a pod; whose last claims they were, drivers take back. Raises ReleaseFailed.

        Claims are not looked up at the API server: they may be gone. What fails stays remembered; asking again repeats
        all of it.
        """
        held = self.claims.select_for_pod(pod_uid)
        if not held:
            return
        with self._timed("UnprepareResources"):
            await self._while_busy([record.ref.uid for record in held], lambda: self._release(pod_uid))

    async def _release(self, pod_uid: str) -> None:
        last = [
            record
            for each in self.claims.select_for_pod(pod_uid)
            if (record := self.claims.release(each.ref, pod_uid)) is not None
        ]
        batches: dict[str, _Batch] = {}
        faults: list[str] = []
        for record in last:
            for driver in drivers_to_call(record, _UNPREPARE):
                try:
                    instance = self._drivers.choose(driver)
                except DriverMissing as fault:
                    faults.append(str(fault))
                    continue
                batches.setdefault(driver, _Batch(driver, instance)).claims.append(record.ref)
            for driver in record.drivers.keys() - set(drivers_to_call(record, _UNPREPARE)):
                self._metrics.count_skip(driver, "unprepare")
        faults += await _run_all([_call_unprepare(batch) for batch in batches.values()])
        if not faults:
            for record in last:
                self.claims.forget(record.ref)
        try:
            await self._checkpoint.save_claims(self.claims)
        except CheckpointFailed as fault:
            faults.append(f"checkpoint ResourceClaim state: {fault}")
        if faults:
            raise ReleaseFailed(f"unprepare dynamic resources: {faults[0]}")
        self._metrics.note_claims(self._drivers.node, self.claims)
        if last:
            self._releases += 1
            self._on_released(last)

    async def _while_busy(self, uids: Sequence[str], work: Callable[[], Awaitable[None]]) -> None:
        """Work on some claims while nobody else does."""
        while busy := [self._busy[uid] for uid in uids if uid in self._busy]:
            await busy[0].wait()
        over = asyncio.Event()
        self._busy.update(dict.fromkeys(uids, over))
        try:
            await work()
        finally:
            for uid in uids:
                del self._busy[uid]
            over.set()


async def _call_unprepare(batch: _Batch) -> str | None:
    try:
        errors = await batch.instance.connection.unprepare(batch.claims)
    except DriverCallFailed as fault:
        return f"{UNPREPARE}: {fault}"
    return find_fault(UNPREPARE, batch.claims, errors)


async def _run_all(calls: Sequence[Awaitable[str | None]]) -> list[str]:
    """Make calls side by side; what went wrong, in order."""
    answers = [await calls[0]] if len(calls) == 1 else await asyncio.gather(*calls)
    return [each for each in answers if each is not None]
