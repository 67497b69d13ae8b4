"""Which pods may be tried at all, and where in the queue they belong: Kubernetes' PreEnqueue.

A pod that is kept away gets neither event nor condition: what it waits for is somebody else's to bring.
"""

from __future__ import annotations

from dray.api.core.pod import Pod
from dray.api.resource.podclaims import is_terminal, list_claim_names
from dray.scheduler.core.nodeinfo import priority_of
from dray.scheduler.core.podclaims import Unresolved, group_name_of, resolve_claims
from dray.scheduler.core.queue import Entry, Place
from dray.scheduler.core.state import GroupKey, SchedulerState

__all__ = ["admit_group", "admit_pod", "drop_pod", "find_group_key", "group_entry_key", "is_ours", "readmit"]


def is_ours(state: SchedulerState, pod: Pod) -> bool:
    """Whether it is for us to find a node for the pod."""
    return not pod.spec.node_name and pod.spec.scheduler_name in state.profiles and not is_terminal(pod)


def find_group_key(pod: Pod) -> GroupKey | None:
    """The group the pod belongs to."""
    group = group_name_of(pod)
    return (pod.metadata.namespace, group) if group else None


def admit_pod(state: SchedulerState, pod: Pod, now: float) -> None:
    """Take in a pod that waits for a node, or a newer state of it."""
    group = find_group_key(pod)
    if group is not None:
        admit_group(state, group, now)
        return
    uid = pod.metadata.uid
    entry = state.queue.find(uid)
    if entry is None:
        entry = Entry(uid, {uid: pod}, priority_of(pod), now)
        _index(state, entry)
        _place(state, entry, now)
        return
    before = entry.pods[uid]
    entry.pods[uid] = pod
    if not _differs(before, pod):
        return
    _index(state, entry)
    if entry.place is Place.GATED:
        _place(state, entry, now)
    else:
        state.queue.part(entry, now, "TargetPodUpdate")


def readmit(state: SchedulerState, key: str, now: float) -> None:
    """Look again whether an entry that is kept away may be tried."""
    entry = state.queue.find(key)
    if entry is None or entry.place is not Place.GATED:
        return
    if entry.is_group:
        _place_group(state, entry, now)
    else:
        _place(state, entry, now)


def drop_pod(state: SchedulerState, pod: Pod, now: float) -> None:
    """Forget a pod that does not wait for a node any more. Unknown pods are a no-op."""
    group = find_group_key(pod)
    if group is None:
        entry = state.queue.remove(pod.metadata.uid, now)
        if entry is not None:
            _unindex(state, entry)
        return
    entry = state.queue.find(group_entry_key(group))
    if entry is not None and entry.pods.pop(pod.metadata.uid, None) is not None and not entry.pods:
        state.queue.remove(entry.key, now)
        _unindex(state, entry)


def _place(state: SchedulerState, entry: Entry, now: float) -> None:
    if is_kept_away(state, entry.pod):
        if entry.place is not Place.GATED:
            state.queue.gate(entry, now)
    else:
        state.queue.add(entry, now)


def is_kept_away(state: SchedulerState, pod: Pod) -> bool:
    """Whether there is no use in trying the pod: it has scheduling gates, or its claims cannot be told yet."""
    if pod.spec.scheduling_gates:
        return True
    return bool(pod.spec.resource_claims) and isinstance(resolve_claims(pod, state.claims), Unresolved)


def _differs(before: Pod, after: Pod) -> bool:
    """Whether anything changed that the pod is judged by. Conditions and nominations are our own writing."""
    return (
        before.spec != after.spec
        or before.metadata.labels != after.metadata.labels
        or before.metadata.annotations != after.metadata.annotations
        or before.status.resource_claim_statuses != after.status.resource_claim_statuses
    )


# Groups


def group_entry_key(group: GroupKey) -> str:
    """The key of the entry that stands for a group."""
    return f"group:{group[0]}/{group[1]}"


def admit_group(state: SchedulerState, group: GroupKey, now: float) -> None:
    """Take in all pods of a group that wait for a node, as one entry."""
    waiting = {
        uid: pod
        for uid, pod in state.members.get(group, {}).items()
        if is_ours(state, pod) and uid not in state.assumed and pod.metadata.deletion_timestamp is None
    }
    key = group_entry_key(group)
    entry = state.queue.find(key)
    if not waiting:
        if entry is not None:
            state.queue.remove(key, now)
            _unindex(state, entry)
        return
    waiting = dict(sorted(waiting.items(), key=lambda item: _order(item[1])))
    if entry is None:
        entry = Entry(key, waiting, _priority(state, group, waiting), now)
        _index(state, entry)
        _place_group(state, entry, now)
        return
    before = entry.pods
    entry.pods = waiting
    is_new = waiting.keys() != before.keys() or any(_differs(before[uid], pod) for uid, pod in waiting.items())
    _index(state, entry)
    if entry.place is Place.GATED:
        _place_group(state, entry, now)
    elif is_new:
        state.queue.wake_alone(entry, now, "UnscheduledPodAdd")


def _order(pod: Pod) -> tuple[int, str]:
    created = pod.metadata.creation_timestamp
    return (0 if created is None else created.unix_seconds, pod.metadata.name)


def _priority(state: SchedulerState, group: GroupKey, pods: dict[str, Pod]) -> int:
    known = state.groups.get(group)
    if known is not None and known.spec.priority is not None:
        return known.spec.priority
    return max(priority_of(pod) for pod in pods.values())


def _place_group(state: SchedulerState, entry: Entry, now: float) -> None:
    """A group waits for its object, for enough pods, and for each of them."""
    group = find_group_key(entry.pod)
    known = state.groups.get(group) if group is not None else None
    is_complete = known is not None and _has_enough(state, entry, group)
    if is_complete and not any(is_kept_away(state, pod) for pod in entry.pods.values()):
        state.queue.add(entry, now)
    elif entry.place is not Place.GATED:
        state.queue.gate(entry, now)


def _has_enough(state: SchedulerState, entry: Entry, group: GroupKey | None) -> bool:
    if group is None:
        return True
    gang = state.groups[group].spec.scheduling_policy.gang
    placed = sum(1 for uid in state.members[group] if uid in state.assumed or state.snapshot.find_pod(uid) is not None)
    return gang is None or placed + len(entry.pods) >= gang.min_count


# Who uses which claim


def _index(state: SchedulerState, entry: Entry) -> None:
    for pod in entry.pods.values():
        for name in list_claim_names(pod):
            state.users.setdefault((pod.metadata.namespace, name), set()).add(entry.key)


def _unindex(state: SchedulerState, entry: Entry) -> None:
    for pod in entry.pods.values():
        for name in list_claim_names(pod):
            users = state.users.get((pod.metadata.namespace, name))
            if users is not None:
                users.discard(entry.key)
                if not users:
                    del state.users[pod.metadata.namespace, name]
