"""How orders ended: what was decided becomes a fact, or is taken back and tried again."""

from __future__ import annotations

from typing import Final

from dray.api.resource.claim import ResourceClaim
from dray.scheduler.core.admitting import admit_group, find_group_key, group_entry_key
from dray.scheduler.core.attempting import withdraw
from dray.scheduler.core.bindingconditions import ReadyState, deadline_of, judge_readiness
from dray.scheduler.core.entry import Entry, Place
from dray.scheduler.core.folding import note_claim, stir_freed, stir_held
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.news import Bound, ClaimSeen, ClaimsReserved, Evicted, NotBound
from dray.scheduler.core.orders import AbandonBinding, FinishBinding, Order, Tell
from dray.scheduler.core.reporting import note_failure
from dray.scheduler.core.state import Assumed, DeviceWait, GroupKey, SchedulerState
from dray.values.times import MicroTime

__all__ = [
    "check_waiting",
    "find_deadline",
    "settle_bound",
    "settle_claim",
    "settle_evicted",
    "settle_not_bound",
    "settle_reserved",
]

_PRE_BIND: Final = 'running PreBind plugin "DynamicResources": '


def settle_bound(state: SchedulerState, news: Bound, now: Moment) -> list[Order]:
    """The pod is on its node."""
    assumed = state.assumed.get(news.pod_uid)
    _keep(state, assumed, news.claims, now)
    if assumed is None:
        return []
    promised = {claim.metadata.uid for claim, _ in assumed.promised}
    _lapse(state, assumed, news.pod_uid)
    assumed.is_bound = True
    _count_placed(state, assumed)
    placed = state.snapshot.find_pod(news.pod_uid)
    if placed is not None and any(claim.metadata.uid not in promised for claim in state.claims.used_by(placed)):
        stir_held(state, placed)
    if assumed.is_gone or assumed.is_seen:
        del state.assumed[news.pod_uid]
    state.queue.remove(news.pod_uid, now.seconds)
    return []


def _count_placed(state: SchedulerState, assumed: Assumed) -> None:
    state.counters.count("scheduled", assumed.pod.spec.scheduler_name)
    state.counters.flushed += assumed.entry.was_flushed


def _keep(state: SchedulerState, assumed: Assumed | None, claims: tuple[ResourceClaim, ...], now: Moment) -> None:
    """Learn what the server returned for the claims of a pod."""
    for claim in claims:
        if state.claims.put(claim):
            note_claim(state, claim, now.seconds)


def _lapse(state: SchedulerState, assumed: Assumed, uid: str) -> None:
    """What was promised is written, or will not be: from here on the claims themselves tell."""
    for claim, _ in assumed.promised:
        state.claims.withdraw(claim, uid)
    stir_freed(state)
    state.cluster.ledger.forget_history()


def settle_not_bound(state: SchedulerState, news: NotBound, now: Moment) -> list[Order]:
    """Binding failed: the pod is tried again after a pause, others may have what it was promised."""
    assumed = state.assumed.get(news.pod_uid)
    _keep(state, assumed, news.claims, now)
    if assumed is None:
        return []
    if assumed.is_seen:
        # The answer was lost on the way, but the binding was made.
        _count_placed(state, assumed)
        _lapse(state, assumed, news.pod_uid)
        del state.assumed[news.pod_uid]
        return []
    withdraw(state, news.pod_uid)
    stir_freed(state)
    for claim, _ in assumed.promised:
        note_claim(state, claim, now.seconds)
    if assumed.is_gone:
        state.queue.remove(news.pod_uid, now.seconds)
        return []
    group = find_group_key(assumed.pod)
    if group is not None:
        admit_group(state, group, now.seconds)
        _let_pause(state, group, assumed.entry, now)
    elif state.queue.find(news.pod_uid) is assumed.entry:
        state.queue.fail(assumed.entry, now.seconds)
    else:
        return []
    state.counters.count("error", assumed.pod.spec.scheduler_name)
    note_failure(state, assumed.pod, "SchedulerError", news.message, nominated="")
    return []


