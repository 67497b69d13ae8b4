"""Preparing and unpreparing claims: what the kubelet asks for, whatever way the question comes.

Around the driver's two methods this keeps the promises of the protocol: the same question has the same answer, a crash
at any moment leaves nothing forgotten, claims fail one by one, and a device that one claim holds is not given to
another. A claim goes through these steps, each safe to repeat:

    fetch it → record PREPARING → driver.prepare → CDI file → record READY → answer
    record RELEASING → driver.unprepare → remove CDI file → remove record → answer

Calls run to their end even if the caller stops waiting; the next call for the same claim waits for them.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import Client, ObjectName, Unreachable
from dray.driver.allocation import ClaimRefused, check_current, find_overlap, list_allocated_devices
from dray.driver.cdifiles import CdiStore
from dray.driver.checkpoint import Checkpoint, ClaimRecord, ClaimState
from dray.driver.claims import AllocatedDevice, Claim, ClaimRef, DeviceKey, Prepared
from dray.driver.claimspec import ClaimSpec, SpecNames, plan_claim_spec
from dray.driver.locks import KeyedLocks
from dray.driver.metrics import DriverMetrics, Operation
from dray.driver.port import Driver
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.errors import ApiError, DrayError, NotFound

__all__ = ["ClaimService", "OnReady", "PrepareAnswer", "ReadyDevice", "Surroundings", "UnprepareAnswer"]

A = TypeVar("A")

OnReady = Callable[[ClaimRef, Prepared], None]
"""Told of every claim that was prepared just now, once that is recorded."""


class ReadyDevice(Struct, frozen=True):
    """A device in an answer: what it is, and what containers ask the runtime for."""

    key: DeviceKey
    cdi_names: tuple[str, ...]


class PrepareAnswer(Struct, frozen=True):
    """What became of one claim. With an error there are no devices."""

    devices: tuple[ReadyDevice, ...] = ()
    error: str = ""


class UnprepareAnswer(Struct, frozen=True):
    """What became of one claim; no error means that it holds nothing any more."""

    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a service works with."""

    client: Client
    checkpoint: Checkpoint
    cdi: CdiStore
    clock: Clock
    log: Log
    metrics: DriverMetrics
    boot_id: str = ""
    """Of the machine; empty where nothing outlives the process."""


