"""What a driver reports of devices, written into the status of their claim.

Entries of other drivers, and of devices that are not reported on, stay as they are. Writing is best effort: a claim
that is gone, or has other devices by now, needs no report.
"""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.meta import Condition
from dray.api.resource.allocation import AllocatedDeviceStatus, ResourceClaimStatus
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.client.port import Client, ObjectName, WriteOptions
from dray.client.retrying import Pace
from dray.driver.claims import ClaimRef, DeviceKey, DeviceReport
from dray.errors import Conflict, NotFound
from dray.values.times import Time

__all__ = ["Reports", "StatusWriter", "plan_status"]

Reports = Sequence[tuple[DeviceKey, DeviceReport]]

_MOST_ATTEMPTS: Final = 8
"""Others write the status of a claim a few times in its life; who lost so many races has met a fault."""


def plan_status(claim: ResourceClaim, driver: str, reports: Reports, now: Time) -> ResourceClaimStatus | None:
    """The status with these reports in it; None if it says all that already, or the claim has none of the devices."""
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    allocated = {(each.pool, each.device, each.share_id) for each in results if each.driver == driver}
    entries = {(each.driver, each.pool, each.device, each.share_id): each for each in claim.status.devices}
    for key, report in reports:
        if (key.pool, key.device, key.share_id) not in allocated:
            continue
        place = (driver, key.pool, key.device, key.share_id)
        before = entries.get(place) or AllocatedDeviceStatus(
            driver=driver, pool=key.pool, device=key.device, share_id=key.share_id
        )
        entries[place] = _merge(before, report, now)
    devices = tuple(entries.values())
    return None if devices == claim.status.devices else replace(claim.status, devices=devices)


def _merge(before: AllocatedDeviceStatus, report: DeviceReport, now: Time) -> AllocatedDeviceStatus:
    conditions = {each.type: each for each in before.conditions or ()}
    for each in report.conditions:
        conditions[each.type] = _set_time(each, conditions.get(each.type), now)
    return replace(
        before,
        conditions=tuple(conditions.values()),
        data=report.data if bytes(report.data) else before.data,
        network_data=report.network if report.network is not None else before.network_data,
    )


def _set_time(new: Condition, old: Condition | None, now: Time) -> Condition:
    """A condition keeps its time for as long as its status stays the same."""
    if new.last_transition_time is not None:
        return new
    kept = old.last_transition_time if old is not None and old.status == new.status else None
    return replace(new, last_transition_time=kept or now)


class StatusWriter:
    """Writes reports of one driver."""

    def __init__(self, client: Client, driver: str, pace: Pace) -> None:
        self._client = client
        self._driver = driver
        self._pace = pace

    async def write(self, claim: ClaimRef, reports: Reports) -> bool:
        """Write reports into the claim. Returns whether it has them; raises ApiError or Unreachable."""
        for attempt in range(_MOST_ATTEMPTS):
            try:
                return await self._write_once(claim, reports)
            except NotFound:
                return False
            except Conflict:
                if attempt + 1 == _MOST_ATTEMPTS:
                    raise
                await self._pace.pause(attempt)
        return False

    async def _write_once(self, claim: ClaimRef, reports: Reports) -> bool:
        found = await self._client.get(RESOURCE_CLAIM, ObjectName(claim.name, claim.namespace))
        if found.metadata.uid != claim.uid or found.status.allocation is None:
            return False
        status = plan_status(found, self._driver, reports, self._pace.clock.now().to_time())
        if status is not None:
            options = WriteOptions(field_manager=self._driver)
            await self._client.update(RESOURCE_CLAIM, replace(found, status=status), options, subresource="status")
        return True
