"""What makes a CDI file valid, and which version of the format it needs.

A file states the oldest version that has all the fields it uses, so that older container runtimes take it too; a file
that states an older one is invalid. Every fault names the field and says what to do.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from dray.driver.cdi import CdiDevice, CdiSpec, ContainerEdits, DeviceNode, Hook, IntelRdt, Mount, NetDevice
from dray.errors import FieldError, duplicate, invalid, not_supported, required
from dray.values.fieldpath import ROOT, FieldPath, key
from dray.values.names import label_key_faults

__all__ = ["CDI_VERSIONS", "check_cdi_spec", "get_least_version"]

CDI_VERSIONS: Final = ("0.1.0", "0.2.0", "0.3.0", "0.4.0", "0.5.0", "0.6.0", "0.7.0", "0.8.0", "1.0.0", "1.1.0")
"""Every version of the format, oldest first."""
_LEAST: Final = "0.3.0"
_LABELS: Final = ("0.1.0", "0.2.0")
"""Versions before the first release: taken as labels, whatever the file uses."""

_KIND_PART = re.compile(r"[A-Za-z]([A-Za-z0-9_.-]*[A-Za-z0-9])?")
_DEVICE_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]*[A-Za-z0-9])?")
_HOOK_NAMES = ("prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop")
_NODE_TYPES = ("", "b", "c", "u", "p")
_PERMISSIONS = re.compile(r"[rwm]*|none")
_MAX_ANNOTATION_BYTES = 256 * 1024
_MAX_CLOS_LENGTH = 4096


def get_least_version(spec: CdiSpec) -> str:
    """The oldest version of the format that has every field which `spec` uses; what it states does not matter."""
    every_edit = [spec.container_edits, *(device.container_edits for device in spec.devices)]
    needed = [_LEAST, *(version for edits in every_edit for version in _versions_of_edits(edits))]
    if spec.annotations or any(device.annotations for device in spec.devices) or "." in spec.kind.partition("/")[2]:
        needed.append("0.6.0")
    if any(device.name[:1].isdigit() for device in spec.devices):
        needed.append("0.5.0")
    return max(needed, key=CDI_VERSIONS.index)


def _versions_of_edits(edits: ContainerEdits) -> Iterator[str]:
    if edits.net_devices or (edits.intel_rdt and (edits.intel_rdt.schemata or edits.intel_rdt.enable_monitoring)):
        yield "1.1.0"
    if edits.intel_rdt or edits.additional_gids:
        yield "0.7.0"
    if any(node.host_path for node in edits.device_nodes):
        yield "0.5.0"
    if any(mount.type for mount in edits.mounts):
        yield "0.4.0"


def check_cdi_spec(spec: CdiSpec) -> list[FieldError]:
    """Every fault of a CDI file."""
    faults = [*_check_version(spec), *_check_kind(spec.kind, ROOT / "kind")]
    faults += _check_annotations(spec.annotations, ROOT / "annotations")
    if not spec.devices:
        faults.append(required(ROOT / "devices", "at least one device"))
    seen: set[str] = set()
    for index, device in enumerate(spec.devices):
        at = ROOT / "devices" / index
        if device.name in seen:
            faults.append(duplicate(at / "name", device.name))
        seen.add(device.name)
        faults += _check_device(device, at)
    return faults + _check_edits(spec.container_edits, ROOT / "containerEdits")


def _check_version(spec: CdiSpec) -> Iterator[FieldError]:
    at, stated, least = ROOT / "cdiVersion", spec.cdi_version.removeprefix("v"), get_least_version(spec)
    if stated not in CDI_VERSIONS:
        yield not_supported(at, spec.cdi_version, CDI_VERSIONS)
    elif stated not in _LABELS and CDI_VERSIONS.index(stated) < CDI_VERSIONS.index(least):
        yield invalid(at, spec.cdi_version, f"the fields used need {least}", hint=f"state {least}")


def _check_kind(kind: str, at: FieldPath) -> Iterator[FieldError]:
    vendor, slash, device_class = kind.partition("/")
    if not (slash and _KIND_PART.fullmatch(vendor) and _KIND_PART.fullmatch(device_class)):
        detail = (
            "must be <vendor>/<class>, each of letters, digits, '_', '-' and '.', beginning with a letter and "
            "ending with a letter or digit"
        )
        yield invalid(at, kind, detail)
    elif len(vendor) > 253 or len(device_class) > 63:
        yield invalid(at, kind, "the vendor has at most 253 characters, the class at most 63")


def _check_annotations(annotations: Mapping[str, str], at: FieldPath) -> Iterator[FieldError]:
    for name in annotations:
        for fault in label_key_faults(name.lower()):
            yield invalid(at / key(name), name, fault)
    if sum(len(name.encode()) + len(value.encode()) for name, value in annotations.items()) > _MAX_ANNOTATION_BYTES:
        yield invalid(at, "", f"at most {_MAX_ANNOTATION_BYTES} bytes in all")


def _check_device(device: CdiDevice, at: FieldPath) -> Iterator[FieldError]:
    if not _DEVICE_NAME.fullmatch(device.name):
        detail = "must be letters, digits, '_', '-', '.' and ':', beginning and ending with a letter or digit"
        yield invalid(at / "name", device.name, detail)
    yield from _check_annotations(device.annotations, at / "annotations")
    if device.container_edits.is_empty:
        yield required(at / "containerEdits", "a device must change something", hint="leave the device out of the file")
    yield from _check_edits(device.container_edits, at / "containerEdits")


def _check_edits(edits: ContainerEdits, at: FieldPath) -> list[FieldError]:
    faults = list(_check_env(edits.env, at / "env"))
    for index, node in enumerate(edits.device_nodes):
        faults += _check_node(node, at / "deviceNodes" / index)
    faults += _check_net_devices(edits.net_devices, at / "netDevices")
    for index, mount in enumerate(edits.mounts):
        faults += _check_mount(mount, at / "mounts" / index)
    for index, hook in enumerate(edits.hooks):
        faults += _check_hook(hook, at / "hooks" / index)
    if edits.intel_rdt is not None:
        faults += _check_rdt(edits.intel_rdt, at / "intelRdt")
    return faults


def _check_env(entries: Iterable[str], at: FieldPath) -> Iterator[FieldError]:
    for index, entry in enumerate(entries):
        name, equals, _ = entry.partition("=")
        if not (name and equals):
            yield invalid(at / index, entry, "must be NAME=VALUE", hint="write it with dray.driver.env")


def _check_node(node: DeviceNode, at: FieldPath) -> Iterator[FieldError]:
    if not node.path:
        yield required(at / "path", "where the device file appears in the container")
    if node.type not in _NODE_TYPES:
        yield not_supported(at / "type", node.type, _NODE_TYPES[1:])
    if not _PERMISSIONS.fullmatch(node.permissions):
        yield invalid(at / "permissions", node.permissions, "must be some of r, w and m, or none")


def _check_net_devices(devices: tuple[NetDevice, ...], at: FieldPath) -> Iterator[FieldError]:
    taken: set[tuple[str, str]] = set()
    for index, device in enumerate(devices):
        for field, name in (("hostInterfaceName", device.host_interface_name), ("name", device.name)):
            if not name:
                yield required(at / index / field)
            elif (field, name) in taken:
                yield duplicate(at / index / field, name)
            taken.add((field, name))


def _check_mount(mount: Mount, at: FieldPath) -> Iterator[FieldError]:
    for field, path in (("hostPath", mount.host_path), ("containerPath", mount.container_path)):
        if not path:
            yield required(at / field)


def _check_hook(hook: Hook, at: FieldPath) -> Iterator[FieldError]:
    if hook.hook_name not in _HOOK_NAMES:
        yield not_supported(at / "hookName", hook.hook_name, _HOOK_NAMES)
    if not hook.path:
        yield required(at / "path", "the program to run")
    yield from _check_env(hook.env, at / "env")


def _check_rdt(rdt: IntelRdt, at: FieldPath) -> Iterator[FieldError]:
    name = rdt.clos_id
    is_file_name = name not in (".", "..") and not set(name) & {"/", "\n"} and len(name) < _MAX_CLOS_LENGTH
    if name != "/" and not is_file_name:
        yield invalid(at / "closID", name, "must be a file name, or /")
