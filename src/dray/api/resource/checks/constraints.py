"""Constraints: conditions on the devices of several requests together."""

from collections.abc import Sequence

from dray.api.resource.checks.lists import fits
from dray.api.resource.checks.names import check_fully_qualified_name
from dray.api.resource.checks.references import RequestNames, inspect_references
from dray.api.resource.checks.report import Report
from dray.api.resource.claim import DeviceConstraint
from dray.errors import required
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_constraints"]

_MAX_CONSTRAINTS = 32
# Upstream's wording, which it uses although nothing is set.
_NO_ATTRIBUTE = 'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields are set'


def inspect_constraints(
    constraints: Sequence[DeviceConstraint], names: RequestNames, path: FieldPath, report: Report
) -> None:
    """Every constraint looks at an attribute of requests that exist. Looking at two, one each way, is no fault."""
    if not constraints or not fits(constraints, _MAX_CONSTRAINTS, path, report.declare):
        return
    for index, constraint in enumerate(constraints):
        at = path / index
        inspect_references(constraint.requests, names, at / "requests", report)
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            hint = "set matchAttribute or distinctAttribute to a name such as gpu.example.com/numa"
            report.add(required(at, _NO_ATTRIBUTE, hint=hint))
        if constraint.match_attribute is not None:
            report.declare_all(check_fully_qualified_name(constraint.match_attribute, at / "matchAttribute"))
        if constraint.distinct_attribute is not None:
            report.declare_all(check_fully_qualified_name(constraint.distinct_attribute, at / "distinctAttribute"))
