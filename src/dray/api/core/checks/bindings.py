"""Bindings: a pod goes to a node, and to a node that can be named."""

from dray.api.checks import CheckContext
from dray.api.core.binding import Binding
from dray.api.core.checks.naming import subdomain_faults
from dray.errors import FieldError, not_supported, required
from dray.values.fieldpath import ROOT

__all__ = ["check_binding"]

_TARGET = ROOT / "target"


def check_binding(new: Binding, old: Binding | None, context: CheckContext) -> list[FieldError]:
    """The target is a node with a name."""
    faults: list[FieldError] = []
    if new.target.kind not in ("", "Node"):
        faults.append(not_supported(_TARGET / "kind", new.target.kind, ("Node", "<empty>")))
    if not new.target.name:
        faults.append(required(_TARGET / "name", hint="name the node"))
    else:
        faults += subdomain_faults(new.target.name, _TARGET / "name")
    return faults
