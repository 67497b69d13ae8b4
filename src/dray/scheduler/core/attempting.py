"""Trying the pods of the queue: decide, count what was decided at once, and say what is to be written."""

from __future__ import annotations

from collections.abc import Hashable

from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.scheduler.core.bindingconditions import has_binding_conditions
from dray.scheduler.core.consumers import consumer_of
from dray.scheduler.core.decide import Attempt, Chosen, Erred, Refused, decide_pod, on_node
from dray.scheduler.core.devices import DeviceWish
from dray.scheduler.core.hints import pass_on_hope
from dray.scheduler.core.likeness import likeness_of
from dray.scheduler.core.messages import NO_NODES, count_reasons, render_refusal, render_rejection
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.nodeinfo import priority_of
from dray.scheduler.core.orders import Bind, ClaimWrite, Order, Tell
from dray.scheduler.core.podclaims import Unresolved, is_reserved_for, resolve_claims
from dray.scheduler.core.postfilter import free_own_claims
from dray.scheduler.core.preempting import preempt
from dray.scheduler.core.queue import Entry
from dray.scheduler.core.reporting import note_failure, note_refusal
from dray.scheduler.core.state import Assumed, SchedulerState

__all__ = ["assume", "attempt_pod", "find_likeness", "make_attempt", "refusal_message", "withdraw"]


def make_attempt(state: SchedulerState, pod: Pod, now: Moment) -> Attempt:
    """What a decision on the pod goes by."""
    name = pod.spec.scheduler_name
    return Attempt(state.profiles[name], state.placements[name], state.world, now.date, state.share_ids)


def attempt_pod(state: SchedulerState, entry: Entry, now: Moment) -> list[Order]:
    """Try an entry that is one pod, which was taken from the queue. Its fate is settled afterwards."""
    pod = entry.pod
    if pod.metadata.deletion_timestamp is not None:
        state.queue.remove(entry.key, now.seconds)
        note = f"skip schedule deleting pod: {pod.metadata.namespace}/{pod.metadata.name}"
        return [Tell(pod, "Warning", "FailedScheduling", "Scheduling", note)]
    likeness = _recall_likeness(state, entry)
    if likeness is not None:
        known = state.refusals.find(likeness, state.version)
        if known is not None:
            state.counters.recalled += 1
            _refuse(state, entry, known[0], known[1], now)
            return []
    attempt = make_attempt(state, pod, now)
    decision = decide_pod(pod, attempt)
    if isinstance(decision, Chosen):
        return [_accept(state, entry, decision, now)]
    if isinstance(decision, Erred):
        _fail(state, entry, decision.message, now)
        return []
    return _look_further(state, entry, decision, attempt, now)


def _recall_likeness(state: SchedulerState, entry: Entry) -> Hashable:
    """The likeness of an entry, worked out only where somebody was refused before."""
    if not state.refusals:
        return None
    if entry.likeness is None:
        entry.likeness = find_likeness(state, entry.pod)
    return entry.likeness


def find_likeness(state: SchedulerState, pod: Pod) -> Hashable:
    """What the pod has in common with those that fare alike; None if its claims cannot be told."""
    claims = resolve_claims(pod, state.claims)
    if isinstance(claims, Unresolved) or pod.status.nominated_node_name:
        return None
    return likeness_of(pod, claims)


# A node was found


def _accept(state: SchedulerState, entry: Entry, chosen: Chosen, now: Moment) -> Bind:
    pod = entry.pod
    order = assume(state, entry, pod, chosen, now)
    pass_on_hope(state, entry, now)
    state.reports.pop(pod.metadata.uid, None)
    return order


def assume(state: SchedulerState, entry: Entry, pod: Pod, chosen: Chosen, now: Moment) -> Bind:
    """Let a decision count at once, and say what is to be written for it."""
    uid = pod.metadata.uid
    name = state.snapshot.names[chosen.number]
    state.snapshot.put_pod(on_node(pod, name, chosen.charges))
    state.snapshot.withdraw(uid)
    promised = list(chosen.allocation.results)
    for claim, allocation in chosen.wish.settled:
        if claim.status.allocation is None:
            promised.append((claim, allocation))
    for claim, allocation in promised:
        state.claims.promise(claim, allocation, uid)
    if promised or chosen.wish.claims:
        state.least_priority = min(state.least_priority, priority_of(pod))
    state.cluster.ledger.forget_history()
    state.counters.steps += chosen.allocation.steps
    order = _plan_writes(state, pod, name, chosen)
    written = {write.claim.metadata.uid for write in order.writes}
    reserved = tuple(each.claim for each in chosen.wish.claims if each.claim.metadata.uid not in written)
    state.assumed[uid] = Assumed(pod, name, entry, tuple(promised), order, reserved, since=now.seconds)
    state.stir.anywhere.update(("PodTopologySpread", "InterPodAffinity"))
    state.version += 1
    return order


