"""Carrying out what was decided: claims, then the pod's status, then the binding; and cleaning up where that fails.

How an order ended is reported as news. Whatever fails, what is reported is what the server said last, never a guess:
a request whose answer was lost is looked after until it is known what became of it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from dray.api.core.binding import Binding
from dray.api.core.kinds import BINDING, POD
from dray.api.core.pod import Pod
from dray.api.core.references import ObjectReference
from dray.api.meta import DeleteOptions, ObjectMeta, Preconditions
from dray.api.resource.claim import ResourceClaim
from dray.client.port import Client, Unreachable
from dray.client.retrying import Pace
from dray.client.view import name_of
from dray.effects.log import Log
from dray.errors import ApiError, NotFound
from dray.scheduler.claimwrites import ClaimWrites, WriteFailed, made_for
from dray.scheduler.core.extended import is_unmade
from dray.scheduler.core.news import Bound, ClaimSeen, ClaimsReserved, Evicted, NotBound
from dray.scheduler.core.orders import (
    AbandonBinding,
    Bind,
    Deallocate,
    DeleteClaim,
    Evict,
    FinishBinding,
    GroupReport,
    Order,
    Report,
    Tell,
    Unreserve,
)
from dray.scheduler.core.step import News
from dray.scheduler.events import PodEvent, PodEvents
from dray.scheduler.groupstatuses import GroupStatuses
from dray.scheduler.podstatus import PodStatuses

__all__ = ["Binder"]

_PRE_BIND: Final = 'running PreBind plugin "DynamicResources": '
_BIND: Final = 'running Bind plugin "DefaultBinder": '


class Binder:
    """Carries out orders, any number at once. Keeps nothing between them."""

    def __init__(self, client: Client, claims: ClaimWrites, events: PodEvents, pace: Pace, log: Log) -> None:
        self._client = client
        self._claims = claims
        self._events = events
        self._statuses = PodStatuses(client, pace)
        self._groups = GroupStatuses(client, pace)
        self._pace = pace
        self._log = log

    async def perform(self, order: Order, report: Callable[[News], None]) -> None:
        """Carry out one order."""
        match order:
            case Bind():
                report(await self._bind(order))
            case FinishBinding():
                report(await self._finish(order.bind, order.claims))
            case AbandonBinding():
                report(await self._give_up(order.bind, order.claims, order.message))
            case Report():
                await self._report(order)
            case GroupReport():
                await _quietly(self._groups.report(order))
            case Tell():
                self._events.tell(PodEvent(order.pod, order.type, order.reason, order.action, order.note))
            case Evict():
                report(Evicted(order.pod.metadata.uid, await self._evict(order)))
            case _:
                seen = await self._free(order)
                if seen is not None:
                    report(ClaimSeen(seen))

    async def _bind(self, order: Bind) -> News:
        writes = list(order.writes)
        claims: list[ResourceClaim] = []
        try:
            for number, write in enumerate(writes):
                writes[number] = write._replace(claim=await self._claims.make(write.claim))
                claims.append(await self._claims.reserve(writes[number]))
            await self._statuses.write_claims(order, claims)
            if order.waits:
                await self._statuses.nominate(order.pod, order.node_name)
        except (WriteFailed, ApiError, Unreachable) as fault:
            begun = [*claims, *(write.claim for write in writes[len(claims) :])]
            return await self._give_up(order, begun, f"{_PRE_BIND}{fault}")
        if order.waits:
            return ClaimsReserved(order.pod.metadata.uid, tuple(claims))
        return await self._finish(order, claims)

    async def _finish(self, order: Bind, claims: Sequence[ResourceClaim]) -> News:
        pod, node_name = order.pod, order.node_name
        meta = ObjectMeta(name=pod.metadata.name, namespace=pod.metadata.namespace, uid=pod.metadata.uid)
        binding = Binding(metadata=meta, target=ObjectReference(kind="Node", name=node_name))
        try:
            await self._client.create(BINDING, binding, subresource="binding")
        except (ApiError, Unreachable) as fault:
            placed = await self._find_node(pod)
            if placed != node_name:
                return await self._give_up(order, claims, f"{_BIND}{fault}", keeps_reservations=bool(placed))
        note = f"Successfully assigned {pod.metadata.namespace}/{pod.metadata.name} to {node_name}"
        self._events.tell(PodEvent(pod, "Normal", "Scheduled", "Binding", note))
        return Bound(pod.metadata.uid, tuple(claims))

    async def _find_node(self, pod: Pod) -> str:
        """The node the pod is on, which takes as long to find out as it takes; empty if it is on none or gone."""
        attempt = 0
        while True:
            try:
                latest = await self._client.get(POD, name_of(pod))
            except NotFound:
                return ""
            except (ApiError, Unreachable):
                await self._pace.pause(attempt)
                attempt += 1
            else:
                return latest.spec.node_name if latest.metadata.uid == pod.metadata.uid else ""

    async def _give_up(
        self, order: Bind, claims: Sequence[ResourceClaim], message: str, *, keeps_reservations: bool = False
    ) -> NotBound:
        """Take back what stands in the way of others, and tell what the claims are like then."""
        pod = order.pod
        latest: list[ResourceClaim] = []
        for claim in claims:
            known = None if is_unmade(claim) else await self._claims.learn(claim)
            if known is None:
                continue
            if made_for(pod, known):
                await self._claims.delete_made(known)
                continue
            freed = None if keeps_reservations else await self._claims.unreserve(known, pod.metadata.uid)
            latest.append(freed or known)
        await _quietly(self._statuses.take_back(order))
        self._log.debug("binding failed", pod=f"{pod.metadata.namespace}/{pod.metadata.name}", err=message)
        return NotBound(pod.metadata.uid, message, tuple(latest))

    async def _report(self, order: Report) -> None:
        event = PodEvent(order.pod, "Warning", "FailedScheduling", "Scheduling", order.note)
        self._events.tell(event)
        await _quietly(self._statuses.report(order))

    async def _free(self, order: Order) -> ResourceClaim | None:
        match order:
            case Deallocate(claim):
                return await self._claims.deallocate(claim)
            case Unreserve(claim, consumer):
                return await self._claims.unreserve(claim, consumer.uid)
            case DeleteClaim(claim):
                await self._claims.delete_made(claim)
        return None

    async def _evict(self, order: Evict) -> bool:
        """Whether all victims are leaving, as far as the server told."""
        pod, is_complete = order.pod, True
        for victim in order.victims:
            await _quietly(self._statuses.mark_disrupted(victim, pod.spec.scheduler_name))
            only = DeleteOptions(preconditions=Preconditions(uid=victim.metadata.uid))
            try:
                await self._client.delete(POD, name_of(victim), only)
            except NotFound:
                continue
            except (ApiError, Unreachable):
                is_complete = False
                continue
            note = f"Preempted by pod {pod.metadata.uid} on node {order.node_name}"
            self._events.tell(PodEvent(victim, "Normal", "Preempted", "Preempting", note, related=pod))
        return is_complete


async def _quietly(request: Awaitable[Any]) -> None:
    """Make a request whose failure shows in what happens next, and is put right by the next attempt."""
    try:
        await request
    except (ApiError, Unreachable):
        return