class ClaimService:
    """The claims of one driver on one node. Calls run as tasks of `tasks`, which its owner ends."""

    def __init__(self, driver: Driver, around: Surroundings, tasks: asyncio.TaskGroup, *, on_ready: OnReady) -> None:
        self._driver = driver
        self._around = around
        self._tasks = tasks
        self._on_ready = on_ready
        self._names = SpecNames(driver.name, driver.cdi_class)
        self._locks = KeyedLocks()
        # A driver that wants one claim at a time also has one lock for all.
        self._one: AbstractAsyncContextManager[None] = asyncio.Lock() if driver.one_claim_at_a_time else nullcontext()
        self._calls = 0
        self.idle = asyncio.Event()
        """Set while no call is running."""
        self.idle.set()

    async def remove_orphans(self) -> list[str]:
        """Take away the CDI files of claims that nothing is known of. Returns their names."""
        async with self._around.checkpoint.turn():
            known = {self._names.file_of(record.claim.uid) for record in self._around.checkpoint.records()}
            orphans = [name for name in self._around.cdi.names(self._names.prefix) if name not in known]
            for name in orphans:
                self._around.cdi.remove(name)
        return orphans

    async def prepare(self, claims: Sequence[ClaimRef]) -> dict[str, PrepareAnswer]:
        """Prepare each claim; an answer for each, by uid."""
        return await asyncio.shield(self._tasks.create_task(self._prepare_all(claims), name="prepare"))

    async def unprepare(self, claims: Sequence[ClaimRef]) -> dict[str, UnprepareAnswer]:
        """Unprepare each claim; an answer for each, by uid. Unknown claims are done already."""
        return await asyncio.shield(self._tasks.create_task(self._unprepare_all(claims), name="unprepare"))

    async def _prepare_all(self, claims: Sequence[ClaimRef]) -> dict[str, PrepareAnswer]:
        # Fetched before the turn is taken: another process need not wait for the API server.
        fetched = await asyncio.gather(*(self._fetch(claim) for claim in claims))

        async def answer(claim: ClaimRef, found: ResourceClaim | str) -> PrepareAnswer:
            devices = await self._attempt(Operation.PREPARE, claim, lambda: self._prepare(claim, found))
            return PrepareAnswer(error=devices) if isinstance(devices, str) else PrepareAnswer(devices)

        wanted = [answer(claim, found) for claim, found in zip(claims, fetched, strict=True)]
        answers = await self._in_turn(wanted, lambda error: PrepareAnswer(error=error))
        return {claim.uid: each for claim, each in zip(claims, answers, strict=True)}

    async def _unprepare_all(self, claims: Sequence[ClaimRef]) -> dict[str, UnprepareAnswer]:
        async def answer(claim: ClaimRef) -> UnprepareAnswer:
            error = await self._attempt(Operation.UNPREPARE, claim, lambda: self._unprepare(claim))
            return UnprepareAnswer(error or "")

        answers = await self._in_turn([answer(claim) for claim in claims], UnprepareAnswer)
        return {claim.uid: each for claim, each in zip(claims, answers, strict=True)}

    async def _in_turn(self, works: Sequence[Coroutine[object, object, A]], fail: Callable[[str], A]) -> list[A]:
        """Do everything side by side while no other process works on the claims of this driver."""
        self._calls += 1
        self.idle.clear()
        started = False
        try:
            async with self._around.checkpoint.turn():
                started = True
                return list(await asyncio.gather(*works))
        except (DrayError, OSError) as fault:
            self._around.log.error("checkpoint cannot be used", driver=self._driver.name, err=fault)
            return [fail(f"checkpoint: {fault}")] * len(works)
        finally:
            self._calls -= 1
            if not self._calls:
                self.idle.set()
            if not started:
                for work in works:
                    work.close()

    async def _attempt(
        self, operation: Operation, claim: ClaimRef, work: Callable[[], Coroutine[object, object, A]]
    ) -> A | str:
        """Do one thing with one claim, alone; a failure becomes the text that the pod sees."""
        begun = self._around.clock.monotonic()
        error = ""
        try:
            async with self._locks.hold(claim.uid), self._one:
                return await work()
        except DrayError as fault:
            error = str(fault)
        except Exception as fault:  # whatever an author's code raises fails this claim, and no other
            error = f"{type(fault).__name__}: {fault}"
        finally:
            seconds = self._around.clock.monotonic() - begun
            self._around.metrics.observe_claim(operation, seconds, is_error=bool(error))
        self._around.log.error(
            "claim failed", operation=operation.value, claim=claim, driver=self._driver.name, err=error
        )
        return error

    async def _fetch(self, claim: ClaimRef) -> ResourceClaim | str:
        """The claim as it is now, or why there is none."""
        try:
            found = await self._around.client.get(RESOURCE_CLAIM, ObjectName(claim.name, claim.namespace))
            check_current(found, claim)
        except (ApiError, Unreachable, ClaimRefused) as fault:
            return str(fault)
        return found

    async def _prepare(self, claim: ClaimRef, found: ResourceClaim | str) -> tuple[ReadyDevice, ...]:
        if isinstance(found, str):
            raise ClaimRefused(found)
        devices = list_allocated_devices(found, self._driver.name, self._driver.configs)
        keys = tuple(each.key for each in devices)
        record = self._around.checkpoint.find(claim.uid)
        if record is not None and record.keys != keys:
            # Allocated anew without ever having been taken back here: what it held before must go first.
            await self._release(record)
            record = None
        if record is not None and record.state is ClaimState.READY and record.boot_id == self._around.boot_id:
            return self._answer(record)
        if not devices:
            return ()
        await self._refuse_overlap(claim, devices)
        return await self._prepare_devices(claim, found, devices, record)

    async def _prepare_devices(
        self, claim: ClaimRef, found: ResourceClaim, devices: tuple[AllocatedDevice, ...], record: ClaimRecord | None
    ) -> tuple[ReadyDevice, ...]:
        around = self._around
        preparing = ClaimRecord(
            claim=claim,
            state=ClaimState.PREPARING,
            keys=tuple(each.key for each in devices),
            admin_keys=tuple(each.key for each in devices if each.admin_access),
            prepared=record.prepared if record is not None else Prepared(),
            boot_id=around.boot_id,
        )
        await around.checkpoint.put(preparing)
        if record is None:
            around.metrics.add_claims_in_use(1)
        asked = Claim(namespace=claim.namespace, name=claim.name, uid=claim.uid, resource=found)
        prepared = _in_order(await self._driver.prepare(asked, devices), preparing.keys)
        ready = replace(preparing, state=ClaimState.READY, prepared=prepared)
        answer = self._answer(ready)
        await around.checkpoint.put(ready)
        around.log.info("claim prepared", claim=claim, driver=self._driver.name, devices=len(devices))
        self._on_ready(claim, prepared)
        return answer

    def _answer(self, record: ClaimRecord) -> tuple[ReadyDevice, ...]:
        """See that the claim's file is there, and name its devices."""
        file = self._names.file_of(record.claim.uid)
        planned: ClaimSpec = plan_claim_spec(self._names, record.claim.uid, record.prepared)
        if planned.spec is None:
            self._around.cdi.remove(file)
        elif not self._around.cdi.holds(file, planned.spec):
            self._around.cdi.write(file, planned.spec)
        return tuple(map(ReadyDevice, record.keys, planned.cdi_names))

    async def _refuse_overlap(self, claim: ClaimRef, devices: Sequence[AllocatedDevice]) -> None:
        """Stand in the way of a device that two claims would hold; a claim that is long gone gives it back first."""
        while (found := self._find_overlap(claim, devices)) is not None:
            record, overlap = found
            if self._locks.is_held(record.claim.uid) or await self._is_current(record):
                raise ClaimRefused(f"device {overlap.pool}/{overlap.device} is in use by claim {record.claim}")
            async with self._locks.hold(record.claim.uid):
                await self._release(record)

    def _find_overlap(
        self, claim: ClaimRef, devices: Sequence[AllocatedDevice]
    ) -> tuple[ClaimRecord, DeviceKey] | None:
        for record in self._around.checkpoint.records():
            held = (key for key in record.keys if key not in record.admin_keys)
            overlap = None if record.claim.uid == claim.uid else find_overlap(devices, held)
            if overlap is not None:
                return record, overlap
        return None

    async def _is_current(self, record: ClaimRecord) -> bool:
        """Whether a claim still has the devices that it holds here."""
        try:
            found = await self._around.client.get(RESOURCE_CLAIM, ObjectName(record.claim.name, record.claim.namespace))
            check_current(found, record.claim)
        except (NotFound, ClaimRefused):
            return False
        devices = found.status.allocation.devices.results if found.status.allocation else ()
        held = {(key.pool, key.device) for key in record.keys}
        return any((each.pool, each.device) in held for each in devices if each.driver == self._driver.name)

    async def _unprepare(self, claim: ClaimRef) -> None:
        record = self._around.checkpoint.find(claim.uid)
        if record is None:
            self._around.cdi.remove(self._names.file_of(claim.uid))
        else:
            await self._release(record)

    async def _release(self, record: ClaimRecord) -> None:
        """Take everything back. The record goes last: until then it is tried again."""
        around = self._around
        # From here on the claim no longer counts as prepared, whatever happens.
        await around.checkpoint.put(replace(record, state=ClaimState.RELEASING))
        await self._driver.unprepare(record.to_release())
        around.cdi.remove(self._names.file_of(record.claim.uid))
        await around.checkpoint.remove(record.claim.uid)
        around.metrics.add_claims_in_use(-1)
        around.log.info("claim unprepared", claim=record.claim, driver=self._driver.name)


def _in_order(prepared: Prepared, keys: Sequence[DeviceKey]) -> Prepared:
    """The answer in the order of the claim. Refuses one with other devices than were asked for."""
    by_key = {each.key: each for each in prepared.devices}
    if len(by_key) < len(prepared.devices) or by_key.keys() != set(keys):
        given = ", ".join(f"{key.pool}/{key.device}" for key in by_key) or "nothing"
        wanted = ", ".join(f"{key.pool}/{key.device}" for key in keys)
        raise ClaimRefused(f"the driver must answer each of {wanted} once, answered {given}")
    return replace(prepared, devices=tuple(by_key[key] for key in keys))
