"""What each way of writing a budget may not touch."""

from msgspec.structs import replace

from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetStatus
from dray.values.times import Time

__all__ = ["prepare_budget_create", "prepare_budget_status", "prepare_budget_update"]


def prepare_budget_create(new: PodDisruptionBudget) -> PodDisruptionBudget:
    """Nothing is counted yet."""
    return replace(new, status=PodDisruptionBudgetStatus())


def prepare_budget_update(new: PodDisruptionBudget, old: PodDisruptionBudget, now: Time) -> PodDisruptionBudget:
    """The status stays; a changed spec is a new generation."""
    generation = old.metadata.generation + (new.spec != old.spec)
    return replace(new, status=old.status, metadata=replace(new.metadata, generation=generation))


def prepare_budget_status(new: PodDisruptionBudget, old: PodDisruptionBudget, now: Time) -> PodDisruptionBudget:
    """The spec stays."""
    return replace(new, spec=old.spec)
