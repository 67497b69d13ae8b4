"""Where volumes appear in containers."""

from collections.abc import Iterator, Mapping

from dray.api.core.checks.naming import choice_faults, suggest
from dray.api.core.containers import Container, EphemeralContainer, VolumeMount
from dray.api.core.volumes import Volume
from dray.errors import FieldError, forbidden, invalid, not_found, required
from dray.values.fieldpath import FieldPath

__all__ = ["descending_path_faults", "device_faults", "mount_faults", "no_backstep_faults"]

AnyContainer = Container | EphemeralContainer

_PROPAGATIONS = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def no_backstep_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A path that does not climb."""
    if ".." in text.split("/"):
        yield invalid(path, text, "must not contain '..'")


def descending_path_faults(text: str, path: FieldPath) -> Iterator[FieldError]:
    """A relative path that stays below where it starts."""
    if text.startswith("/"):
        yield invalid(path, text, "must be a relative path")
    yield from no_backstep_faults(text, path)


def mount_faults(container: AnyContainer, volumes: Mapping[str, Volume], path: FieldPath) -> Iterator[FieldError]:
    """Every mount shows a volume of the pod, each at a path of its own."""
    paths: set[str] = set()
    device_names = {device.name for device in container.volume_devices}
    device_paths = {device.device_path for device in container.volume_devices}
    for index, mount in enumerate(container.volume_mounts):
        at = path / index
        if not mount.name:
            yield required(at / "name")
        if mount.name not in volumes:
            yield not_found(at / "name", mount.name, hint=_volume_hint(mount.name, volumes))
        if not mount.mount_path:
            yield required(at / "mountPath")
        if mount.mount_path in paths:
            yield invalid(at / "mountPath", mount.mount_path, "must be unique")
        paths.add(mount.mount_path)
        if mount.name in device_names:
            yield invalid(at / "name", mount.name, "must not already exist in volumeDevices")
        if mount.mount_path in device_paths:
            yield invalid(at / "mountPath", mount.mount_path, "must not already exist as a path in volumeDevices")
        # The API server places the faults of these fields at the list, not at the entry.
        yield from _sub_path_faults(mount, at, path)
        yield from _propagation_faults(mount, container, path)


def _volume_hint(name: str, volumes: Mapping[str, Volume]) -> str | None:
    return suggest(name, volumes) or (f"add a volume named {name} to spec.volumes" if name else None)


def _sub_path_faults(mount: VolumeMount, at: FieldPath, mounts: FieldPath) -> Iterator[FieldError]:
    if mount.sub_path:
        yield from descending_path_faults(mount.sub_path, mounts / "subPath")
    if mount.sub_path_expr:
        if mount.sub_path:
            yield invalid(at / "subPathExpr", mount.sub_path_expr, "subPathExpr and subPath are mutually exclusive")
        yield from descending_path_faults(mount.sub_path_expr, mounts / "subPathExpr")


def _propagation_faults(mount: VolumeMount, container: AnyContainer, mounts: FieldPath) -> Iterator[FieldError]:
    propagation, recursive = mount.mount_propagation, mount.recursive_read_only
    if propagation is not None:
        yield from choice_faults(propagation, _PROPAGATIONS, mounts / "mountPropagation")
        rights = container.security_context
        if propagation == "Bidirectional" and not (rights is not None and rights.privileged):
            detail = "Bidirectional mount propagation is available only to privileged containers"
            yield forbidden(mounts / "mountPropagation", detail)
    if recursive is None:
        return
    at = mounts / "recursiveReadOnly"
    yield from choice_faults(recursive, _RECURSIVE, at)
    if recursive in ("Enabled", "IfPossible"):
        if not mount.read_only:
            yield forbidden(at, "may only be specified when readOnly is true")
        if propagation not in (None, "None"):
            yield forbidden(at, "may only be specified when mountPropagation is None or not specified")


def device_faults(container: AnyContainer, volumes: Mapping[str, Volume], path: FieldPath) -> Iterator[FieldError]:
    """Every device shows a block volume of the pod, each volume and each path once."""
    names: set[str] = set()
    paths: set[str] = set()
    mount_names = {mount.name for mount in container.volume_mounts}
    mount_paths = {mount.mount_path for mount in container.volume_mounts}
    for index, device in enumerate(container.volume_devices):
        at = path / index
        if not device.name:
            yield required(at / "name")
        elif device.name in names:
            yield invalid(at / "name", device.name, "must be unique")
        names.add(device.name)
        yield from _block_faults(device.name, volumes, at / "name")
        if not device.device_path:
            yield required(at / "devicePath")
        elif device.device_path in paths:
            yield invalid(at / "devicePath", device.device_path, "must be unique")
        paths.add(device.device_path)
        yield from no_backstep_faults(device.device_path, at / "devicePath")
        if device.name in mount_names:
            yield invalid(at / "name", device.name, "must not already exist in volumeMounts")
        if device.device_path in mount_paths:
            yield invalid(at / "devicePath", device.device_path, "must not already exist as a path in volumeMounts")


def _block_faults(name: str, volumes: Mapping[str, Volume], path: FieldPath) -> Iterator[FieldError]:
    volume = volumes.get(name)
    if volume is None:
        yield not_found(path, name, hint=_volume_hint(name, volumes))
    elif volume.persistent_volume_claim is None and volume.ephemeral is None:
        detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
        yield invalid(path, name, detail)
