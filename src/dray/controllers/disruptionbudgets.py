"""The status of disruption budgets: how many pods may be evicted now, which evictions are held against."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.labelselection import selects
from dray.api.meta import Condition
from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetStatus
from dray.api.policy.kinds import POD_DISRUPTION_BUDGET
from dray.client.port import Client, ListOptions, ObjectName
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Controller, Effects
from dray.controllers.writing import find_stored
from dray.values.times import Time

__all__ = ["DisruptionBudgets", "plan_status"]

_EVICTION_SECONDS: Final = 120
"""How long an allowed eviction is believed to come; after that the pod counts again."""


def plan_status(budget: PodDisruptionBudget, pods: Sequence[Pod], now: Time) -> PodDisruptionBudgetStatus:
    """What the pods of its namespace leave of a budget.

    Where a share is asked for, it is of the pods there are: nothing served here knows how many there should be.
    """
    spec, status = budget.spec, budget.status
    chosen = [
        pod
        for pod in pods
        if selects(spec.selector, pod.metadata.labels) and pod.status.phase not in ("Failed", "Succeeded")
    ]
    by_name = {pod.metadata.name: pod for pod in chosen}
    disrupted = {
        name: time
        for name, time in status.disrupted_pods.items()
        if name in by_name and not _is_going(by_name[name]) and now <= time.plus_seconds(_EVICTION_SECONDS)
    }
    healthy = sum(1 for pod in chosen if _is_healthy(pod) and pod.metadata.name not in disrupted)
    desired = _count_desired(budget, len(chosen))
    allowed = max(0, healthy - desired) if chosen else 0
    return PodDisruptionBudgetStatus(
        observed_generation=budget.metadata.generation,
        disrupted_pods=disrupted,
        disruptions_allowed=allowed,
        current_healthy=healthy,
        desired_healthy=desired,
        expected_pods=len(chosen),
        conditions=_set_condition(status.conditions, _make_condition(budget, allowed, now)),
    )


def _count_desired(budget: PodDisruptionBudget, expected: int) -> int:
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(0, expected - _scale(spec.max_unavailable, expected))
    return _scale(spec.min_available, expected) if spec.min_available is not None else 0


def _scale(amount: int | str, whole: int) -> int:
    """A number, or a percentage of `whole` rounded up."""
    if isinstance(amount, int):
        return amount
    return -(-int(amount.removesuffix("%")) * whole // 100)


def _is_going(pod: Pod) -> bool:
    return pod.metadata.deletion_timestamp is not None


def _is_healthy(pod: Pod) -> bool:
    return not _is_going(pod) and any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions)


def _make_condition(budget: PodDisruptionBudget, allowed: int, now: Time) -> Condition:
    return Condition(
        type="DisruptionAllowed",
        status="True" if allowed else "False",
        observed_generation=budget.metadata.generation,
        last_transition_time=now,
        reason="SufficientPods" if allowed else "InsufficientPods",
    )


def _set_condition(conditions: Sequence[Condition], new: Condition) -> tuple[Condition, ...]:
    old = next((each for each in conditions if each.type == new.type), None)
    if old is not None and old.status == new.status:
        new = replace(new, last_transition_time=old.last_transition_time)
    return (*(each for each in conditions if each.type != new.type), new)


class DisruptionBudgets:
    """Keeps the status of every budget."""

    def __init__(self, client: Client, mirrors: Mirrors, effects: Effects) -> None:
        self._client = client
        self._mirrors = mirrors
        self._clock = effects.clock
        self.controller: Controller[ObjectName] = Controller("disruption budgets", self.reconcile, effects)
        mirrors.listen(POD_DISRUPTION_BUDGET, self._note_budget)
        mirrors.listen(POD, self._note_pod)

    def _note_budget(self, old: PodDisruptionBudget | None, new: PodDisruptionBudget | None) -> None:
        if new is not None:
            self.controller.wake(ObjectName(new.metadata.name, new.metadata.namespace))

    def _note_pod(self, old: Pod | None, new: Pod | None) -> None:
        pods = [pod for pod in (old, new) if pod is not None]
        for budget in self._mirrors.list(POD_DISRUPTION_BUDGET, pods[0].metadata.namespace):
            if any(selects(budget.spec.selector, pod.metadata.labels) for pod in pods):
                self.controller.wake(ObjectName(budget.metadata.name, budget.metadata.namespace))

    async def reconcile(self, name: ObjectName) -> float | None:
        """Count, and write what was counted if it is news."""
        budget = await find_stored(self._client, POD_DISRUPTION_BUDGET, name)
        if budget is None:
            return None
        listed = await self._client.list(POD, ListOptions(namespace=name.namespace))
        status = plan_status(budget, listed.items, self._clock.now().to_time())
        if status != budget.status:
            await self._client.update(POD_DISRUPTION_BUDGET, replace(budget, status=status), subresource="status")
        return float(_EVICTION_SECONDS) if status.disrupted_pods else None
