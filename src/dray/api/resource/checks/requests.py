"""What a claim asks for: requests, their alternatives, and the conditions on devices that both carry."""

from collections.abc import Sequence

from dray.api.resource.checks.derived import inspect_derived_attributes
from dray.api.resource.checks.expressions import inspect_selectors
from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_class_name, check_declared_class_name, check_label
from dray.api.resource.checks.report import Report
from dray.api.resource.checks.taints import inspect_tolerations
from dray.api.resource.claim import DeviceConstraint
from dray.api.resource.request import AllocationMode, DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.errors import invalid, not_supported, required
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_requests"]

_MAX_REQUESTS = 32
_MAX_ALTERNATIVES = 8
_ONE_OF = "exactly one of `exactly` or `firstAvailable` is required"


def inspect_requests(
    requests: Sequence[DeviceRequest], constraints: Sequence[DeviceConstraint], path: FieldPath, report: Report
) -> None:
    """Requests have different names and sound contents. Constraints say which derived attributes are of use."""
    if not fits(requests, _MAX_REQUESTS, path, report.declare):
        return
    note_duplicates([each.name for each in requests], requests, path, report.declare)
    for index, request in enumerate(requests):
        _inspect_request(request, constraints, path / index, report)


def _inspect_request(
    request: DeviceRequest, constraints: Sequence[DeviceConstraint], path: FieldPath, report: Report
) -> None:
    report.add_all(check_label(request.name, path / "name"))
    if request.exactly is None and not request.first_available:
        report.add(required(path, _ONE_OF, hint="set exactly, with a deviceClassName"))
    elif request.exactly is not None and request.first_available:
        hint = "remove exactly, or remove firstAvailable"
        report.add(invalid(path, None, f"{_ONE_OF}, but multiple fields are set", hint=hint))
        report = report.declared_only()
    if request.exactly is not None:
        exactly = path / "exactly"
        report.add_all(check_class_name(request.exactly.device_class_name, exactly / "deviceClassName"))
        _inspect_conditions(request.exactly, request.name, constraints, exactly, report)
    if request.first_available:
        _inspect_alternatives(request, constraints, path / "firstAvailable", report)


def _inspect_alternatives(
    request: DeviceRequest, constraints: Sequence[DeviceConstraint], path: FieldPath, report: Report
) -> None:
    alternatives = request.first_available
    if not fits(alternatives, _MAX_ALTERNATIVES, path, report.declare):
        return
    note_duplicates([each.name for each in alternatives], alternatives, path, report.declare)
    for index, alternative in enumerate(alternatives):
        at = path / index
        report.add_all(check_label(alternative.name, at / "name"))
        report.declare_all(check_declared_class_name(alternative.device_class_name, at / "deviceClassName"))
        _inspect_conditions(alternative, f"{request.name}/{alternative.name}", constraints, at, report)


def _inspect_conditions(
    body: ExactDeviceRequest | DeviceSubRequest,
    reference: str,
    constraints: Sequence[DeviceConstraint],
    path: FieldPath,
    report: Report,
) -> None:
    inspect_selectors(body.selectors, path / "selectors", report)
    inspect_derived_attributes(body.derived_attributes, reference, constraints, path / "derivedAttributes", report)
    _inspect_amount(body, path, report)
    inspect_tolerations(body.tolerations, path / "tolerations", report)


def _inspect_amount(body: ExactDeviceRequest | DeviceSubRequest, path: FieldPath, report: Report) -> None:
    if body.allocation_mode == AllocationMode.EXACT_COUNT:
        if body.count <= 0:
            report.add(invalid(path / "count", body.count, "must be greater than zero", hint="ask for 1 or more"))
    elif body.allocation_mode == AllocationMode.ALL:
        if body.count != 0:
            detail = "must not be specified when allocationMode is 'All'"
            hint = "remove count, or set allocationMode to ExactCount"
            report.add(invalid(path / "count", body.count, detail, hint=hint))
    else:
        report.declare(not_supported(path / "allocationMode", body.allocation_mode, AllocationMode))
