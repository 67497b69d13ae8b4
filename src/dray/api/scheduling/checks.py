"""What the API server refuses in priority classes."""

from collections.abc import Iterator

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import choice_faults
from dray.api.scheduling.priorityclass import PriorityClass
from dray.errors import FieldError, forbidden, invalid
from dray.values.fieldpath import METADATA, ROOT

__all__ = ["HIGHEST_USER_PRIORITY", "SYSTEM_CLASSES", "check_priority_class", "check_priority_class_update"]

HIGHEST_USER_PRIORITY = 1_000_000_000
SYSTEM_CLASSES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that are always there, with their values."""

_POLICIES = ("PreemptLowerPriority", "Never")
_RESERVED = "priority class names with 'system-' prefix are reserved for system use only. error: "
_FIXED = "may not be changed in an update."


def check_priority_class(new: PriorityClass, old: PriorityClass | None, context: CheckContext) -> list[FieldError]:
    """High values and names of the system are for the system."""
    return list(_faults(new))


def _faults(new: PriorityClass) -> Iterator[FieldError]:
    name = new.metadata.name
    if name.startswith("system-"):
        error = _system_error(new)
        if error is not None:
            yield forbidden(METADATA / "name", _RESERVED + error)
    elif new.value > HIGHEST_USER_PRIORITY:
        detail = f"maximum allowed value of a user defined priority is {HIGHEST_USER_PRIORITY}"
        yield forbidden(ROOT / "value", detail)
    if new.preemption_policy is not None:
        yield from choice_faults(new.preemption_policy, _POLICIES, ROOT / "preemptionPolicy")


def _system_error(new: PriorityClass) -> str | None:
    name = new.metadata.name
    if name not in SYSTEM_CLASSES:
        return f"{name} is not a known system priority class"
    if new.value != SYSTEM_CLASSES[name]:
        return f"value of {name} PriorityClass must be {SYSTEM_CLASSES[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if new.global_default else None


def check_priority_class_update(
    new: PriorityClass, old: PriorityClass | None, context: CheckContext
) -> list[FieldError]:
    """Pods have copied the value; it stays."""
    if old is None:
        return []
    faults: list[FieldError] = []
    if new.value != old.value:
        hint = "create another class, and let new pods use it"
        faults.append(forbidden(ROOT / "value", _FIXED, hint=hint))
    if new.preemption_policy != old.preemption_policy:
        faults.append(invalid(ROOT / "preemptionPolicy", new.preemption_policy, "field is immutable"))
    return faults
