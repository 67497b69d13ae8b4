"""The part of a group's status that is the scheduler's to write."""

import msgspec

from dray.api.meta import Condition
from dray.api.scheduling.kinds import POD_GROUP
from dray.client.port import Client, Patch, PatchType
from dray.client.retrying import Pace
from dray.client.view import name_of
from dray.scheduler.core.groupstatus import INITIALLY_SCHEDULED
from dray.scheduler.core.orders import GroupReport

__all__ = ["GroupStatuses"]


class GroupStatuses:
    """Patches statuses of groups. Conditions merge by type, so what others wrote stays."""

    def __init__(self, client: Client, pace: Pace) -> None:
        self._client = client
        self._pace = pace

    async def report(self, order: GroupReport) -> None:
        """Say whether enough pods of a group found nodes."""
        meta = order.group.metadata
        known = next((each for each in order.group.status.conditions if each.type == INITIALLY_SCHEDULED), None)
        since = known.last_transition_time if known is not None and known.status == order.status else None
        condition = Condition(
            type=INITIALLY_SCHEDULED,
            status=order.status,
            observed_generation=meta.generation,
            last_transition_time=since or self._pace.clock.now().to_time(),
            reason=order.reason,
            message=order.message,
        )
        change = {"metadata": {"uid": meta.uid}, "status": {"conditions": [condition]}}
        patch = Patch(PatchType.STRATEGIC, msgspec.json.encode(change, enc_hook=str))
        await self._client.patch(POD_GROUP, name_of(order.group), patch, subresource="status")
