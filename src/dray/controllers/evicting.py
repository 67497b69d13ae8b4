"""Making a pod go: first its status says why, then it is deleted. Each step may be repeated."""

from typing import NamedTuple

import msgspec

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.meta import DeleteOptions, Preconditions
from dray.client.port import Client, Patch, PatchType
from dray.client.view import name_of
from dray.errors import NotFound
from dray.values.times import Time

__all__ = ["Disruption", "delete_pod", "evict_pod", "mark_disrupted"]

_DISRUPTION_TARGET = "DisruptionTarget"


class Disruption(NamedTuple):
    """Why a pod is made to go, as its condition says it; no reason, no condition.

    `phase` is what it ends in, where nobody else will say.
    """

    reason: str = ""
    message: str = ""
    phase: str = ""


async def evict_pod(client: Client, pod: Pod, disruption: Disruption, now: Time) -> None:
    """Mark exactly this pod and have it deleted, with the time it takes to end. That it is gone is as good."""
    await mark_disrupted(client, pod, disruption, now)
    await delete_pod(client, pod)


async def mark_disrupted(client: Client, pod: Pod, disruption: Disruption, now: Time) -> None:
    """See that the status of a pod says why it goes. Raises Conflict if another pod has its name by now."""
    told = not disruption.reason or any(
        (each.type, each.status, each.reason) == (_DISRUPTION_TARGET, "True", disruption.reason)
        for each in pod.status.conditions
    )
    if told and disruption.phase in ("", pod.status.phase):
        return
    status: dict[str, object] = {}
    if not told:
        condition = {
            "type": _DISRUPTION_TARGET,
            "status": "True",
            "reason": disruption.reason,
            "message": disruption.message,
            "lastTransitionTime": str(now),
        }
        status["conditions"] = [condition]
    if disruption.phase:
        status["phase"] = disruption.phase
    body = {"metadata": {"uid": pod.metadata.uid}, "status": status}
    patch = Patch(PatchType.STRATEGIC, msgspec.json.encode(body))
    try:
        await client.patch(POD, name_of(pod), patch, subresource="status")
    except NotFound:
        return


async def delete_pod(client: Client, pod: Pod, *, grace_seconds: int | None = None) -> None:
    """Have exactly this pod deleted; without `grace_seconds` it takes the time that it asks for."""
    options = DeleteOptions(grace_period_seconds=grace_seconds, preconditions=Preconditions(uid=pod.metadata.uid))
    try:
        await client.delete(POD, name_of(pod), options)
    except NotFound:
        return
