"""What is said of groups: whether enough of their pods ever found nodes, and why not."""

from __future__ import annotations

from typing import Final

from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.admitting import find_group_key
from dray.scheduler.core.entry import Entry
from dray.scheduler.core.orders import GroupReport, Order
from dray.scheduler.core.state import GroupKey, SchedulerState

__all__ = ["INITIALLY_SCHEDULED", "check_group_placed", "report_group"]

INITIALLY_SCHEDULED: Final = "PodGroupInitiallyScheduled"


def report_group(state: SchedulerState, entry: Entry, reason: str, message: str) -> list[Order]:
    """Say why the group of an entry is on no nodes, unless it was once, or says so already."""
    key = find_group_key(entry.pod)
    return [] if key is None else _report(state, key, "False", reason, message)


def check_group_placed(state: SchedulerState, key: GroupKey) -> list[Order]:
    """Say that a group found its nodes, once enough of its pods are on them. Repeating is a no-op."""
    group = state.groups.get(key)
    if group is None or _was_scheduled(state, key, group):
        return []
    gang = group.spec.scheduling_policy.gang
    needed = 1 if gang is None else gang.min_count
    placed = sum(1 for pod in state.members.get(key, {}).values() if pod.spec.node_name)
    return _report(state, key, "True", "Scheduled", "") if placed >= needed else []


def _was_scheduled(state: SchedulerState, key: GroupKey, group: PodGroup) -> bool:
    told = state.told.get(key)
    if told is not None and told.group.metadata.uid == group.metadata.uid and told.status == "True":
        return True
    return any(each.type == INITIALLY_SCHEDULED and each.status == "True" for each in group.status.conditions)


def _report(state: SchedulerState, key: GroupKey, status: str, reason: str, message: str) -> list[Order]:
    group = state.groups.get(key)
    if group is None or _was_scheduled(state, key, group):
        return []
    told = state.told.get(key)
    if told is not None and told[1:] == (status, reason, message) and told.group.metadata.uid == group.metadata.uid:
        return []
    report = state.told[key] = GroupReport(group, status, reason, message)
    return [report]
