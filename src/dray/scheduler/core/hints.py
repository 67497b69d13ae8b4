"""Who is to be tried again after something happened: pods that it may help, and nobody else.

Kubernetes asks each plugin that refused a pod about each event. Here what happened since the last look is gathered, and
asked is what matters: would the pod fit on a node where something got better? So a device that is freed wakes one pod
for which it would do, and none if it does for nobody.
"""

from __future__ import annotations

from typing import Final

from dray.allocator.arena import Arena
from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.solve import Unsolved, solve
from dray.api.core.pod import Pod
from dray.api.resource.claim import ResourceClaim
from dray.scheduler.core.devices import PLUGIN, DeviceFailure, DeviceWish, examine_devices, plan_wish
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.queue import Entry
from dray.scheduler.core.state import SchedulerState
from dray.scheduler.core.stir import Stir

__all__ = ["pass_on_hope", "rouse"]

_DEVICES_ALONE: Final = frozenset({PLUGIN})
_NODES_ASKED: Final = 32
"""Nodes that are asked about one by one. Where more got better, trying the pod costs no more than asking."""


def rouse(state: SchedulerState, now: Moment) -> None:
    """Wake what may be helped by what happened since the last time."""
    stir, state.stir = state.stir, Stir()
    if stir.is_empty:
        return
    state.queue.tell_carriers(stir)
    for entry in state.queue.resting():
        cause = _find_cause(state, entry, stir, now)
        if cause:
            state.queue.wake(entry, now.seconds, cause, stir)


def pass_on_hope(state: SchedulerState, placed: Entry, now: Moment) -> None:
    """An entry was placed: if it was tried for others too, see whether what helped it helps the next of them."""
    left = state.queue.settle(placed)
    if left is None:
        return
    entry, hope = left
    cause = _find_cause(state, entry, hope, now)
    if cause:
        state.queue.wake(entry, now.seconds, cause, hope)


def _find_cause(state: SchedulerState, entry: Entry, stir: Stir, now: Moment) -> str:
    """What may help an entry; empty if nothing does."""
    if stir.is_certain:
        return "ForceActivate"
    for plugin in sorted(stir.anywhere):
        if plugin in entry.plugins:
            return f"{plugin} may change"
    nodes = 0
    if PLUGIN in entry.plugins or not entry.plugins:
        nodes |= stir.devices
    if entry.plugins != _DEVICES_ALONE:
        nodes |= stir.nodes
    if entry.open and entry.plugins == _DEVICES_ALONE and nodes.bit_count() <= _NODES_ASKED:
        nodes = _nodes_with_devices(state.cluster, entry.open, nodes)
    if not nodes:
        return ""
    if entry.is_group or not entry.plugins or nodes.bit_count() > _NODES_ASKED:
        return "NodeUpdate"
    obstacles = _find_obstacles(state, entry.pod, nodes, now)
    if not obstacles:
        return "NodeUpdate"
    # Something else may stand in the way by now than what refused it: that, too, is worth hearing of from here on.
    state.queue.note_obstacles(entry, obstacles)
    return ""


def _find_obstacles(state: SchedulerState, pod: Pod, nodes: int, now: Moment) -> frozenset[str]:
    """The plugins that keep the pod from each of the nodes, room kept for others apart; none if it fits on one."""
    profile = state.profiles[pod.spec.scheduler_name]
    wish = plan_wish(pod, state.world, frozenset())
    if not isinstance(wish, DeviceWish):
        return _DEVICES_ALONE  # what it waits for is a claim or a class, and comes with news of its own
    equipped = nodes
    if not wish.is_empty:
        if wish.open and not (wish.settled or wish.served or wish.leftover):
            equipped = _nodes_with_devices(state.cluster, wish.open, nodes)
        else:
            verdict = examine_devices(wish, state.world, nodes, now.date, profile.binding_timeout_seconds)
            equipped = nodes if isinstance(verdict, DeviceFailure) else verdict.fitting
    if not equipped:
        return _DEVICES_ALONE
    examined = state.placements[pod.spec.scheduler_name].examine(pod, frozenset(wish.served))
    if examined.fitting & equipped:
        return frozenset()
    found = {each.plugin for each in examined.refusals if each.nodes & equipped}
    if examined.rejected is not None:
        found.add(examined.rejected.plugin)
    return frozenset(found) if equipped == nodes else frozenset(found) | _DEVICES_ALONE


def _nodes_with_devices(cluster: Cluster, claims: tuple[ResourceClaim, ...], nodes: int) -> int:
    """The nodes on which the claims fit, or may fit."""
    plan = cluster.plans.plan(claims)
    found = 0
    for number in bits(nodes):
        view = cluster.view(cluster.names[number])
        if view is None:
            continue
        arena = cluster.plans.arena(plan, view)
        occupancy = cluster.occupancy(view)
        if not _may_suffice(arena, ~occupancy.taken):
            continue
        solved = solve(arena, occupancy)
        if not isinstance(solved, Unsolved) or solved.complaint is not None:
            found |= 1 << number
    return found


def _may_suffice(arena: Arena, free: int) -> bool:
    """Whether each request alone has enough devices, in some alternative."""
    for each in arena.requests:
        for option in each.options:
            if option.is_admin or (option.candidates & free).bit_count() >= option.need:
                break
        else:
            return False
    return True
