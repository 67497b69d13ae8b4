"""Changes of objects, taken into what the scheduler believes, and noted where they may help pods that rest."""

from __future__ import annotations

from typing import Final

from dray.allocator.ids import PoolId
from dray.allocator.taintrules import apply_taint_rules
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.service import Service
from dray.api.policy.budget import PodDisruptionBudget
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION, find_controller, is_terminal
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.api.scheduling.podgroup import PodGroup
from dray.scheduler.core.admitting import (
    admit_group,
    admit_pod,
    drop_pod,
    find_group_key,
    group_entry_key,
    is_ours,
    readmit,
)
from dray.scheduler.core.entry import Entry
from dray.scheduler.core.news import Changed
from dray.scheduler.core.nodeinfo import priority_of
from dray.scheduler.core.nodetrials import holds_devices
from dray.scheduler.core.state import GroupKey, SchedulerState

__all__ = [
    "fold_budget",
    "fold_claim",
    "fold_class",
    "fold_group",
    "fold_namespace",
    "fold_node",
    "fold_pod",
    "fold_rule",
    "fold_service",
    "fold_slice",
    "note_claim",
    "stir_freed",
    "stir_held",
]

NEIGHBOURS: Final = ("PodTopologySpread", "InterPodAffinity")
"""Plugins that judge a node by pods on other nodes."""

_CLAIM_CAUSE: Final = "resource.k8s.io/ResourceClaimUpdate"


# Pods


def fold_pod(state: SchedulerState, change: Changed[Pod], now: float) -> None:
    """A pod came, changed or went."""
    pod = change.latest
    _note_member(state, change)
    if change.new is None:
        _forget_pod(state, pod, now)
    elif pod.spec.node_name:
        _place_pod(state, pod, now)
    elif not is_ours(state, pod):
        drop_pod(state, pod, now)
    elif (assumed := state.assumed.get(pod.metadata.uid)) is not None:
        assumed.pod = pod
        if pod.metadata.uid in assumed.entry.pods:
            assumed.entry.pods[pod.metadata.uid] = pod
    else:
        admit_pod(state, pod, now)


def _note_member(state: SchedulerState, change: Changed[Pod]) -> None:
    group = find_group_key(change.latest)
    if group is None:
        return
    members = state.members.setdefault(group, {})
    if change.new is None:
        members.pop(change.latest.metadata.uid, None)
        if not members:
            del state.members[group]
    else:
        members[change.new.metadata.uid] = change.new


def _forget_pod(state: SchedulerState, pod: Pod, now: float) -> None:
    uid = pod.metadata.uid
    drop_pod(state, pod, now)
    state.reports.pop(uid, None)
    state.evicting.pop(uid, None)
    state.snapshot.withdraw(uid)
    assumed = state.assumed.get(uid)
    if assumed is not None:
        assumed.is_gone = True
        if assumed.is_bound:
            del state.assumed[uid]
    remove_placed(state, uid)
    group = find_group_key(pod)
    if group is not None:
        admit_group(state, group, now)


def remove_placed(state: SchedulerState, uid: str) -> None:
    """Take a pod off its node, which helps others."""
    placed = state.snapshot.find_pod(uid)
    if placed is None:
        return
    state.snapshot.remove_pod(uid)
    number = state.snapshot.find_number(placed.spec.node_name)
    if number is not None:
        state.stir.nodes |= 1 << number
    state.stir.anywhere.update(NEIGHBOURS)
    state.version += 1


def _place_pod(state: SchedulerState, pod: Pod, now: float) -> None:
    """A pod is on a node, wherever it was put by whom."""
    uid = pod.metadata.uid
    drop_pod(state, pod, now)
    state.snapshot.withdraw(uid)
    assumed = state.assumed.get(uid)
    if assumed is not None:
        assumed.is_seen = True
        if assumed.is_bound:
            del state.assumed[uid]
    if is_terminal(pod):
        remove_placed(state, uid)
        return
    before = state.snapshot.find_pod(uid)
    if before is not None and _weighs_the_same(before, pod):
        return
    state.snapshot.put_pod(pod)
    state.stir.anywhere.update(NEIGHBOURS)
    if before is not None:
        number = state.snapshot.find_number(pod.spec.node_name)
        state.stir.nodes |= 0 if number is None else 1 << number
    if holds_devices(pod):
        state.least_priority = min(state.least_priority, priority_of(pod))
        if before is None:
            stir_held(state, pod)
    state.version += 1
    group = find_group_key(pod)
    if group is not None and before is None:
        _note_placed_member(state, group, now)