def _let_pause(state: SchedulerState, group: GroupKey, before: Entry, now: Moment) -> None:
    """Do not try a group again at once whose pods could not be bound. Other pods that fail with it change nothing."""
    entry = state.queue.find(group_entry_key(group))
    if entry is not None and entry is not before and entry.place is Place.ACTIVE:
        entry.errors = before.errors
        state.queue.fail(entry, now.seconds)


def settle_claim(state: SchedulerState, news: ClaimSeen, now: Moment) -> list[Order]:
    """The server returned a claim."""
    if state.claims.put(news.claim):
        note_claim(state, news.claim, now.seconds)
    return []


def settle_evicted(state: SchedulerState, news: Evicted, now: Moment) -> list[Order]:
    """Pods leave for the sake of this one. If some do not, as a request failed, it is tried again after a pause."""
    state.evicting.pop(news.pod_uid, None)
    entry = state.queue.find(news.pod_uid)
    if entry is not None and not news.is_complete:
        state.queue.pause(entry, now.seconds)
    return []


# Devices that have to get ready


def settle_reserved(state: SchedulerState, news: ClaimsReserved, now: Moment) -> list[Order]:
    """The claims of a pod are written; it is bound as soon as its devices are ready."""
    assumed = state.assumed.get(news.pod_uid)
    _keep(state, assumed, news.claims, now)
    if assumed is None:
        return []
    assumed.claims = (*assumed.claims, *news.claims)
    assumed.waits_since = now.seconds
    state.waiting.add(news.pod_uid)
    told = _look_after(state, news.pod_uid, assumed, now)
    if told:
        return told
    note = f"waiting for binding conditions for device on node {assumed.node_name}"
    return [Tell(assumed.pod, "Normal", "BindingConditionsPending", "Scheduling", note)]


def check_waiting(state: SchedulerState, now: Moment) -> list[Order]:
    """Look after all pods that wait for devices."""
    orders: list[Order] = []
    for uid in sorted(state.waiting):
        orders += _look_after(state, uid, state.assumed[uid], now)
    return orders


def find_deadline(state: SchedulerState) -> MicroTime | None:
    """When the first pod that waits for devices has waited too long."""
    deadlines = [
        deadline
        for assumed in (state.assumed[uid] for uid in state.waiting)
        for claim in assumed.claims
        for deadline in (deadline_of(claim, _timeout(state, assumed)),)
        if deadline is not None
    ]
    return min(deadlines, default=None)


def _timeout(state: SchedulerState, assumed: Assumed) -> float:
    return state.profiles[assumed.pod.spec.scheduler_name].binding_timeout_seconds


def _look_after(state: SchedulerState, uid: str, assumed: Assumed, now: Moment) -> list[Order]:
    latest: list[ResourceClaim] = []
    for claim in assumed.claims:
        known = state.claims.find(claim.metadata.namespace, claim.metadata.name)
        if known is None or known.metadata.uid != claim.metadata.uid:
            text = f'could not find ResourceClaim "{claim.metadata.namespace}/{claim.metadata.name}"'
            return [_abandon(state, assumed, f"{_PRE_BIND}{text}", "error", now)]
        latest.append(known)
    assumed.claims = tuple(latest)
    if assumed.is_gone:
        return [_abandon(state, assumed, "the pod is gone", "error", now)]
    verdicts = [judge_readiness(claim, now.date, _timeout(state, assumed)) for claim in latest]
    hopeless = next((each for each in verdicts if each.state in (ReadyState.FAILED, ReadyState.TIMED_OUT)), None)
    if hopeless is not None:
        status = "failure" if hopeless.state is ReadyState.FAILED else "timeout"
        return [_abandon(state, assumed, f"{_PRE_BIND}{hopeless.message}", status, now)]
    if all(each.state is ReadyState.READY for each in verdicts):
        _end_wait(state, assumed, "success", now)
        return [FinishBinding(assumed.bind, assumed.claims)]
    return []


def _end_wait(state: SchedulerState, assumed: Assumed, status: str, now: Moment) -> None:
    state.waiting.discard(assumed.pod.metadata.uid)
    assumed.wait = DeviceWait(status, now.seconds - assumed.waits_since)


def _abandon(state: SchedulerState, assumed: Assumed, message: str, status: str, now: Moment) -> AbandonBinding:
    _end_wait(state, assumed, status, now)
    return AbandonBinding(assumed.bind, assumed.claims, message)
