"""Evictions: deletions of pods that disruption budgets can hold back."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition
from dray.api.labelselection import selects
from dray.api.meta import StatusCause
from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetStatus
from dray.errors import ApiError, Forbidden, ObjectRef
from dray.server.admission.refusals import TooManyRequests
from dray.values.times import Time

__all__ = ["EvictionPlan", "plan_eviction"]

_VIOLATES: Final = "Cannot evict pod as it would violate the pod's disruption budget."
_TOO_MANY_BUDGETS: Final = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
)
_MOST_DISRUPTED: Final = 2000
_RETRY_SECONDS: Final = 10


@dataclass(frozen=True, slots=True)
class EvictionPlan:
    """What an allowed eviction writes before the pod is deleted."""

    condition: PodCondition
    """To be set in the status of the pod."""
    budget: PodDisruptionBudget | None
    """The budget with this disruption in its status, at the resourceVersion it was read; None if none is used up."""


def plan_eviction(pod: Pod, budgets: Iterable[PodDisruptionBudget], now: Time) -> EvictionPlan:
    """Plan the eviction of a pod, with the budgets of its namespace. Raises TooManyRequests if one forbids it.

    A pod that does not serve anybody, because it has ended, has not begun, or is going, costs nothing.
    """
    condition = PodCondition(
        type="DisruptionTarget",
        status="True",
        last_transition_time=now,
        reason="EvictionByEvictionAPI",
        message="Eviction API: evicting",
    )
    if pod.metadata.deletion_timestamp is not None or pod.status.phase in ("Failed", "Pending", "Succeeded"):
        return EvictionPlan(condition, None)
    fitting = [budget for budget in budgets if selects(budget.spec.selector, pod.metadata.labels)]
    if len(fitting) > 1:
        raise ApiError(_TOO_MANY_BUDGETS)
    if not fitting or _may_go_anyway(pod, fitting[0]):
        return EvictionPlan(condition, None)
    return EvictionPlan(condition, _use_up(fitting[0], pod, now))


def _may_go_anyway(pod: Pod, budget: PodDisruptionBudget) -> bool:
    """Whether the pod is not healthy, and nobody healthy is missed for it."""
    if any(each.type == "Ready" and each.status == "True" for each in pod.status.conditions):
        return False
    if budget.spec.unhealthy_pod_eviction_policy == "AlwaysAllow":
        return True
    status = budget.status
    return 0 < status.desired_healthy <= status.current_healthy


def _use_up(budget: PodDisruptionBudget, pod: Pod, now: Time) -> PodDisruptionBudget:
    status = budget.status
    _check_budget(budget, status)
    return replace(
        budget,
        status=replace(
            status,
            disruptions_allowed=status.disruptions_allowed - 1,
            disrupted_pods={**status.disrupted_pods, pod.metadata.name: now},
        ),
    )


def _check_budget(budget: PodDisruptionBudget, status: PodDisruptionBudgetStatus) -> None:
    name = budget.metadata.name
    if status.observed_generation < budget.metadata.generation:
        text = f"The disruption budget {name} is still being processed by the server."
        raise TooManyRequests(_VIOLATES, (_cause(text),), retry_after_seconds=_RETRY_SECONDS)
    if status.disruptions_allowed < 0:
        raise _forbid(budget, "pdb disruptions allowed is negative")
    if len(status.disrupted_pods) > _MOST_DISRUPTED:
        reason = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise _forbid(budget, reason)
    if status.disruptions_allowed == 0:
        numbers = f"needs {status.desired_healthy} healthy pods and has {status.current_healthy} currently"
        raise TooManyRequests(_VIOLATES, (_cause(f"The disruption budget {name} {numbers}"),))


def _cause(text: str) -> StatusCause:
    return StatusCause(reason="DisruptionBudget", message=text)


def _forbid(budget: PodDisruptionBudget, reason: str) -> Forbidden:
    name = budget.metadata.name
    about = ObjectRef("policy", "PodDisruptionBudget", "poddisruptionbudget", budget.metadata.namespace, name)
    return Forbidden(f'{about.qualified_resource} "{name}" is forbidden: {reason}', about)
