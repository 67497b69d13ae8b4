"""What the API server refuses in disruption budgets."""

import re
from collections.abc import Iterator

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import choice_faults
from dray.api.core.checks.selectors import label_selector_faults
from dray.api.policy.budget import PodDisruptionBudget, PodDisruptionBudgetSpec
from dray.errors import FieldError, invalid
from dray.values.fieldpath import SPEC, STATUS, FieldPath

__all__ = ["check_budget", "check_budget_status"]

_PERCENTAGE = re.compile("[0-9]+%")
_PERCENTAGE_RULE = (
    "a valid percent string must be a numeric string followed by an ending '%' "
    "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
)
_COUNTS = ("disruptions_allowed", "current_healthy", "desired_healthy", "expected_pods")
_COUNT_NAMES = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def check_budget(new: PodDisruptionBudget, old: PodDisruptionBudget | None, context: CheckContext) -> list[FieldError]:
    """One number, and pods it is about."""
    return list(_spec_faults(new.spec))


def _spec_faults(spec: PodDisruptionBudgetSpec) -> Iterator[FieldError]:
    if spec.min_available is not None and spec.max_unavailable is not None:
        shown = {"MinAvailable": spec.min_available, "MaxUnavailable": spec.max_unavailable}
        detail = "minAvailable and maxUnavailable cannot be both set"
        yield invalid(SPEC, shown, detail, hint="remove one of the two")
    if spec.min_available is not None:
        yield from _amount_faults(spec.min_available, SPEC / "minAvailable")
    if spec.max_unavailable is not None:
        yield from _amount_faults(spec.max_unavailable, SPEC / "maxUnavailable")
    yield from label_selector_faults(spec.selector, SPEC / "selector")
    if spec.unhealthy_pod_eviction_policy is not None:
        policies = ("AlwaysAllow", "IfHealthyBudget")
        yield from choice_faults(spec.unhealthy_pod_eviction_policy, policies, SPEC / "unhealthyPodEvictionPolicy")


def _amount_faults(amount: int | str, path: FieldPath) -> Iterator[FieldError]:
    if isinstance(amount, int):
        if amount < 0:
            yield invalid(path, amount, "must be greater than or equal to 0")
    elif not _PERCENTAGE.fullmatch(amount):
        yield invalid(path, amount, _PERCENTAGE_RULE)
    elif int(amount.removesuffix("%")) > 100:
        yield invalid(path, amount, "must not be greater than 100%")


def check_budget_status(
    new: PodDisruptionBudget, old: PodDisruptionBudget | None, context: CheckContext
) -> list[FieldError]:
    """Counts are zero or more."""
    return [
        invalid(STATUS / name, getattr(new.status, field), "must be greater than or equal to 0")
        for field, name in zip(_COUNTS, _COUNT_NAMES, strict=True)
        if getattr(new.status, field) < 0
    ]
