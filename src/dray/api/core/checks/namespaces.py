"""Namespaces: what holds them back has a qualified name."""

from dray.api.checks import CheckContext
from dray.api.core.checks.naming import key_faults
from dray.api.core.namespace import Namespace
from dray.errors import FieldError, invalid
from dray.values.fieldpath import SPEC, STATUS

__all__ = ["check_namespace", "check_namespace_status"]


def check_namespace(new: Namespace, old: Namespace | None, context: CheckContext) -> list[FieldError]:
    """Finalizers are `kubernetes` or have a domain."""
    faults: list[FieldError] = []
    for index, name in enumerate(new.spec.finalizers):
        at = SPEC / "finalizers" / index
        details = list(key_faults(name, at))
        if not details and "/" not in name and name != "kubernetes":
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            details.append(invalid(at, name, detail))
        faults += details
    return faults


def check_namespace_status(new: Namespace, old: Namespace | None, context: CheckContext) -> list[FieldError]:
    """A namespace terminates when it is deleted, and only then."""
    phase, is_deleted = new.status.phase, new.metadata.deletion_timestamp is not None
    if is_deleted and phase != "Terminating":
        detail = "may only be 'Terminating' if `deletionTimestamp` is not empty"
        return [invalid(STATUS / "Phase", phase, detail)]
    if not is_deleted and phase != "Active":
        return [invalid(STATUS / "Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")]
    return []
