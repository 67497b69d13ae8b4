"""Placing a group of pods: every member sees those before it, and either enough of them fit or none is placed."""

from __future__ import annotations

from dataclasses import dataclass, field

from dray.api.core.pod import Pod
from dray.scheduler.core.admitting import admit_group, find_group_key
from dray.scheduler.core.attempting import assume, decide, make_attempt, refusal_message, withdraw
from dray.scheduler.core.decide import Chosen, Erred, Refused
from dray.scheduler.core.groupaftermath import free_group_claims
from dray.scheduler.core.hints import pass_on_hope
from dray.scheduler.core.messages import join_notes
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.orders import Bind, Order
from dray.scheduler.core.queue import Entry
from dray.scheduler.core.reporting import note_failure
from dray.scheduler.core.state import GroupKey, SchedulerState

__all__ = ["attempt_group"]


@dataclass(slots=True)
class _Trial:
    """How the members fared so far."""

    placed: dict[str, Bind] = field(default_factory=dict)
    refused: dict[str, Refused] = field(default_factory=dict)
    error: str = ""


def attempt_group(state: SchedulerState, entry: Entry, now: Moment) -> list[Order]:
    """Try a group that was taken from the queue."""
    group = find_group_key(entry.pod)
    known = state.groups.get(group) if group is not None else None
    if group is None or known is None:
        state.queue.gate(entry, now.seconds)
        return []
    fault = _find_mismatch(state, group, entry)
    if fault:
        return _fail(state, entry, fault, now)
    gang = known.spec.scheduling_policy.gang
    needed = 1 if gang is None else gang.min_count
    scheduled = _count_placed(state, group)
    trial = _try_members(state, entry, needed - scheduled, now)
    if trial.error:
        _undo(state, trial)
        return _fail(state, entry, f"failed to schedule other pod from a pod group: {trial.error}", now)
    if trial.placed and scheduled + len(trial.placed) >= needed:
        return _accept(state, entry, group, trial, now)
    _undo(state, trial)
    why = f"minCount ({needed}) cannot be satisfied: {scheduled} scheduled, {len(entry.pods)} remaining"
    return _refuse(state, entry, trial, why, now)


def _find_mismatch(state: SchedulerState, group: GroupKey, entry: Entry) -> str:
    """What members of one group must have in common and have not; empty if all is well."""
    pods = list(entry.pods.values())
    first = pods[0]
    for pod in pods[1:]:
        if pod.spec.scheduler_name != first.spec.scheduler_name:
            names = f'"{first.spec.scheduler_name}" and "{pod.spec.scheduler_name}"'
            return f"all pods in a single pod group should have the same .spec.schedulerName set, got: {names}"
    priority = state.groups[group].spec.priority
    for pod in pods:
        if priority is not None and (pod.spec.priority or 0) != priority:
            text = "all pods in a single pod group should have the same priority as the pod group's priority"
            return f"{text}, got {pod.spec.priority or 0} and {priority}"
        if (pod.spec.preemption_policy or "") != (first.spec.preemption_policy or ""):
            text = "all pods in a single pod group should have the same preemption policy"
            return f"{text}, got {first.spec.preemption_policy} and {pod.spec.preemption_policy}"
    return ""


def _count_placed(state: SchedulerState, group: GroupKey) -> int:
    return sum(1 for uid in state.members.get(group, {}) if state.snapshot.find_pod(uid) is not None)


def _try_members(state: SchedulerState, entry: Entry, needed: int, now: Moment) -> _Trial:
    """Place one after the other, until too few are left to place as many as are needed."""
    trial = _Trial()
    siblings = frozenset(entry.pods)
    left = len(entry.pods)
    for uid, pod in entry.pods.items():
        decision = decide(state, pod, now, siblings)
        left -= 1
        if isinstance(decision, Chosen):
            trial.placed[uid] = assume(state, entry, pod, decision, now)
        elif isinstance(decision, Erred):
            trial.error = decision.message
            return trial
        else:
            trial.refused[uid] = decision
        if len(trial.placed) + left < needed:
            break
    return trial


def _undo(state: SchedulerState, trial: _Trial) -> None:
    """Take back what was tried, the latest first. It helps nobody who waits: it was free before."""
    nodes, devices = state.stir.nodes, state.stir.devices
    for uid in reversed(trial.placed):
        withdraw(state, uid)
    state.claims.freed.clear()
    state.stir.nodes, state.stir.devices = nodes, devices


def _accept(state: SchedulerState, entry: Entry, group: GroupKey, trial: _Trial, now: Moment) -> list[Order]:
    for uid in trial.placed:
        state.reports.pop(uid, None)
        state.counters.count("scheduled", entry.pods[uid].spec.scheduler_name)
    pass_on_hope(state, entry, now)
    left = {uid: pod for uid, pod in entry.pods.items() if uid not in trial.placed}
    state.queue.remove(entry.key, now.seconds)
    if left:
        _report_refused(state, left, trial)
        admit_group(state, group, now.seconds)
    return list(trial.placed.values())


def _refuse(state: SchedulerState, entry: Entry, trial: _Trial, why: str, now: Moment) -> list[Order]:
    attempt = make_attempt(state, entry.pod, now)
    after = free_group_claims(state, entry, trial.refused, attempt)
    plugins = frozenset(plugin for refused in trial.refused.values() for plugin in refused.plugins)
    state.queue.refuse(entry, plugins, now.seconds)
    state.counters.count("unschedulable", entry.pod.spec.scheduler_name)
    for uid, pod in entry.pods.items():
        refused = trial.refused.get(uid)
        if refused is None:
            message = f"pod group is unschedulable, {join_notes(why, after.message)}"
            note_failure(state, pod, "Unschedulable", message)
    _report_refused(state, {uid: entry.pods[uid] for uid in trial.refused}, trial)
    return list(after.orders)


def _report_refused(state: SchedulerState, pods: dict[str, Pod], trial: _Trial) -> None:
    for uid, pod in pods.items():
        refused = trial.refused.get(uid)
        if refused is not None:
            claims = () if refused.wish is None else refused.wish.open
            note_failure(state, pod, "Unschedulable", refusal_message(refused, ""), claims=claims)


def _fail(state: SchedulerState, entry: Entry, message: str, now: Moment) -> list[Order]:
    state.queue.fail(entry, now.seconds)
    for pod in entry.pods.values():
        state.counters.count("error", pod.spec.scheduler_name)
        note_failure(state, pod, "SchedulerError", message)
    return []