def _note_placed_member(state: SchedulerState, group: GroupKey, now: float) -> None:
    """Somebody else placed a member, or we before we started: the others need one less."""
    admit_group(state, group, now)
    entry = state.queue.find(group_entry_key(group))
    if entry is not None:
        state.queue.wake(entry, now, "AssignedPodAdd")


def stir_held(state: SchedulerState, pod: Pod) -> None:
    """Devices that a claim held for nobody are used by a pod on a node: whoever may evict it can have them."""
    number = state.snapshot.find_number(pod.spec.node_name)
    state.stir.devices |= 0 if number is None else 1 << number


def _weighs_the_same(before: Pod, after: Pod) -> bool:
    """Whether a pod on a node counts for others as it did."""
    return (
        before.spec == after.spec
        and before.metadata.labels == after.metadata.labels
        and before.metadata.deletion_timestamp == after.metadata.deletion_timestamp
        and before.status.container_statuses == after.status.container_statuses
        and before.status.init_container_statuses == after.status.init_container_statuses
        and before.status.node_allocatable_resource_claim_statuses
        == after.status.node_allocatable_resource_claim_statuses
        and before.status.resource_claim_statuses == after.status.resource_claim_statuses
        and before.status.extended_resource_claim_status == after.status.extended_resource_claim_status
    )


def fold_group(state: SchedulerState, change: Changed[PodGroup], now: float) -> None:
    """A group of pods came, changed or went."""
    meta = change.latest.metadata
    key = (meta.namespace, meta.name)
    if change.new is None:
        state.groups.pop(key, None)
        state.told.pop(key, None)
    else:
        state.groups[key] = change.new
    state.version += 1
    admit_group(state, key, now)


# Nodes


def fold_node(state: SchedulerState, change: Changed[Node]) -> None:
    """A node came, changed or went. Its heartbeats are of no interest."""
    if change.new is None:
        state.snapshot.remove_node(change.latest.metadata.name)
        state.cluster.remove_node(change.latest.metadata.name)
        state.stir.anywhere.add("PodTopologySpread")
        state.version += 1
        return
    if change.old is not None and _traits(change.old) == _traits(change.new):
        return
    state.snapshot.put_node(change.new)
    if change.old is None or _device_traits(change.old) != _device_traits(change.new):
        state.cluster.put_node(change.new)
    number = state.snapshot.find_number(change.new.metadata.name)
    if number is not None:
        state.stir.nodes |= 1 << number
        state.stir.devices |= 1 << number
    if change.old is None or change.old.metadata.labels != change.new.metadata.labels:
        state.stir.anywhere.update(NEIGHBOURS)
    state.version += 1


def _traits(node: Node) -> tuple[object, ...]:
    """What pods are judged by."""
    status = node.status
    conditions = [(each.type, each.status) for each in status.conditions]
    return (*_device_traits(node), node.metadata.annotations, node.spec, status.allocatable, status.images, conditions)


def _device_traits(node: Node) -> tuple[object, ...]:
    return node.metadata.labels, node.status.declared_features


# Devices


def fold_slice(state: SchedulerState, change: Changed[ResourceSlice]) -> None:
    """A slice came, changed or went."""
    name = change.latest.metadata.name
    if change.old is not None:
        state.reach.remove(change.old)
    if change.new is None:
        state.slices.pop(name, None)
        state.applied.pop(name, None)
        state.cluster.remove_slice(name)
        state.world.charging_slices.discard(name)
        # Upstream waits for its sweep here; a pool whose slice went may have become complete.
        _stir_pool(state, change.latest)
    else:
        state.slices[name] = change.new
        state.reach.add(change.new)
        _apply(state, change.new)
    state.version += 1


def fold_rule(state: SchedulerState, change: Changed[DeviceTaintRule]) -> None:
    """A taint rule came, changed or went: lay the rules over the slices anew."""
    if change.old is not None and change.new is not None and change.old.spec == change.new.spec:
        return
    name = change.latest.metadata.name
    if change.new is None:
        state.rules.pop(name, None)
    else:
        state.rules[name] = change.new
    for each in state.slices.values():
        _apply(state, each)
    state.version += 1


def _apply(state: SchedulerState, source: ResourceSlice) -> None:
    """Let the allocator see a slice with the taints of rules, if that is news."""
    name = source.metadata.name
    tainted = apply_taint_rules(source, state.rules.values()) if state.rules else source
    before = state.applied.get(name)
    if before is not None and before.spec == tainted.spec:
        return
    state.applied[name] = tainted
    state.cluster.put_slice(tainted)
    if any(device.node_allocatable_resources for device in tainted.spec.devices or ()):
        state.world.charging_slices.add(name)
    else:
        state.world.charging_slices.discard(name)
    _stir_pool(state, source)


