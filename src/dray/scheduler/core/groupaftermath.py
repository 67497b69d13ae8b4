"""What can be done for a group that fits nowhere: free what claims hold in vain, those of pods before the group's."""

from __future__ import annotations

from collections.abc import Mapping

from dray.api.resource.claim import ResourceClaim
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.admitting import find_group_key
from dray.scheduler.core.consumers import group_consumer
from dray.scheduler.core.decide import Attempt, Refused
from dray.scheduler.core.orders import Deallocate, Order, Unreserve
from dray.scheduler.core.podclaims import is_reserved_for
from dray.scheduler.core.postfilter import Aftermath, free_own_claims
from dray.scheduler.core.queue import Entry
from dray.scheduler.core.state import SchedulerState

__all__ = ["free_group_claims"]


def free_group_claims(
    state: SchedulerState, entry: Entry, refused: Mapping[str, Refused], attempt: Attempt
) -> Aftermath:
    """Release claims of single members; if that is not enough and nobody of the group runs, one of the group's."""
    group_key = find_group_key(entry.pod)
    group = state.groups.get(group_key) if group_key is not None else None
    if group is None or group.spec.scheduling_constraints is not None:
        return Aftermath()
    orders: list[Order] = []
    has_idle_member = False
    for each in refused.values():
        freed = free_own_claims(each, attempt)
        orders += [order for order in freed.orders if order not in orders]
        has_idle_member = has_idle_member or not freed.orders
    members = state.members.get((group.metadata.namespace, group.metadata.name), {})
    is_running = any(state.snapshot.find_pod(uid) is not None for uid in members)
    if has_idle_member and not is_running:
        own = _free_shared(state, group, refused)
        if own.orders:
            return Aftermath(own.message, (*orders, *own.orders))
    return Aftermath("deallocation and deletion of ResourceClaims completed" if orders else "", tuple(orders))


def _free_shared(state: SchedulerState, group: PodGroup, refused: Mapping[str, Refused]) -> Aftermath:
    consumer = group_consumer(group)
    unavailable: dict[str, ResourceClaim] = {}
    for each in refused.values():
        if each.wish is not None and each.verdict is not None:
            for index in sorted(each.verdict.unavailable):
                claim = each.wish.settled[index][0]
                if claim.status.allocation is not None and state.claims.find_promise(claim) is None:
                    unavailable[claim.metadata.uid] = claim
    for claim in unavailable.values():
        if all(each.uid == consumer.uid for each in claim.status.reserved_for):
            return Aftermath("deallocation of PodGroup ResourceClaim completed", (Deallocate(claim),))
    for claim in unavailable.values():
        if is_reserved_for(claim, consumer):
            return Aftermath("ResourceClaim unreserved for PodGroup", (Unreserve(claim, consumer),))
    return Aftermath()
