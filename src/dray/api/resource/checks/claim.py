"""Checks of `ResourceClaim`."""

from dray.api.checks import CheckContext
from dray.api.resource.allocation import ResourceClaimConsumerReference, ResourceClaimStatus
from dray.api.resource.checks.access import check_admin_request, check_admin_results, check_status_access
from dray.api.resource.checks.allocation import inspect_allocation
from dray.api.resource.checks.config import inspect_claim_configs
from dray.api.resource.checks.constraints import inspect_constraints
from dray.api.resource.checks.devicestatus import inspect_device_statuses
from dray.api.resource.checks.expressions import MAX_COST
from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.references import RequestNames
from dray.api.resource.checks.report import Report
from dray.api.resource.checks.requests import inspect_requests
from dray.api.resource.claim import DeviceClaim, ResourceClaim
from dray.api.resource.equality import is_same
from dray.errors import FieldError, forbidden, invalid, required
from dray.values.fieldpath import SPEC, STATUS, FieldPath

__all__ = ["create_checks", "inspect_device_claim", "status_checks", "update_checks"]

_MAX_CONSUMERS = 256
_TOO_COSTLY = "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit"
_NOT_ALLOCATED = "may not be specified when `allocated` is not set"
_DEALLOCATING = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"


def check_new_claim(new: ResourceClaim, old: ResourceClaim | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a new claim."""
    report = Report(context)
    report.add_all(check_admin_request(new.spec.devices, new.metadata.namespace, context))
    inspect_device_claim(new.spec.devices, SPEC / "devices", report)
    return report.faults()


def check_spec_unchanged(new: ResourceClaim, old: ResourceClaim | None, context: CheckContext) -> list[FieldError]:
    """The spec stays as it is. What else may be wrong with another one is of no interest."""
    if old is None or is_same(new.spec, old.spec):
        return []
    return [invalid(SPEC, None, "field is immutable", hint="delete the claim and create another one")]


def check_status(new: ResourceClaim, old: ResourceClaim | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a changed status; the spec is the stored one."""
    old = old if old is not None else ResourceClaim(metadata=new.metadata, spec=new.spec)
    report = Report(context)
    report.add_all(check_admin_results(new, old, context))
    report.add_all(check_status_access(new, old, context))
    status, stored = new.status, old.status
    is_new = stored.allocation is None
    if not is_new and status.allocation is not None and not is_same(status.allocation, stored.allocation):
        hint = "clear the allocation first, then write another one"
        report.declare(invalid(STATUS / "allocation", None, "field cannot be modified once set", hint=hint))
    _inspect_consumers(status.reserved_for, STATUS / "reservedFor", report)
    inspect_device_statuses(status.devices, status.allocation, STATUS / "devices", report)
    _inspect_reservation(status, stored, report, is_deleted=new.metadata.deletion_timestamp is not None)
    if is_new and status.allocation is not None:
        inspect_allocation(status.allocation, RequestNames(new.spec.devices), STATUS / "allocation", report)
    return report.faults()


create_checks = (check_new_claim,)
update_checks = (check_spec_unchanged,)
status_checks = (check_status,)


def inspect_device_claim(claim: DeviceClaim, path: FieldPath, report: Report) -> None:
    """Everything about what a claim, or a template of claims, asks for."""
    names = RequestNames(claim)
    inspect_requests(claim.requests or (), claim.constraints, path / "requests", report)
    inspect_constraints(claim.constraints, names, path / "constraints", report)
    inspect_claim_configs(claim.config, names, path / "config", report)
    if report.derived_cost > MAX_COST:
        report.add(forbidden(path, _TOO_COSTLY, hint="simplify derived attributes, or split the claim"))


def _inspect_consumers(consumers: tuple[ResourceClaimConsumerReference, ...], path: FieldPath, report: Report) -> None:
    if not fits(consumers, _MAX_CONSUMERS, path, report.declare):
        return
    note_duplicates([each.uid for each in consumers], consumers, path, report.declare)
    for index, consumer in enumerate(consumers):
        for name in ("resource", "name", "uid"):
            if not getattr(consumer, name):
                report.add(required(path / index / name))


def _inspect_reservation(
    status: ResourceClaimStatus, stored: ResourceClaimStatus, report: Report, *, is_deleted: bool
) -> None:
    """Only an allocated claim is reserved, and nobody new gets hold of a claim that is on its way out."""
    if not status.reserved_for:
        return
    at = STATUS / "reservedFor"
    if status.allocation is None:
        hint = "remove all consumers before the allocation, or write an allocation with them"
        report.add(forbidden(at, _NOT_ALLOCATED, hint=hint))
    elif is_deleted and any(each not in stored.reserved_for for each in status.reserved_for):
        report.add(forbidden(at, _DEALLOCATING, hint="wait until the claim is gone, then use another one"))