def _plan_writes(state: SchedulerState, pod: Pod, node_name: str, chosen: Chosen) -> Bind:
    wish = chosen.wish
    allocations = {claim.metadata.uid: allocation for claim, allocation in chosen.allocation.results}
    allocations |= {
        claim.metadata.uid: allocation for claim, allocation in wish.settled if claim.status.allocation is None
    }
    writes: list[ClaimWrite] = []
    for each in wish.claims:
        consumer = consumer_of(state.groups, pod, each.entry)
        allocation = allocations.get(each.claim.metadata.uid)
        if allocation is not None or not is_reserved_for(each.claim, consumer):
            writes.append(ClaimWrite(each.claim, allocation, consumer))
    served = chosen.allocation.served
    if served is not None:
        own = consumer_of(state.groups, pod, "")
        writes.append(ClaimWrite(served.claim, allocations[served.claim.metadata.uid], own))
    waits = any(
        result.binding_conditions for allocation in allocations.values() for result in allocation.devices.results
    ) or any(has_binding_conditions(claim) for claim, _ in wish.settled)
    mappings = () if served is None else served.mappings
    return Bind(pod, node_name, tuple(writes), mappings, chosen.charges, waits)


def withdraw(state: SchedulerState, uid: str) -> Assumed | None:
    """Take a decision back: nothing of it was written, or what was is told by its claims. Repeating is a no-op."""
    assumed = state.assumed.pop(uid, None)
    if assumed is None:
        return None
    placed = state.snapshot.find_pod(uid)
    if placed is not None:
        state.snapshot.remove_pod(uid)
        number = state.snapshot.find_number(assumed.node_name)
        state.stir.nodes |= 0 if number is None else 1 << number
    for claim, _ in assumed.promised:
        state.claims.withdraw(claim, uid)
    state.cluster.ledger.forget_history()
    state.version += 1
    return assumed


# No node was found


def _look_further(state: SchedulerState, entry: Entry, refused: Refused, attempt: Attempt, now: Moment) -> list[Order]:
    freed = free_own_claims(refused, attempt)
    evicted = preempt(state, entry.pod, refused, attempt)
    after = ", ".join(text for text in (freed.message, evicted.message) if text)
    message = refusal_message(refused, after)
    if evicted.nominated is not None:
        entry.is_urgent = bool(evicted.nominated)
    entry.likeness = None if evicted.nominated else find_likeness(state, entry.pod)
    orders = [*freed.orders, *evicted.orders]
    if entry.likeness is not None and not orders:
        state.refusals.put(entry.likeness, state.version, refused, message)
    _refuse(state, entry, refused, message, now, nominated=evicted.nominated)
    return orders


def _only_open(wish: DeviceWish | None) -> tuple[ResourceClaim, ...]:
    """The claims that need devices, if a pod needs nothing else of devices."""
    return () if wish is None or wish.settled or wish.served or wish.leftover else wish.open


def refusal_message(refused: Refused, after: str) -> str:
    """Kubernetes' text about a refusal."""
    if not refused.nodes:
        return NO_NODES
    if refused.rejection:
        return render_rejection(refused.nodes, refused.rejection, after)
    return render_refusal(refused.nodes, count_reasons(refused.refusals), after)


def _refuse(  # noqa: PLR0913 - the last is an option by keyword
    state: SchedulerState, entry: Entry, refused: Refused, message: str, now: Moment, *, nominated: str | None = None
) -> None:
    entry.open, entry.plan = _only_open(refused.wish), None
    state.queue.refuse(entry, refused.plugins, now.seconds)
    state.counters.count("unschedulable", entry.pod.spec.scheduler_name)
    note_refusal(state, refused, message, entry.pod, likeness=entry.likeness, nominated=nominated)


def _fail(state: SchedulerState, entry: Entry, message: str, now: Moment) -> None:
    state.queue.fail(entry, now.seconds)
    state.counters.count("error", entry.pod.spec.scheduler_name)
    note_failure(state, entry.pod, "SchedulerError", message)
