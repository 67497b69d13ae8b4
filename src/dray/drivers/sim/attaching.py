"""Makes devices that wait for binding conditions ready: attaches what hangs on a fabric to the node it goes to.

Runs once for the cluster. A claim is allocated, the scheduler waits with binding its pods; this sees the claim, takes
as long as attaching takes, and says in the claim's status that the device is ready, as the driver's own controller
would. Everything follows from the claim as it is, so that a restart forgets nothing.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.meta import Condition
from dray.api.resource.allocation import AllocatedDeviceStatus, DeviceRequestAllocationResult, ResourceClaimStatus
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.informer import Informer
from dray.client.port import Client, Unreachable
from dray.client.retrying import Pace
from dray.client.view import name_of
from dray.client.watching import Focus
from dray.effects.log import Log
from dray.errors import ApiError, Conflict, NotFound
from dray.values.times import Time

__all__ = ["Attacher", "plan_attachment"]

_REASON: Final = "Ready"
_MESSAGE: Final = "Device is ready"
_UNHEARD_SECONDS: Final = 1.0
"""Wait before a write that failed is tried again."""

Key = tuple[str, str, str, str | None]


def plan_attachment(claim: ResourceClaim, drivers: Sequence[str], now: Time) -> ResourceClaim | None:
    """The claim with every binding condition of these drivers' devices True; None if nothing is to be done.

    Conditions that are True already stay as they are, and so do entries of other drivers.
    """
    allocation = claim.status.allocation
    if allocation is None or claim.metadata.deletion_timestamp is not None:
        return None
    waiting = [each for each in allocation.devices.results if each.driver in drivers and each.binding_conditions]
    entries = {_key(each): each for each in claim.status.devices}
    changed = dict(entries)
    for result in waiting:
        entry = changed.get(_key(result)) or AllocatedDeviceStatus(
            driver=result.driver, pool=result.pool, device=result.device, share_id=result.share_id
        )
        changed[_key(result)] = _make_ready(entry, result, now)
    if changed == entries:
        return None
    status: ResourceClaimStatus = replace(claim.status, devices=tuple(changed.values()))
    return replace(claim, status=status)


def _key(device: AllocatedDeviceStatus | DeviceRequestAllocationResult) -> Key:
    return device.driver, device.pool, device.device, device.share_id


def _make_ready(
    entry: AllocatedDeviceStatus, result: DeviceRequestAllocationResult, now: Time
) -> AllocatedDeviceStatus:
    conditions = entry.conditions or ()
    true = {each.type for each in conditions if each.status == "True"}
    missing = [each for each in result.binding_conditions if each not in true]
    if not missing:
        return entry
    kept = [each for each in conditions if each.type not in missing]
    added = [
        Condition(type=each, status="True", reason=_REASON, message=_MESSAGE, last_transition_time=now)
        for each in missing
    ]
    return replace(entry, conditions=(*kept, *added))


class Attacher:
    """Sees to the claims that have devices of some drivers. Attaching takes `seconds`, one device beside another."""

    def __init__(self, client: Client, drivers: Sequence[str], pace: Pace, log: Log, *, seconds: float = 0.0) -> None:
        self._client = client
        self._drivers = tuple(drivers)
        self._pace = pace
        self._log = log
        self._seconds = seconds

    async def run(self) -> None:
        """Go on until cancelled."""
        informer = Informer(self._client, Focus(kind=RESOURCE_CLAIM), self._pace, self._log)
        changes = informer.subscribe()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(informer.run(), name="claims")
            while True:
                change = await changes.get()
                if change.new is not None and self._is_waiting(change.new):
                    tasks.create_task(self._attach(change.new), name=f"attach {change.new.metadata.name}")

    def _is_waiting(self, claim: ResourceClaim) -> bool:
        return plan_attachment(claim, self._drivers, self._pace.clock.now().to_time()) is not None

    async def _attach(self, claim: ResourceClaim) -> None:
        """Write the claim's status, and read it again for as long as others were faster."""
        await self._pace.clock.sleep(self._seconds)
        current: ResourceClaim | None = claim
        while current is not None:
            planned = plan_attachment(current, self._drivers, self._pace.clock.now().to_time())
            if planned is None:
                return
            try:
                await self._client.update(RESOURCE_CLAIM, planned, subresource="status")
                self._log.info("devices attached", claim=f"{claim.metadata.namespace}/{claim.metadata.name}")
                return
            except NotFound:
                return
            except Conflict:
                current = await self._read(claim)
            except (ApiError, Unreachable) as fault:
                self._log.error("devices could not be reported", claim=claim.metadata.name, err=fault)
                await self._pace.clock.sleep(_UNHEARD_SECONDS)

    async def _read(self, claim: ResourceClaim) -> ResourceClaim | None:
        try:
            current = await self._client.get(RESOURCE_CLAIM, name_of(claim))
        except NotFound:
            return None
        return current if current.metadata.uid == claim.metadata.uid else None
