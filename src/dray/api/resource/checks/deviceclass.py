"""Checks of `DeviceClass`."""

from dray.api.checks import CheckContext
from dray.api.resource.checks.config import MAX_CONFIGS, inspect_opaque
from dray.api.resource.checks.expressions import inspect_selectors
from dray.api.resource.checks.lists import fits
from dray.api.resource.checks.report import Report
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.equality import is_same
from dray.errors import FieldError, invalid
from dray.values.fieldpath import SPEC
from dray.values.names import extended_resource_name_faults

__all__ = ["create_checks", "update_checks"]


def check_class(new: DeviceClass, old: DeviceClass | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a class. Selectors and parameters that are stored already are not measured again."""
    report = Report(context)
    spec, stored = new.spec, old.spec if old is not None else None
    are_stored = stored is not None and stored.selectors == spec.selectors
    inspect_selectors(spec.selectors, SPEC / "selectors", report, are_stored=are_stored)
    is_stored = stored is not None and is_same(stored.config, spec.config)
    if fits(spec.config, MAX_CONFIGS, SPEC / "config", report.declare):
        for index, config in enumerate(spec.config):
            inspect_opaque(config.opaque, SPEC / "config" / index / "opaque", report, is_stored=is_stored)
    name = spec.extended_resource_name
    if name is not None:
        for detail in extended_resource_name_faults(name):
            report.declare(invalid(SPEC / "extendedResourceName", name, detail))
    return report.faults()


create_checks = (check_class,)
update_checks = (check_class,)
