"""Checks of metadata, the same for every kind.

`check_new_metadata` is for objects to be created, `check_changed_metadata` for updates of any part of an object. Both
expect what the server itself sets to be set already; see `dray.api.writing`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from dray.api.kind import Kind
from dray.api.meta import ApiObject, ManagedFieldsEntry, ObjectMeta, OwnerReference
from dray.errors import FieldError, forbidden, invalid, required, too_long
from dray.values.fieldpath import METADATA, FieldPath
from dray.values.names import (
    byte_length,
    dns_label_faults,
    generated_name_stem,
    label_key_faults,
    label_value_faults,
)
from dray.values.quoting import quote

__all__ = [
    "MAX_ANNOTATIONS_BYTES",
    "check_annotations",
    "check_changed_metadata",
    "check_labels",
    "check_new_metadata",
    "check_owner_references",
]

MAX_ANNOTATIONS_BYTES = 256 * 1024
"""All keys and values together."""
_MAX_MANAGER_BYTES = 128
_MAX_SUBRESOURCE_BYTES = 256
_ORPHAN, _FOREGROUND = "orphan", "foregroundDeletion"
_STANDARD_FINALIZERS = frozenset({"kubernetes", _ORPHAN, _FOREGROUND})
_IMMUTABLE = "field is immutable"
_UNCHANGEABLE: tuple[tuple[str, Callable[[ObjectMeta], object]], ...] = (
    ("name", lambda meta: meta.name),
    ("namespace", lambda meta: meta.namespace),
    ("uid", lambda meta: meta.uid),
    ("creationTimestamp", lambda meta: meta.creation_timestamp),
    ("deletionTimestamp", lambda meta: meta.deletion_timestamp),
    ("deletionGracePeriodSeconds", lambda meta: meta.deletion_grace_period_seconds),
)

NameRule = Callable[[str], Sequence[str]]


def check_new_metadata(new: ApiObject, kind: Kind[Any]) -> list[FieldError]:
    """Faults of the metadata of an object to be created."""
    meta = new.metadata
    return [
        *_check_names(meta, kind.name_faults),
        *_check_namespace(meta.namespace, is_namespaced=kind.is_namespaced),
        *_check_contents(meta),
        *_check_finalizers(meta.finalizers),
        *_check_managed_fields(meta.managed_fields),
        *_check_finalizer_domains(meta.finalizers),
    ]


def check_changed_metadata(new: ApiObject, old: ApiObject) -> list[FieldError]:
    """Faults of the metadata of an object that takes the place of `old`."""
    meta, before = new.metadata, old.metadata
    faults: list[FieldError] = []
    if meta.finalizers != before.finalizers:
        faults += _check_finalizers(meta.finalizers)
    if before.deletion_timestamp is not None:
        faults += _check_no_new_finalizers(meta.finalizers, before.finalizers)
    if not meta.resource_version:
        faults.append(invalid(METADATA / "resourceVersion", "", "must be specified for an update"))
    if meta.generation < before.generation:
        faults.append(invalid(METADATA / "generation", meta.generation, "must not be decremented"))
    for name, get in _UNCHANGEABLE:
        if get(meta) != get(before):
            faults.append(invalid(METADATA / name, get(meta), _IMMUTABLE))
    if _contents(meta) != _contents(before):
        faults += _check_contents(meta, is_update=True)
    faults += _check_managed_fields(meta.managed_fields)
    faults += _check_finalizer_domains(meta.finalizers)
    return faults


def _contents(meta: ObjectMeta) -> tuple[object, ...]:
    return meta.labels, meta.annotations, meta.owner_references


def check_labels(labels: Mapping[str, str], path: FieldPath) -> list[FieldError]:
    """Faults of label keys and values; they all point at the map."""
    faults: list[FieldError] = []
    for label, value in labels.items():
        faults += [invalid(path, label, fault) for fault in label_key_faults(label)]
        faults += [invalid(path, value, fault) for fault in label_value_faults(value)]
    return faults


def check_annotations(annotations: Mapping[str, str], path: FieldPath) -> list[FieldError]:
    """Faults of annotation keys, which may have upper case letters, and of the size of all annotations."""
    faults = [invalid(path, name, fault) for name in annotations for fault in label_key_faults(name.lower())]
    if sum(byte_length(name) + byte_length(value) for name, value in annotations.items()) > MAX_ANNOTATIONS_BYTES:
        faults.append(too_long(path, MAX_ANNOTATIONS_BYTES))
    return faults


def check_owner_references(references: Sequence[OwnerReference], path: FieldPath) -> list[FieldError]:
    """Faults of owner references: each complete, no Event, at most one controller."""
    faults: list[FieldError] = []
    controller: OwnerReference | None = None
    for index, each in enumerate(references):
        faults += _check_owner_reference(each, path / index)
        if not each.controller:
            continue
        if controller is not None:
            detail = (
                'Only one reference can have Controller set to true. Found "true" in references for '
                f"{controller.kind}/{controller.name} and {each.kind}/{each.name}"
            )
            faults.append(invalid(path, references, detail))
        controller = controller or each
    return faults


def _check_owner_reference(reference: OwnerReference, path: FieldPath) -> Iterator[FieldError]:
    group, slash, version = reference.api_version.partition("/")
    if not reference.api_version:
        yield required(path / "apiVersion", "must not be empty")
    elif "/" in version or (slash and not version):
        yield invalid(path / "apiVersion", reference.api_version, "must be <group>/<version> or <version>")
    for name, value in (("kind", reference.kind), ("name", reference.name), ("uid", reference.uid)):
        if not value:
            yield required(path / name, "must not be empty")
    if (group, slash, reference.kind) == ("v1", "", "Event"):
        yield invalid(path, reference, "/v1, Kind=Event is disallowed from being an owner")


def _check_names(meta: ObjectMeta, name_faults: NameRule) -> Iterator[FieldError]:
    if meta.generate_name:
        for fault in name_faults(generated_name_stem(meta.generate_name)):
            yield invalid(METADATA / "generateName", meta.generate_name, fault)
    if not meta.name:
        yield required(METADATA / "name", "name or generateName is required")
    else:
        for fault in name_faults(meta.name):
            yield invalid(METADATA / "name", meta.name, fault)


def _check_namespace(namespace: str, *, is_namespaced: bool) -> Iterator[FieldError]:
    path = METADATA / "namespace"
    if not is_namespaced:
        if namespace:
            yield forbidden(path, "not allowed on this type")
    elif not namespace:
        yield required(path)
    else:
        for fault in dns_label_faults(namespace):
            yield invalid(path, namespace, fault)


def _check_contents(meta: ObjectMeta, *, is_update: bool = False) -> list[FieldError]:
    faults: list[FieldError] = []
    if meta.generation < 0 and not is_update:
        faults.append(invalid(METADATA / "generation", meta.generation, "must be greater than or equal to 0"))
    faults += check_labels(meta.labels, METADATA / "labels")
    faults += check_annotations(meta.annotations, METADATA / "annotations")
    faults += check_owner_references(meta.owner_references, METADATA / "ownerReferences")
    return faults


def _check_finalizers(finalizers: Sequence[str]) -> Iterator[FieldError]:
    path = METADATA / "finalizers"
    for finalizer in finalizers:
        for fault in label_key_faults(finalizer):
            yield invalid(path, finalizer, fault)
    if _ORPHAN in finalizers and _FOREGROUND in finalizers:
        yield invalid(path, finalizers, f"finalizer {_ORPHAN} and {_FOREGROUND} cannot be both set")


def _check_finalizer_domains(finalizers: Sequence[str]) -> Iterator[FieldError]:
    for index, finalizer in enumerate(finalizers):
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            detail = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(
                METADATA / "finalizers" / index,
                finalizer,
                detail,
                hint=f"put a domain of yours before it: x.org/{finalizer}",
            )


def _check_no_new_finalizers(finalizers: Sequence[str], before: Sequence[str]) -> Iterator[FieldError]:
    added = sorted(set(finalizers) - set(before))
    if added:
        listed = ", ".join(map(quote, added))
        detail = (
            f"no new finalizers can be added if the object is being deleted, found new finalizers []string{{{listed}}}"
        )
        yield forbidden(METADATA / "finalizers", detail)


def _check_managed_fields(entries: Sequence[ManagedFieldsEntry]) -> Iterator[FieldError]:
    for index, entry in enumerate(entries):
        path = METADATA / "managedFields" / index
        if entry.operation not in ("Apply", "Update"):
            yield invalid(path / "operation", entry.operation, "must be `Apply` or `Update`")
        if entry.fields_type not in ("", "FieldsV1"):
            yield invalid(path / "fieldsType", entry.fields_type, "must be `FieldsV1`")
        if byte_length(entry.manager) > _MAX_MANAGER_BYTES:
            yield too_long(path / "manager", _MAX_MANAGER_BYTES)
        if not entry.manager.isprintable():
            yield invalid(path / "manager", entry.manager, "should only contain printable characters")
        if byte_length(entry.subresource) > _MAX_SUBRESOURCE_BYTES:
            yield too_long(path / "subresource", _MAX_SUBRESOURCE_BYTES)
