"""Admission in order: what completes a write before its checks, and what has the last word after them.

    admitted = admit(request, view)            # after decoding and defaulting
    planned = plan_create(kind, admitted.thing, context)
    approved = approve(request with the planned object, view)

Two steps, because a write is checked once it is complete, and only a write that passed all checks is charged to quotas.
Both are pure: they look at the view, and neither waits nor writes.
"""

from typing import Final, TypeVar

from dray.api.meta import ApiObject
from dray.server.admission.accounts import fill_in_account
from dray.server.admission.limits import check_limits, fill_in_limits
from dray.server.admission.namespaces import check_namespace
from dray.server.admission.nodes import taint_new_node
from dray.server.admission.nodewrites import check_node_write
from dray.server.admission.priorities import check_default_class, fill_in_priority, keep_system_classes
from dray.server.admission.quotas import charge
from dray.server.admission.request import AdmissionRequest, Admitted, AnyRequest, Approved, Checker, Filler
from dray.server.admission.tolerations import add_default_tolerations
from dray.server.ports import View

__all__ = ["CHECKERS", "FILLERS", "admit", "approve"]

K = TypeVar("K", bound=ApiObject)

FILLERS: Final[tuple[Filler, ...]] = (
    check_namespace,
    keep_system_classes,
    fill_in_limits,
    fill_in_account,
    check_node_write,
    taint_new_node,
    fill_in_priority,
    add_default_tolerations,
)
"""What completes or refuses a write before it is checked, in Kubernetes' order."""
CHECKERS: Final[tuple[Checker, ...]] = (check_limits, check_default_class)
"""What refuses a checked write, before quotas are charged."""


def admit(request: AdmissionRequest[K], view: View) -> Admitted[K]:
    """Complete a write before it is checked. Raises Forbidden and other ApiErrors in Kubernetes' words.

    For deletions too, which are only refused or not.
    """
    filled: AnyRequest = request
    for fill in FILLERS:
        filled = fill(filled, view)
    return Admitted(filled.new)


def approve(request: AdmissionRequest[K], view: View) -> Approved:
    """Have the last word on a write that passed its checks, and say which quotas it is charged to."""
    for check in CHECKERS:
        check(request, view)
    charges = charge(request, view)
    return Approved(() if request.is_dry_run else charges)
