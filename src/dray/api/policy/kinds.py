"""The kinds of `policy`, and what belongs to each."""

from dray.api.columns import AGE, NAME, Column
from dray.api.kind import STATUS, Kind, Scope, ServedVersion
from dray.api.policy.budget import PodDisruptionBudget
from dray.api.policy.checks import check_budget, check_budget_status
from dray.api.policy.eviction import Eviction
from dray.api.policy.prepare import prepare_budget_create, prepare_budget_status, prepare_budget_update

__all__ = ["BODIES", "EVICTION", "GROUP", "KINDS", "POD_DISRUPTION_BUDGET"]

GROUP = "policy"
_V1 = (ServedVersion("v1", unconditional_update=False, delete_returns_object=False),)


def _amount(amount: int | str | None) -> str:
    return "N/A" if amount is None else str(amount)


POD_DISRUPTION_BUDGET: Kind[PodDisruptionBudget] = Kind(
    struct=PodDisruptionBudget,
    group=GROUP,
    plural="poddisruptionbudgets",
    singular="poddisruptionbudget",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    short_names=("pdb",),
    subresources=(STATUS,),
    counts_generations=True,
    prepare_create=prepare_budget_create,
    prepare_update=prepare_budget_update,
    prepare_status=prepare_budget_status,
    create_checks=(check_budget,),
    update_checks=(check_budget,),
    status_checks=(check_budget_status,),
    columns=(
        NAME,
        Column(
            "Min Available",
            lambda budget, now: _amount(budget.spec.min_available),
            description="Pods that must stay healthy.",
        ),
        Column(
            "Max Unavailable",
            lambda budget, now: _amount(budget.spec.max_unavailable),
            description="Pods that may be unhealthy.",
        ),
        Column(
            "Allowed Disruptions",
            lambda budget, now: budget.status.disruptions_allowed,
            type="integer",
            description="Pods that may be evicted now.",
        ),
        AGE,
    ),
)

EVICTION: Kind[Eviction] = Kind(
    struct=Eviction,
    group=GROUP,
    plural="evictions",
    singular="eviction",
    scope=Scope.NAMESPACED,
    versions=_V1,
    storage_version="v1",
    verbs=("create",),
)

KINDS = (POD_DISRUPTION_BUDGET,)
"""All kinds of the group, in the order in which discovery lists them."""

BODIES = (EVICTION,)
"""Kinds that are only sent to a subresource and have no path of their own."""
