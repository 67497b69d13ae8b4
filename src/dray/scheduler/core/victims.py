"""Which pods of one node have to go, so that a more important one fits there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, Protocol

from dray.api.core.pod import Pod
from dray.api.policy.budget import PodDisruptionBudget
from dray.scheduler.core.nodeinfo import PlacedPod
from dray.scheduler.core.peers import selector_from

__all__ = ["NodeTrial", "Plan", "PlanRefused", "budget_breakers", "plan_node", "start_of"]

Budgets = Callable[[str], Iterable[PodDisruptionBudget]]
"""The disruption budgets of a namespace."""

NO_VICTIMS = "No preemption victims found for incoming pod"


class NodeTrial(Protocol):
    """A node on which pods are taken away and put back to see whether the newcomer fits."""

    def remove(self, placed: PlacedPod) -> None:
        """Take a pod away."""
        ...

    def put_back(self, placed: PlacedPod) -> None:
        """Put a pod back that was taken away."""
        ...

    def reasons(self) -> tuple[str, ...]:
        """Why the newcomer does not fit now; empty if it does."""
        ...


class Plan(NamedTuple):
    """Pods of one node that have to go, the most important first, and how many of them break a budget."""

    node: int
    victims: tuple[PlacedPod, ...]
    violations: int


class PlanRefused(NamedTuple):
    """Why evicting pods from the node is of no use."""

    reasons: tuple[str, ...]


def plan_node(number: int, candidates: Sequence[PlacedPod], trial: NodeTrial, budgets: Budgets) -> Plan | PlanRefused:
    """Take all candidates away, then put back as many as possible.

    Those come first whose eviction would break a budget, and of those the most important. What cannot be put back has
    to go.
    """
    if not candidates:
        return PlanRefused((NO_VICTIMS,))
    for placed in candidates:
        trial.remove(placed)
    reasons = trial.reasons()
    if reasons:
        return PlanRefused(reasons)
    ordered = sorted(candidates, key=_importance)
    breakers = budget_breakers([placed.pod for placed in ordered], budgets)
    breaking = [placed for placed in ordered if placed.pod.metadata.uid in breakers]
    others = [placed for placed in ordered if placed.pod.metadata.uid not in breakers]
    victims: list[PlacedPod] = []
    for placed in (*breaking, *others):
        trial.put_back(placed)
        if trial.reasons():
            trial.remove(placed)
            victims.append(placed)
    if not victims:
        return PlanRefused((NO_VICTIMS,))
    violations = sum(1 for placed in victims if placed.pod.metadata.uid in breakers)
    return Plan(number, tuple(sorted(victims, key=_importance)), violations)


def budget_breakers(pods: Iterable[Pod], budgets: Budgets) -> frozenset[str]:
    """The uids of those pods whose eviction, after that of the pods before them, no budget would allow."""
    left: dict[tuple[str, str], int] = {}
    found: set[str] = set()
    for pod in pods:
        for budget in _budgets_of(pod, budgets):
            key = (budget.metadata.namespace, budget.metadata.name)
            left[key] = left.get(key, budget.status.disruptions_allowed) - 1
            if left[key] < 0:
                found.add(pod.metadata.uid)
    return frozenset(found)


def start_of(placed: PlacedPod) -> tuple[bool, int]:
    """When a pod started, for comparing; one that did not start yet is later than all that did."""
    started = placed.pod.status.start_time
    return (True, 0) if started is None else (False, started.unix_seconds)


def _budgets_of(pod: Pod, budgets: Budgets) -> Iterable[PodDisruptionBudget]:
    """The budgets an eviction would draw on. Empty selectors select nothing, and no pod is counted twice."""
    labels = pod.metadata.labels
    if not labels:
        return
    for budget in budgets(pod.metadata.namespace):
        selector = selector_from(budget.spec.selector)
        if selector is None or selector.is_empty or not selector.matches(labels):
            continue
        if pod.metadata.name not in budget.status.disrupted_pods:
            yield budget


def _importance(placed: PlacedPod) -> tuple[int, tuple[bool, int], str]:
    """Sorts the most important first: by priority, then by how long it runs; the uid makes the order certain."""
    return (-placed.priority, start_of(placed), placed.pod.metadata.uid)
