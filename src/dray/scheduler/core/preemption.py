"""Which pods of less priority to evict, and from which node, so that a pod fits.

On each candidate node as few and as unimportant pods as possible have to go. Of the nodes that is best which breaks the
fewest budgets, then whose most important victim matters least, then whose victims matter least together, then that with
the fewest victims, then that whose most important victims started last, then the first.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import msgspec

from dray.allocator.bits import bits
from dray.api.core.pod import Pod
from dray.scheduler.core.filters.resources import NodeResourcesFitFilter
from dray.scheduler.core.nodeinfo import NodeInfo, PlacedPod, priority_of
from dray.scheduler.core.nodetrials import DevicesFit, DeviceTrial, FilterTrial, RoomTrial
from dray.scheduler.core.placement import Examined, Placement
from dray.scheduler.core.victims import Plan, PlanRefused, plan_node, start_of

__all__ = ["DevicesFit", "Preemption", "PreemptionRefused", "plan_preemption"]

_NOT_HELPFUL = "Preemption is not helpful for scheduling"
_OFFSET = 2**31
"""Makes every priority count as a positive number, so that more victims never look like less."""


class Preemption(msgspec.Struct, frozen=True):
    """What would make room: the node, and its pods to evict, the most important first."""

    node: int
    node_name: str
    victims: tuple[Pod, ...]
    violations: int

    @property
    def message(self) -> str:
        """Kubernetes' words, ready to follow the reasons of the nodes."""
        count = len(self.victims)
        return f"preemption: found a potential placement for pod on node {self.node_name}, preempting {count} victims"


class PreemptionRefused(msgspec.Struct, frozen=True):
    """Why nothing is evicted, in Kubernetes' words, ready to follow the reasons of the nodes.

    `clears_nomination` tells that room the pod had been promised on a node is of no use to it any more.
    """

    message: str
    clears_nomination: bool


def plan_preemption(
    placement: Placement, examined: Examined, allowed: int, devices_fit: DevicesFit | None = None
) -> Preemption | PreemptionRefused:
    """Plan what to evict for a pod that fits nowhere; nothing is changed.

    `allowed` are the nodes where evicting pods could help: `examined.preemptible`, and those that the caller refused
    for want of devices that other pods hold. `examined` must be of the present snapshot. Without `devices_fit` the pod
    needs no devices. It is asked only where the rest fits.
    """
    reason = _ineligible(placement, examined.pod, allowed)
    if reason is not None:
        return PreemptionRefused(f"preemption: {reason}", clears_nomination=False)
    plans: list[Plan] = []
    histogram: Counter[str] = Counter()
    profile = placement.profile
    # As in Kubernetes: so many plans will do if one of them breaks no budget.
    enough = max(profile.preemption_candidates, allowed.bit_count() * profile.preemption_percentage // 100)
    tried = unbroken = 0
    planner = _Planner(placement, examined, devices_fit)
    for number in bits(allowed):
        plan = planner.plan(number)
        tried += 1
        if isinstance(plan, PlanRefused):
            histogram.update(plan.reasons)
            continue
        plans.append(plan)
        unbroken += plan.violations == 0
        if unbroken and len(plans) >= enough:
            break
    if not plans:
        histogram[_NOT_HELPFUL] += examined.nodes.bit_count() - tried
        return PreemptionRefused(_render(examined.nodes.bit_count(), histogram), clears_nomination=True)
    best = min(plans, key=_cost)
    victims = tuple(placed.pod for placed in best.victims)
    return Preemption(best.node, placement.snapshot.names[best.node], victims, best.violations)


def _ineligible(placement: Placement, pod: Pod, allowed: int) -> str | None:
    if pod.spec.preemption_policy == "Never":
        return "not eligible due to preemptionPolicy=Never."
    number = placement.snapshot.find_number(pod.status.nominated_node_name)
    if number is None or not allowed >> number & 1:
        return None
    leaving = (placed for placed in _lesser(placement.snapshot.node(number), pod) if _is_being_preempted(placed.pod))
    return "not eligible due to a terminating pod on the nominated node." if any(leaving) else None


def _is_being_preempted(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None and any(
        each.type == "DisruptionTarget" and each.status == "True" and each.reason == "PreemptionByScheduler"
        for each in pod.status.conditions
    )


class _Planner:
    """Plans node by node. Filters that read nothing of pods are asked once, for all nodes."""

    def __init__(self, placement: Placement, examined: Examined, devices_fit: DevicesFit | None) -> None:
        self._placement = placement
        self._snapshot = placement.snapshot
        self._applicant = examined.applicant
        self._devices_fit = devices_fit
        self._reading, others = placement.parted(self._applicant)
        self._unchanging = placement.examine_with(self._applicant, others)
        plugins = [each.plugin for each in self._reading]
        self._only_needs_room = plugins == [NodeResourcesFitFilter.plugin]

    def plan(self, number: int) -> Plan | PlanRefused:
        """What would have to go from one node."""
        node = self._snapshot.node(number)
        lesser = _lesser(node, self._applicant.pod)
        devices = DeviceTrial(number, self._devices_fit)
        budgets = self._snapshot.disruption_budgets
        is_crowded = bool(self._placement.beside(self._applicant.pod, node.name))
        if self._only_needs_room and not is_crowded:
            blocked = _reasons(self._unchanging, number)
            demand = self._placement.demand(self._applicant)
            return plan_node(number, lesser, RoomTrial(node, demand, blocked, devices), budgets)
        with self._snapshot.trial() as trial:
            ask = partial(self._ask, number, is_crowded)
            return plan_node(number, lesser, FilterTrial(trial, ask, devices), budgets)

    def _ask(self, number: int, is_crowded: bool) -> tuple[str, ...]:
        """Why one node does not fit as the snapshot is now. The filters that read pods come first, but for features."""
        reading = self._placement.examine_with(self._applicant, self._reading)
        reasons = _reasons(reading, number) or _reasons(self._unchanging, number)
        if reasons or not is_crowded:
            return reasons
        verdict = self._placement.judge_beside_nominated(self._applicant, number)
        return () if verdict is None else verdict.reasons


def _reasons(examined: Examined, number: int) -> tuple[str, ...]:
    verdict = examined.verdict(number)
    return () if verdict is None else verdict.reasons


def _lesser(node: NodeInfo, pod: Pod) -> list[PlacedPod]:
    priority = priority_of(pod)
    return [placed for placed in node.pods.values() if placed.priority < priority]


def _cost(plan: Plan) -> tuple[int, int, int, int, tuple[bool, int], int]:
    """Orders plans, the best first."""
    highest = plan.victims[0].priority
    total = sum(placed.priority + _OFFSET for placed in plan.victims)
    is_fresh, started = min(start_of(placed) for placed in plan.victims if placed.priority == highest)
    return (plan.violations, highest, total, len(plan.victims), (not is_fresh, -started), plan.node)


def _render(nodes: int, histogram: Counter[str]) -> str:
    parts = sorted(f"{count} {reason}" for reason, count in histogram.items() if count)
    return f"preemption: 0/{nodes} nodes are available: {', '.join(parts)}."
