"""Who is to be tried again after something happened: pods that it may help, and nobody else.

Kubernetes asks each plugin that refused a pod about each event. Here what happened since the last look is gathered, and
asked is what matters: would the pod fit on a node where something got better? So a device that is freed wakes one pod
for which it would do, and none if it does for nobody. A pod that may evict others fits where only those are in its way.
"""

from __future__ import annotations

from typing import Final

from dray.allocator.arena import Arena
from dray.allocator.bits import bits
from dray.allocator.cluster import Cluster
from dray.allocator.occupancy import Occupancy
from dray.allocator.plans import Plan
from dray.allocator.solve import Unsolved, solve
from dray.allocator.view import NodeView
from dray.api.core.pod import Pod
from dray.scheduler.core.devices import PLUGIN, DeviceFailure, DeviceWish, examine_devices, plan_wish
from dray.scheduler.core.moment import Moment
from dray.scheduler.core.nodeinfo import priority_of
from dray.scheduler.core.preempting import release_devices
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
    sights = _Sights(state)
    for entry in state.queue.resting():
        cause = _find_cause(state, entry, stir, now, sights)
        if cause:
            state.queue.wake(entry, now.seconds, cause, stir)


def pass_on_hope(state: SchedulerState, placed: Entry, now: Moment) -> None:
    """An entry was placed: if it was tried for others too, see whether what helped it helps the next of them."""
    left = state.queue.settle(placed)
    if left is None:
        return
    entry, hope = left
    cause = _find_cause(state, entry, hope, now, _Sights(state))
    if cause:
        state.queue.wake(entry, now.seconds, cause, hope)


class _Sights:
    """Nodes as they are now, each looked at once, however many entries ask. To be used up before anything changes.

    With a priority they are seen as they would be without the pods that have less.
    """

    def __init__(self, state: SchedulerState) -> None:
        self._state = state
        self._cluster = state.cluster
        self._seen: dict[tuple[int, int | None], tuple[NodeView, Occupancy] | None] = {}
        self._lesser: dict[tuple[int, int], list[Pod]] = {}

    def get(self, number: int, priority: int | None) -> tuple[NodeView, Occupancy] | None:
        """What the node of a number sees, and what is taken of it. None if it is gone."""
        if priority is not None and not self._list_lesser(number, priority):
            priority = None
        key = (number, priority)
        if key not in self._seen:
            view = self._cluster.view(self._cluster.names[number])
            self._seen[key] = None if view is None else (view, self._observe(view, number, priority))
        return self._seen[key]

    def _observe(self, view: NodeView, number: int, priority: int | None) -> Occupancy:
        if priority is None:
            return self._cluster.occupancy(view)
        mark = self._cluster.ledger.mark()
        try:
            release_devices(self._state, self._list_lesser(number, priority))
            return self._cluster.occupancy(view)
        finally:
            self._cluster.undo(mark)

    def _list_lesser(self, number: int, priority: int) -> list[Pod]:
        key = (number, priority)
        if key not in self._lesser:
            snapshot = self._state.snapshot
            placed = snapshot.node(number).pods.values() if snapshot.present >> number & 1 else ()
            self._lesser[key] = [each.pod for each in placed if each.priority < priority]
        return self._lesser[key]

    def with_lesser(self, nodes: int, priority: int | None) -> int:
        """The nodes that have pods of less priority."""
        if priority is None:
            return 0
        return sum(1 << number for number in bits(nodes) if self._list_lesser(number, priority))

    def with_devices(self, plan: Plan, nodes: int, priority: int | None) -> int:
        """The nodes on which claims fit, or may fit."""
        found = 0
        for number in bits(nodes):
            seen = self.get(number, priority)
            if seen is None:
                continue
            view, occupancy = seen
            arena = self._cluster.plans.arena(plan, view)
            if not _may_suffice(arena, ~occupancy.taken):
                continue
            solved = solve(arena, occupancy)
            if not isinstance(solved, Unsolved) or solved.complaint is not None:
                found |= 1 << number
        return found


def _find_reach(state: SchedulerState, pod: Pod) -> int | None:
    """The priority below which pods may be evicted for the sake of this one; None if it evicts nobody."""
    if pod.spec.preemption_policy == "Never" or not state.profiles[pod.spec.scheduler_name].has("DefaultPreemption"):
        return None
    return priority_of(pod)


def _find_cause(state: SchedulerState, entry: Entry, stir: Stir, now: Moment, sights: _Sights) -> str:
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
        reach = _find_reach(state, entry.pod)
        nodes = sights.with_devices(_plan_of(state.cluster, entry), nodes, reach)
    if not nodes:
        return ""
    if entry.is_group or not entry.plugins or nodes.bit_count() > _NODES_ASKED:
        return "NodeUpdate"
    obstacles = _find_obstacles(state, entry.pod, nodes, now, sights)
    if not obstacles:
        return "NodeUpdate"
    # Something else may stand in the way by now than what refused it: that, too, is worth hearing of from here on.
    state.queue.note_obstacles(entry, obstacles)
    return ""


def _plan_of(cluster: Cluster, entry: Entry) -> Plan:
    """What the allocator worked out about the claims of an entry that found no devices."""
    if entry.plan is None or not cluster.plans.is_current(entry.plan):
        entry.plan = cluster.plans.plan(entry.open)
    return entry.plan


def _find_obstacles(state: SchedulerState, pod: Pod, nodes: int, now: Moment, sights: _Sights) -> frozenset[str]:
    """The plugins that keep the pod from each of the nodes, room kept for others apart; none if it fits on one."""
    profile = state.profiles[pod.spec.scheduler_name]
    wish = plan_wish(pod, state.world, frozenset())
    if not isinstance(wish, DeviceWish):
        return _DEVICES_ALONE  # what it waits for is a claim or a class, and comes with news of its own
    equipped, reach = nodes, _find_reach(state, pod)
    if not wish.is_empty:
        if wish.open and not (wish.settled or wish.served or wish.leftover):
            equipped = sights.with_devices(state.cluster.plans.plan(wish.open), nodes, reach)
        else:
            verdict = examine_devices(wish, state.world, nodes, now.date, profile.binding_timeout_seconds)
            equipped = nodes if isinstance(verdict, DeviceFailure) else verdict.fitting
            equipped |= sights.with_lesser(nodes, reach)
    if not equipped:
        return _DEVICES_ALONE
    examined = state.placements[pod.spec.scheduler_name].examine(pod, frozenset(wish.served))
    if equipped & (examined.fitting | sights.with_lesser(examined.preemptible & equipped, reach)):
        return frozenset()
    found = {each.plugin for each in examined.refusals if each.nodes & equipped}
    if examined.rejected is not None:
        found.add(examined.rejected.plugin)
    return frozenset(found) if equipped == nodes else frozenset(found) | _DEVICES_ALONE


def _may_suffice(arena: Arena, free: int) -> bool:
    """Whether each request alone has enough devices, in some alternative."""
    for each in arena.requests:
        for option in each.options:
            if option.is_admin or (option.candidates & free).bit_count() >= option.need:
                break
        else:
            return False
    return True
