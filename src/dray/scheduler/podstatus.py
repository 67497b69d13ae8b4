"""The parts of a pod's status that are the scheduler's to write."""

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition, PodExtendedResourceClaimStatus
from dray.api.resource.claim import ResourceClaim
from dray.client.port import Client, Patch, PatchType
from dray.client.retrying import Pace
from dray.client.view import name_of
from dray.errors import NotFound
from dray.scheduler.claimwrites import WriteFailed
from dray.scheduler.core.orders import Bind, Report

__all__ = ["PodStatuses"]

_SCHEDULED: Final = "PodScheduled"
_DISRUPTION: Final = "DisruptionTarget"


class PodStatuses:
    """Patches statuses of pods. Conditions merge by type, so what others wrote stays."""

    def __init__(self, client: Client, pace: Pace) -> None:
        self._client = client
        self._pace = pace

    async def report(self, order: Report) -> None:
        """Say why the pod is on no node, unless its status says so already. A pod that is gone is a no-op."""
        pod = order.pod
        known = _find_condition(pod, _SCHEDULED)
        change: dict[str, Any] = {}
        if known is None or (known.status, known.reason, known.message) != ("False", order.reason, order.message):
            changed_at = self._pace.clock.now().to_time()
            if known is not None and known.status == "False" and known.last_transition_time is not None:
                changed_at = known.last_transition_time
            condition = PodCondition(
                type=_SCHEDULED,
                status="False",
                reason=order.reason,
                message=order.message,
                observed_generation=pod.metadata.generation,
                last_transition_time=changed_at,
            )
            change["conditions"] = [condition]
        if order.nominated is not None and order.nominated != (pod.status.nominated_node_name or ""):
            change["nominatedNodeName"] = order.nominated or None
        if change:
            await self._patch(pod, change)

    async def nominate(self, pod: Pod, node_name: str) -> None:
        """Say where the pod will be once its devices are ready."""
        await self._patch(pod, {"nominatedNodeName": node_name})

    async def write_claims(self, order: Bind, claims: Sequence[ResourceClaim]) -> None:
        """Say which claim serves the pod's extended resources, and what its claims take of the node's own."""
        change: dict[str, Any] = {}
        if order.mappings:
            change["extendedResourceClaimStatus"] = PodExtendedResourceClaimStatus(
                request_mappings=order.mappings, resource_claim_name=claims[-1].metadata.name
            )
        if order.charges:
            change["nodeAllocatableResourceClaimStatuses"] = order.charges
        if not change:
            return
        try:
            await self._patch(order.pod, change)
        except NotFound as fault:
            raise WriteFailed(str(fault)) from fault

    async def take_back(self, order: Bind) -> None:
        """Take back what was said in preparation of a binding that failed."""
        change: dict[str, Any] = {}
        if order.charges:
            change["nodeAllocatableResourceClaimStatuses"] = None
        if order.waits:
            change["nominatedNodeName"] = None
        if change:
            await self._patch(order.pod, change)

    async def mark_disrupted(self, victim: Pod, scheduler_name: str) -> None:
        """Say that the pod goes to make room."""
        condition = PodCondition(
            type=_DISRUPTION,
            status="True",
            reason="PreemptionByScheduler",
            message=f"{scheduler_name}: preempting to accommodate a higher priority pod",
            observed_generation=victim.metadata.generation,
            last_transition_time=self._pace.clock.now().to_time(),
        )
        await self._patch(victim, {"conditions": [condition]})

    async def _patch(self, pod: Pod, status: dict[str, Any]) -> None:
        body = msgspec.json.encode({"metadata": {"uid": pod.metadata.uid}, "status": status}, enc_hook=str)
        await self._client.patch(POD, name_of(pod), Patch(PatchType.STRATEGIC, body), subresource="status")


def _find_condition(pod: Pod, type_: str) -> PodCondition | None:
    return next((each for each in pod.status.conditions if each.type == type_), None)
