"""Derived attributes: values computed from a device, for constraints alone."""

from collections.abc import Sequence

from dray.api.resource.checks.expressions import inspect_derived_expression
from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import check_fully_qualified_name
from dray.api.resource.checks.report import Report
from dray.api.resource.claim import DeviceConstraint
from dray.api.resource.request import DeviceDerivedAttribute
from dray.errors import invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_derived_attributes"]

_MAX_DERIVED_ATTRIBUTES = 32
_UNUSED = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request"


def inspect_derived_attributes(
    attributes: Sequence[DeviceDerivedAttribute],
    reference: str,
    constraints: Sequence[DeviceConstraint],
    path: FieldPath,
    report: Report,
) -> None:
    """Derived attributes of the request that `reference` names are well-formed, and some constraint looks at each."""
    if not fits(attributes, _MAX_DERIVED_ATTRIBUTES, path, report.declare):
        report = report.added_only()
    for index, attribute in enumerate(attributes):
        at = path / index
        if attribute.name:
            report.declare_all(check_fully_qualified_name(attribute.name, at / "name"))
            if not _is_used(attribute.name, reference, constraints):
                hint = f"add a constraint with matchAttribute: {attribute.name}"
                report.add(invalid(at / "name", attribute.name, _UNUSED, hint=hint))
        else:
            report.declare(required(at / "name"))
        if attribute.expression:
            inspect_derived_expression(attribute.expression, at / "expression", report)
        else:
            report.declare(required(at / "expression"))
    names = [each.name for each in attributes]
    note_duplicates(names, names, path, report.add)


def _is_used(attribute: str, reference: str, constraints: Sequence[DeviceConstraint]) -> bool:
    """Whether a constraint on the request, on the request it is an alternative of, or on all looks at the attribute."""
    request = reference.partition("/")[0]
    return any(
        attribute in (each.match_attribute, each.distinct_attribute)
        and (not each.requests or reference in each.requests or request in each.requests)
        for each in constraints
    )