def _stir_pool(state: SchedulerState, source: ResourceSlice) -> None:
    state.stir.devices |= state.reach.nodes(PoolId(source.spec.driver, source.spec.pool.name), state.snapshot)
    if source.spec.node_name:
        number = state.snapshot.find_number(source.spec.node_name)
        state.stir.devices |= 0 if number is None else 1 << number


def fold_class(state: SchedulerState, change: Changed[DeviceClass]) -> None:
    """A device class came, changed or went."""
    if change.new is None:
        state.cluster.remove_class(change.latest.metadata.name)
        state.world.class_names.remove(change.latest.metadata.name)
    elif change.old is None or change.old.spec != change.new.spec:
        state.cluster.put_class(change.new)
        state.world.class_names.put(change.new)
        state.stir.anywhere.update(("DynamicResources", "NodeResourcesFit"))
    state.version += 1


def fold_claim(state: SchedulerState, change: Changed[ResourceClaim], now: float) -> None:
    """A claim came, changed or went."""
    if change.new is None:
        state.claims.remove(change.latest)
    elif not state.claims.put(change.new):
        return
    elif _has_other_users(change):
        for each in change.new.status.reserved_for:
            user = state.snapshot.find_pod(each.uid)
            if user is not None:
                stir_held(state, user)
    note_claim(state, change.latest, now, is_news=_tells_pods(change))


def _has_other_users(change: Changed[ResourceClaim]) -> bool:
    """Whether a claim has the devices that it had, and others use it."""
    old, new = change.old, change.new
    if old is None or new is None or old.status.allocation is None or new.status.allocation is None:
        return False
    return old.status.reserved_for != new.status.reserved_for


def _tells_pods(change: Changed[ResourceClaim]) -> bool:
    """Whether a change of a claim may matter to the pods that use it."""
    old, new = change.old, change.new
    if old is None or new is None:
        return True
    return old.status != new.status or old.metadata.deletion_timestamp != new.metadata.deletion_timestamp


def note_claim(state: SchedulerState, claim: ResourceClaim, now: float, *, is_news: bool = True) -> None:
    """Something became of a claim: look after the pods that use it, and those that want what it held."""
    stir_freed(state)
    state.version += 1
    if not is_news:
        return
    for key in sorted(state.users.get((claim.metadata.namespace, claim.metadata.name), ())):
        readmit(state, key, now)
        entry = state.queue.find(key)
        if entry is not None:
            state.queue.wake(entry, now, _CLAIM_CAUSE)
    entry = _find_extended_user(state, claim)
    if entry is not None:
        state.queue.wake_alone(entry, now, _CLAIM_CAUSE)


def _find_extended_user(state: SchedulerState, claim: ResourceClaim) -> Entry | None:
    """The entry of the pod for whose extended resources a claim was made, and which does not name it yet."""
    if claim.metadata.annotations.get(EXTENDED_RESOURCE_ANNOTATION) != "true":
        return None
    owner = find_controller(claim.metadata)
    if owner is None:
        return None
    alone = state.queue.find(owner.uid)
    if alone is not None:
        return alone
    groups = (group for group, members in state.members.items() if owner.uid in members)
    return next((state.queue.find(group_entry_key(group)) for group in groups), None)


def stir_freed(state: SchedulerState) -> None:
    """Note the nodes on which devices were freed."""
    for pool in sorted(state.claims.freed):
        state.stir.devices |= state.reach.nodes(pool, state.snapshot)
    state.claims.freed.clear()


# What pods are judged by besides


def fold_namespace(state: SchedulerState, change: Changed[Namespace]) -> None:
    """A namespace came, changed or went."""
    if change.new is None:
        state.snapshot.remove_namespace(change.latest.metadata.name)
        return
    if change.old is None or change.old.metadata.labels != change.new.metadata.labels:
        state.snapshot.put_namespace(change.new)
        state.stir.anywhere.add("InterPodAffinity")
        state.version += 1


def fold_service(state: SchedulerState, change: Changed[Service]) -> None:
    """A service came, changed or went."""
    if change.new is None:
        state.snapshot.remove_service(change.latest.metadata.namespace, change.latest.metadata.name)
    else:
        state.snapshot.put_service(change.new)
    state.version += 1


def fold_budget(state: SchedulerState, change: Changed[PodDisruptionBudget]) -> None:
    """A disruption budget came, changed or went."""
    if change.new is None:
        state.snapshot.remove_disruption_budget(change.latest.metadata.namespace, change.latest.metadata.name)
    else:
        state.snapshot.put_disruption_budget(change.new)
