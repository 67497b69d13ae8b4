"""Checks of `ResourceClaimTemplate`."""

from collections.abc import Iterator

import msgspec

from dray.api.checks import CheckContext
from dray.api.meta import ObjectMeta
from dray.api.metachecks import check_annotations, check_labels
from dray.api.resource.checks.access import check_admin_request
from dray.api.resource.checks.claim import inspect_device_claim
from dray.api.resource.checks.report import Report
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.equality import is_same
from dray.errors import FieldError, forbidden, invalid
from dray.values.fieldpath import SPEC, FieldPath

__all__ = ["create_checks", "update_checks"]

_EMPTY_META = ObjectMeta()
_OPEN_FIELDS = frozenset({"labels", "annotations"})


def check_new_template(
    new: ResourceClaimTemplate, old: ResourceClaimTemplate | None, context: CheckContext
) -> list[FieldError]:
    """Every fault of a new template."""
    report = Report(context)
    report.add_all(check_admin_request(new.spec.spec.devices, new.metadata.namespace, context))
    _inspect_template(new, report)
    return report.faults()


def check_template(
    new: ResourceClaimTemplate, old: ResourceClaimTemplate | None, context: CheckContext
) -> list[FieldError]:
    """Every fault of the template, and whether its spec is the stored one.

    Unlike the spec of a claim it is looked at again even if nothing changed, so a template that was stored under laxer
    rules cannot be updated at all. That is upstream's choice.
    """
    report = Report(context)
    _inspect_template(new, report)
    if old is not None and not is_same(new.spec, old.spec):
        hint = "delete the template and create another one"
        report.add(invalid(SPEC, new.spec, "field is immutable", hint=hint))
    return report.faults()


create_checks = (check_new_template,)
update_checks = (check_template,)


def _inspect_template(template: ResourceClaimTemplate, report: Report) -> None:
    if template.spec.metadata != _EMPTY_META:
        report.add_all(_metadata_faults(template.spec.metadata, SPEC / "metadata"))
    inspect_device_claim(template.spec.spec.devices, SPEC / "spec" / "devices", report)


def _metadata_faults(metadata: ObjectMeta, path: FieldPath) -> Iterator[FieldError]:
    """Claims get labels and annotations from their template, and nothing else."""
    yield from check_annotations(metadata.annotations, path / "annotations")
    yield from check_labels(metadata.labels, path / "labels")
    for field in msgspec.structs.fields(ObjectMeta):
        if field.name not in _OPEN_FIELDS and getattr(metadata, field.name) != getattr(_EMPTY_META, field.name):
            shown = _go_spelling(field.encode_name)
            yield forbidden(path / shown, "cannot be set", hint=f"remove spec.metadata.{field.encode_name}")


def _go_spelling(name: str) -> str:
    # Upstream lower-cases the first letter of its own field name, UID.
    return "uID" if name == "uid" else name
