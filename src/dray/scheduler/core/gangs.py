"""Placing a group of pods: enough of them fit together, on one site if the group asks for that, or none is placed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dray.api.core.pod import Pod
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.admitting import admit_group, find_group_key
from dray.scheduler.core.attempting import make_attempt, refusal_message
from dray.scheduler.core.decide import Refused
from dray.scheduler.core.groupaftermath import free_group_claims
from dray.scheduler.core.groupstatus import report_group
from dray.scheduler.core.grouptrials import GroupTrial, GroupTrials
from dray.scheduler.core.hints import pass_on_hope
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.orders import Order
from dray.scheduler.core.postfilter import Aftermath
from dray.scheduler.core.queue import Entry
from dray.scheduler.core.reporting import note_failure, note_refusal
from dray.scheduler.core.sites import required_sites
from dray.scheduler.core.state import GroupKey, SchedulerState

__all__ = ["attempt_group"]


def attempt_group(state: SchedulerState, entry: Entry, now: Moment) -> list[Order]:
    """Try a group that was taken from the queue."""
    key = find_group_key(entry.pod)
    group = state.groups.get(key) if key is not None else None
    if key is None or group is None:
        state.queue.gate(entry, now.seconds)
        return []
    fault = _find_mismatch(group, list(entry.pods.values()))
    if fault:
        return _fail(state, entry, fault, now)
    gang = group.spec.scheduling_policy.gang
    needed = 1 if gang is None else gang.min_count
    scheduled = _count_placed(state, key)
    trials = GroupTrials(state, entry, needed - scheduled, now)
    sites = required_sites(state, group, list(entry.pods.values()))
    trial = trials.anywhere() if sites is None else trials.on_sites(sites)
    if trial is not None and trial.error:
        return _fail(state, entry, f"failed to schedule other pod from a pod group: {trial.error}", now)
    if trial is not None and trial.stands:
        return _accept(state, entry, key, trial, now)
    why = ""
    if trial is not None:
        done = f"{scheduled + len(trial.placed)} scheduled, {trial.untried} remaining"
        why = f"minCount ({needed}) cannot be satisfied: {done}"
    state.queue.refuse(entry, trials.refused_by, now.seconds)
    state.counters.count_group("unschedulable", entry.pod.spec.scheduler_name)
    for pod in entry.pods.values():
        state.counters.count("unschedulable", pod.spec.scheduler_name)
    refused = {} if trial is None else trial.refused
    if sites is None:
        return _refuse_anywhere(state, entry, refused, why, now)
    return _refuse_on_sites(state, entry, refused, _render_sites(sites, why, refused.values()))


def _find_mismatch(group: PodGroup, pods: Sequence[Pod]) -> str:
    """What members of one group must have in common and have not; empty if all is well."""
    first, priority = pods[0], group.spec.priority
    for pod in pods[1:]:
        if pod.spec.scheduler_name != first.spec.scheduler_name:
            names = f'"{first.spec.scheduler_name}" and "{pod.spec.scheduler_name}"'
            return f"all pods in a single pod group should have the same .spec.schedulerName set, got: {names}"
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


# Enough of them fit


def _accept(state: SchedulerState, entry: Entry, group: GroupKey, trial: GroupTrial, now: Moment) -> list[Order]:
    for uid in trial.placed:
        state.reports.pop(uid, None)
    state.counters.count_group("scheduled", entry.pod.spec.scheduler_name)
    pass_on_hope(state, entry, now)
    left = {uid: pod for uid, pod in entry.pods.items() if uid not in trial.placed}
    state.queue.remove(entry.key, now.seconds)
    if left:
        _tell_refused(state, entry, trial.refused)
        admit_group(state, group, now.seconds)
    return list(trial.placed.values())


# Too few of them fit


def _refuse_anywhere(
    state: SchedulerState, entry: Entry, refused: dict[str, Refused], why: str, now: Moment
) -> list[Order]:
    """Pods that found no node say why themselves, the others that it is for the sake of the group."""
    after = free_group_claims(state, entry, refused, make_attempt(state, entry.pod, now))
    message = _render_group(why, after)
    for uid, pod in entry.pods.items():
        if uid not in refused:
            note_failure(state, pod, "Unschedulable", message)
    _tell_refused(state, entry, refused)
    return [*after.orders, *report_group(state, entry, "Unschedulable", message)]


def _refuse_on_sites(state: SchedulerState, entry: Entry, refused: dict[str, Refused], why: str) -> list[Order]:
    """All pods say the same: no site takes the group."""
    message = _render_group(why, Aftermath())
    for uid, pod in entry.pods.items():
        if uid in refused:
            note_refusal(state, refused[uid], message, pod)
        else:
            note_failure(state, pod, "Unschedulable", message)
    return report_group(state, entry, "Unschedulable", message)


def _render_group(why: str, after: Aftermath) -> str:
    return ", ".join(text for text in ("pod group is unschedulable", why, after.message) if text)


def _render_sites(sites: Sequence[int], why: str, refused: Iterable[Refused]) -> str:
    text = f"0/{len(sites)} placements are available"
    if not sites:
        return text
    first = [refusal_message(each, "") for each in refused][:1]
    return f"{text}, first placement status: {', '.join([why, *first])}"


def _tell_refused(state: SchedulerState, entry: Entry, refused: dict[str, Refused]) -> None:
    for uid, each in refused.items():
        note_refusal(state, each, refusal_message(each, ""), entry.pods[uid])


def _fail(state: SchedulerState, entry: Entry, message: str, now: Moment) -> list[Order]:
    state.queue.fail(entry, now.seconds)
    state.counters.count_group("error", entry.pod.spec.scheduler_name)
    for pod in entry.pods.values():
        state.counters.count("error", pod.spec.scheduler_name)
        note_failure(state, pod, "SchedulerError", message)
    return report_group(state, entry, "SchedulerError", message)
