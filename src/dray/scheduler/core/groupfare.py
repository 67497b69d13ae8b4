"""How the pods of a group fare together, for whoever asks about one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from dray.api.core.pod import Pod
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.admitting import find_group_key, group_entry_key
from dray.scheduler.core.attempting import assume, make_attempt
from dray.scheduler.core.decide import Chosen, Decision, decide_pod
from dray.scheduler.core.entry import Entry, Place
from dray.scheduler.core.grouptrials import GroupTrial, GroupTrials
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.sites import required_sites
from dray.scheduler.core.state import SchedulerState

__all__ = ["GroupFare", "try_group"]


class GroupFare(NamedTuple):
    """What was decided of each pod, in turn and up to the first that spoils it for all.

    `obstacle` says why the group is not placed; it is empty if it would be. Those with a node count as placed.
    """

    decisions: Mapping[str, Decision]
    obstacle: str = ""


def try_group(state: SchedulerState, pod: Pod, now: Moment) -> GroupFare | None:
    """Place the group of a pod where it fits, or where most of it does.

    None for pods without a group, and where the group waits for something else: for pods, or for claims of one.
    """
    key = find_group_key(pod)
    group = state.groups.get(key) if key is not None else None
    entry = state.queue.find(group_entry_key(key)) if key is not None else None
    if key is None or group is None or entry is None or entry.place is Place.GATED:
        return None
    gang = group.spec.scheduling_policy.gang
    placed = sum(1 for uid in state.members.get(key, {}) if state.snapshot.find_pod(uid) is not None)
    needed = 1 if gang is None else max(gang.min_count - placed, 1)
    sites = required_sites(state, group, list(entry.pods.values()))
    trials = GroupTrials(state, entry, needed, now).survey(sites)
    if not trials:
        return GroupFare({}, f"group {key[1]} {_want(needed)}{_tell_labels(group)}; there are no nodes to choose from")
    best = max(trials, key=lambda each: (each.fits, len(each.placed)))
    decisions = _repeat(state, entry, best, now)
    if best.fits or best.error:
        return GroupFare(decisions)
    room = f"there is room for {len(best.placed)}{_tell_site(state, group, best)}"
    text = f"group {key[1]} {_want(needed)}{_tell_labels(group)}; {room}; pod {_name_last(entry, decisions)} has none"
    return GroupFare(decisions, text)


def _repeat(state: SchedulerState, entry: Entry, trial: GroupTrial, now: Moment) -> dict[str, Decision]:
    """Decide again as in a trial, and let it count."""
    decisions: dict[str, Decision] = {}
    for uid in trial.order:
        pod = entry.pods[uid]
        attempt = replace(make_attempt(state, pod, now), siblings=frozenset(entry.pods), nodes=trial.nodes)
        decisions[uid] = decision = decide_pod(pod, attempt)
        if isinstance(decision, Chosen):
            assume(state, entry, pod, decision, now)
        elif not trial.fits:
            break
    return decisions


def _want(needed: int) -> str:
    return f"wants {needed} pod{'s' * (needed != 1)} placed at once"


def _list_labels(group: PodGroup) -> list[str]:
    constraints = group.spec.scheduling_constraints
    return [] if constraints is None else [each.key for each in constraints.topology]


def _tell_labels(group: PodGroup) -> str:
    labels = _list_labels(group)
    return f", on nodes with one value of {' and one of '.join(labels)}" if labels else ""


def _tell_site(state: SchedulerState, group: PodGroup, trial: GroupTrial) -> str:
    """The values of its labels, where a group has to stay with one of each."""
    if trial.nodes is None or not trial.nodes:
        return ""
    number = (trial.nodes & -trial.nodes).bit_length() - 1
    labels = state.snapshot.node(number).node.metadata.labels
    return f", where it is {' and '.join(labels.get(each, '') for each in _list_labels(group))}"


def _name_last(entry: Entry, decisions: Mapping[str, Decision]) -> str:
    return entry.pods[list(decisions)[-1]].metadata.name
