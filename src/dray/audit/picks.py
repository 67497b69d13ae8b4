"""What holds for one result alone: the device fits the request, and the result says about it what it has to."""

from __future__ import annotations

from collections.abc import Iterator

from dray.audit.amounts import amounts_taken
from dray.audit.violations import Violation, ViolationCode
from dray.audit.wishes import Pick, failing_selector, find_class, is_tolerated
from dray.audit.world import World

__all__ = ["audit_pick"]

_OPTIONAL_NODE_OPERATIONS = "DRAOptionalNodeOperations"
"""What a node declares if it can leave out calls to drivers."""


def audit_pick(world: World, pick: Pick) -> Iterator[Violation]:
    """What is wrong with one result, whatever the others are."""
    yield from _audit_fit(world, pick)
    yield from _audit_copies(pick)
    yield from _audit_amounts(pick)


def _audit_fit(world: World, pick: Pick) -> Iterator[Violation]:
    if find_class(world, pick.wish) is None:
        text = f"there is no class {pick.wish.terms.device_class_name}"
        yield Violation(ViolationCode.UNKNOWN_CLASS, pick.subject, text)
    failing = failing_selector(world, pick.wish, pick.published)
    if failing is not None:
        yield Violation(ViolationCode.SELECTOR_FALSE, pick.subject, failing)
    if not is_tolerated(pick.wish, pick.published):
        text = f"taints {[str(taint.key) for taint in pick.published.device.taints]}"
        yield Violation(ViolationCode.TAINT_NOT_TOLERATED, pick.subject, text)
    skipped = pick.published.source.spec.skip_node_operations
    if skipped and _OPTIONAL_NODE_OPERATIONS not in world.node.status.declared_features:
        text = f"the node cannot leave out {', '.join(skipped)}"
        yield Violation(ViolationCode.NODE_OPERATIONS_UNSUPPORTED, pick.subject, text)


def _audit_copies(pick: Pick) -> Iterator[Violation]:
    """What is copied from request, device and slice is copied exactly."""
    result, device = pick.result, pick.published.device
    if result.admin_access is not (True if pick.wish.is_admin else None):
        text = f"admin access is {result.admin_access}, and {pick.wish.is_admin} in the request"
        yield Violation(ViolationCode.ADMIN_ACCESS_WRONG, pick.subject, text)
    if result.tolerations != pick.wish.terms.tolerations:
        yield Violation(ViolationCode.TOLERATIONS_WRONG, pick.subject, "they are not those of the request")
    conditions = (result.binding_conditions, result.binding_failure_conditions)
    if conditions != (device.binding_conditions, device.binding_failure_conditions):
        yield Violation(ViolationCode.BINDING_CONDITIONS_WRONG, pick.subject, "they are not those of the device")
    if result.skip_node_operations != pick.published.source.spec.skip_node_operations:
        yield Violation(ViolationCode.SKIPPED_OPERATIONS_WRONG, pick.subject, "they are not those of the slice")


def _audit_amounts(pick: Pick) -> Iterator[Violation]:
    """The device can give what the request takes, and a share says how much that is."""
    requested = pick.wish.terms.capacity.requests if pick.wish.terms.capacity is not None else {}
    amounts = amounts_taken(pick.published.device, requested)
    if amounts is None:
        text = f"the device can never give {dict(requested)}"
        yield Violation(ViolationCode.CAPACITY_UNFIT, pick.subject, text)
        return
    recorded = amounts if pick.published.is_shareable else {}
    if dict(pick.result.consumed_capacity) != recorded:
        yield Violation(ViolationCode.CONSUMED_CAPACITY_WRONG, pick.subject, f"should be {recorded}")
    if (pick.result.share_id is not None) is not pick.published.is_shareable:
        text = "a share of a device needs an identifier, a whole device has none"
        yield Violation(ViolationCode.SHARE_ID_WRONG, pick.subject, text)
