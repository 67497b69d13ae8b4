"""Environment variables, and references to fields and amounts of a pod."""

from collections.abc import Iterator, Sequence

from dray.api.core.checks.naming import choice_faults, config_key_path_faults, key_faults, subdomain_faults
from dray.api.core.environment import (
    ConfigMapKeySelector,
    EnvFromSource,
    EnvVar,
    EnvVarSource,
    FileKeySelector,
    ObjectFieldSelector,
    ResourceFieldSelector,
    SecretKeySelector,
)
from dray.errors import FieldError, invalid, required
from dray.values.fieldpath import FieldPath
from dray.values.names import environment_name_faults

__all__ = [
    "VOLUME_FIELDS",
    "environment_faults",
    "environment_source_faults",
    "field_ref_faults",
    "resource_ref_faults",
]

_ANY_FIELDS = frozenset(
    {
        *("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid"),
        *("spec.nodeName", "spec.restartPolicy", "spec.serviceAccountName", "spec.schedulerName", "spec.host"),
        *("status.phase", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
    }
)
_VARIABLE_FIELDS = (
    *("metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName"),
    *("status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"),
)
VOLUME_FIELDS = ("metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace", "metadata.uid")
_AMOUNTS = tuple(f"{part}.{name}" for part in ("limits", "requests") for name in ("cpu", "ephemeral-storage", "memory"))
_CPU_UNITS = ("1m", "1")
_BYTE_UNITS = ("1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei")


def environment_faults(variables: Sequence[EnvVar], path: FieldPath) -> Iterator[FieldError]:
    """Names that can be variables, each with a value or one source. Repeated names are fine: the last one wins."""
    for index, variable in enumerate(variables):
        at = path / index
        if not variable.name:
            yield required(at / "name")
        for detail in environment_name_faults(variable.name) if variable.name else ():
            yield invalid(at / "name", variable.name, detail)
        if variable.value_from is not None:
            yield from _source_faults(variable.value, variable.value_from, at / "valueFrom")


def _source_faults(value: str, source: EnvVarSource, path: FieldPath) -> Iterator[FieldError]:
    if source.field_ref is not None:
        yield from field_ref_faults(source.field_ref, _VARIABLE_FIELDS, path / "fieldRef")
    if source.resource_field_ref is not None:
        yield from resource_ref_faults(source.resource_field_ref, path / "resourceFieldRef", in_volume=False)
    if source.config_map_key_ref is not None:
        yield from _key_ref_faults(source.config_map_key_ref, path / "configMapKeyRef")
    if source.secret_key_ref is not None:
        yield from _key_ref_faults(source.secret_key_ref, path / "secretKeyRef")
    if source.file_key_ref is not None:
        yield from _file_ref_faults(source.file_key_ref, path / "fileKeyRef")
    references = (
        source.field_ref,
        source.resource_field_ref,
        source.config_map_key_ref,
        source.secret_key_ref,
        source.file_key_ref,
    )
    count = sum(each is not None for each in references)
    if not count:
        known = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        yield invalid(path, "", f"must specify one of: {known}")
    elif value:
        yield invalid(path, "", "may not be specified when `value` is not empty", hint="remove value or valueFrom")
    elif count > 1:
        yield invalid(path, "", "may not have more than one field specified at a time")


def field_ref_faults(selector: ObjectFieldSelector, supported: Sequence[str], path: FieldPath) -> Iterator[FieldError]:
    """A field of the pod that may be shown here."""
    if not selector.api_version:
        yield required(path / "apiVersion")
        return
    if not selector.field_path:
        yield required(path / "fieldPath")
        return
    name, bracket, subscript = selector.field_path.partition("['")
    if name not in _ANY_FIELDS:
        detail = f"error converting fieldPath: field label not supported: {selector.field_path}"
        yield invalid(path / "fieldPath", selector.field_path, detail)
    elif not bracket:
        yield from choice_faults("spec.nodeName" if name == "spec.host" else name, supported, path / "fieldPath")
    elif name == "metadata.annotations":
        yield from key_faults(subscript.removesuffix("']").lower(), path)
    elif name == "metadata.labels":
        yield from key_faults(subscript.removesuffix("']"), path)
    else:
        yield invalid(path, name, "does not support subscript")


def resource_ref_faults(selector: ResourceFieldSelector, path: FieldPath, *, in_volume: bool) -> Iterator[FieldError]:
    """An amount of a container, in a unit that makes sense for it."""
    if in_volume and not selector.container_name:
        yield required(path / "containerName")
    elif not selector.resource:
        yield required(path / "resource")
    elif not selector.resource.startswith(("limits.hugepages-", "requests.hugepages-")):
        yield from choice_faults(selector.resource, _AMOUNTS, path / "resource")
    yield from _unit_faults(selector, path / "divisor")


def _unit_faults(selector: ResourceFieldSelector, path: FieldPath) -> Iterator[FieldError]:
    name = selector.resource.partition(".")[2]
    units = _CPU_UNITS if name == "cpu" else _BYTE_UNITS
    if name and not selector.divisor.is_zero and str(selector.divisor) not in units:
        yield invalid(path, name, f"only divisor's values {', '.join(units)} are supported with the {name} resource")


def _key_ref_faults(selector: ConfigMapKeySelector | SecretKeySelector, path: FieldPath) -> Iterator[FieldError]:
    yield from subdomain_faults(selector.name, path / "name")
    yield from config_key_path_faults(selector.key, path / "key")


def _file_ref_faults(selector: FileKeySelector, path: FieldPath) -> Iterator[FieldError]:
    for name, text in (("volumeName", selector.volume_name), ("path", selector.path), ("key", selector.key)):
        if not text:
            yield required(path / name)


def environment_source_faults(sources: Sequence[EnvFromSource], path: FieldPath) -> Iterator[FieldError]:
    """One named source each."""
    for index, source in enumerate(sources):
        at = path / index
        for detail in environment_name_faults(source.prefix) if source.prefix else ():
            yield invalid(at / "prefix", source.prefix, detail)
        if source.config_map_ref is not None and not source.config_map_ref.name:
            yield required(at / "configMapRef" / "name")
        if source.secret_ref is not None and not source.secret_ref.name:
            yield required(at / "secretRef" / "name")
        # The API server reports these two at the list, not at the entry.
        if source.config_map_ref is None and source.secret_ref is None:
            yield invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif source.config_map_ref is not None and source.secret_ref is not None:
            yield invalid(path, "", "may not have more than one field specified at a time")
