"""Checks of `ResourceSlice`."""

from collections.abc import Mapping, Sequence

from dray.api.checks import CheckContext
from dray.api.resource.checks.attributes import has_list
from dray.api.resource.checks.counters import inspect_counter_sets
from dray.api.resource.checks.devices import inspect_device
from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import (
    check_driver_name,
    check_fully_qualified_name,
    check_node_name,
    check_pool_name,
)
from dray.api.resource.checks.nodeselector import check_node_selector
from dray.api.resource.checks.operations import inspect_skipped_operations
from dray.api.resource.checks.report import Report
from dray.api.resource.device import Device
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.errors import FieldError, invalid, required
from dray.values.fieldpath import SPEC, FieldPath, key

__all__ = ["create_checks", "update_checks"]

_MAX_DEVICES = 128
_MAX_ADVANCED_DEVICES = 64
_NO_DEVICES: Mapping[str, Device] = {}
_ONE_OF = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_NOT_TRUE = "must be either unset or set to true"
_IMMUTABLE = "field is immutable"
_IMMUTABLE_HINT = "keep it, or delete the slice and create another one"


def check_slice(new: ResourceSlice, old: ResourceSlice | None, context: CheckContext) -> list[FieldError]:
    """Every fault of a new slice, or of a changed one."""
    report = Report(context)
    spec, stored = new.spec, old.spec if old is not None else None
    report.add_all(check_driver_name(spec.driver, SPEC / "driver"))
    _inspect_pool(spec.pool, report)
    if stored is not None:
        _inspect_unchanged(spec, stored, report)
    _inspect_node_selection(spec, report)
    if spec.devices is not None and spec.shared_counters is not None:
        hint = "publish counters in a slice of their own"
        report.add(invalid(SPEC, "", "only one of `sharedCounters` or `devices` is allowed", hint=hint))
    _inspect_devices(spec, stored, report)
    inspect_counter_sets(spec.shared_counters or (), SPEC / "sharedCounters", report)
    if spec.partition_type_attribute is not None:
        _inspect_partition_type(spec, spec.partition_type_attribute, stored, report)
    if spec.skip_node_operations:
        are_stored = stored is not None and stored.skip_node_operations == spec.skip_node_operations
        inspect_skipped_operations(
            spec.skip_node_operations, SPEC / "skipNodeOperations", report, are_stored=are_stored
        )
    return report.faults()


create_checks = (check_slice,)
update_checks = (check_slice,)


def _inspect_pool(pool: ResourcePool, report: Report) -> None:
    at = SPEC / "pool"
    report.add_all(check_pool_name(pool.name, at / "name"))
    if pool.resource_slice_count <= 0:
        hint = "set it to the number of slices in the pool"
        count = pool.resource_slice_count
        report.add(invalid(at / "resourceSliceCount", count, "must be greater than zero", hint=hint))
    if pool.generation < 0:
        report.add(invalid(at / "generation", pool.generation, "must be greater than or equal to zero"))


def _inspect_unchanged(spec: ResourceSliceSpec, stored: ResourceSliceSpec, report: Report) -> None:
    if spec.pool.name != stored.pool.name:
        report.add(invalid(SPEC / "pool" / "name", spec.pool.name, _IMMUTABLE, hint=_IMMUTABLE_HINT))
    if spec.driver != stored.driver:
        report.add(invalid(SPEC / "driver", spec.driver, _IMMUTABLE, hint=_IMMUTABLE_HINT))
    if spec.node_name != stored.node_name:
        report.add(invalid(SPEC / "nodeName", spec.node_name, _IMMUTABLE, hint=_IMMUTABLE_HINT))


def _inspect_node_selection(spec: ResourceSliceSpec, report: Report) -> None:
    given: list[str] = []
    if spec.node_name:
        given.append("`nodeName`")
        report.add_all(check_node_name(spec.node_name, SPEC / "nodeName"))
    elif spec.node_name is not None:
        report.add(invalid(SPEC / "nodeName", "", "must be either unset or set to a non-empty string"))
    if spec.node_selector is not None:
        given.append("`nodeSelector`")
        at = SPEC / "nodeSelector"
        report.add_all(check_node_selector(spec.node_selector, at))
        terms = spec.node_selector.node_selector_terms
        if len(terms) != 1:
            report.add(invalid(at / "nodeSelectorTerms", terms or None, "must have exactly one node selector term"))
    for name, flag in (("allNodes", spec.all_nodes), ("perDeviceNodeSelection", spec.per_device_node_selection)):
        if flag:
            given.append(f"`{name}`")
        elif flag is not None:
            report.add(invalid(SPEC / name, flag, _NOT_TRUE, hint=f"remove {name}, or set it to true"))
    if not given:
        report.add(required(SPEC, _ONE_OF, hint="set nodeName, nodeSelector, allNodes or perDeviceNodeSelection"))
    elif len(given) > 1:
        shown, hint = f"{{{', '.join(given)}}}", f"keep {given[0].strip('`')} alone"
        report.add(invalid(SPEC, shown, f"{_ONE_OF}, but multiple fields are set", hint=hint))


def _inspect_devices(spec: ResourceSliceSpec, stored: ResourceSliceSpec | None, report: Report) -> None:
    devices, at = spec.devices or (), SPEC / "devices"
    if len(devices) > _MAX_ADVANCED_DEVICES:
        limit = _MAX_ADVANCED_DEVICES if any(map(_is_advanced, devices)) else _MAX_DEVICES
        if not fits(devices, limit, at, report.add):
            report = report.declared_only()
    # The first of several devices of one name is the one that counts as stored.
    stored_devices = {each.name: each for each in reversed(stored.devices or ())} if stored is not None else _NO_DEVICES
    selects_nodes = spec.per_device_node_selection is True
    for index, device in enumerate(devices):
        inspect_device(device, stored_devices, at / index, report, selects_nodes=selects_nodes)
    names = [each.name for each in devices]
    note_duplicates(names, names, at, report.add)


def _is_advanced(device: Device) -> bool:
    """Whether a device has what makes slices costly to allocate from; one such device halves the limit for all."""
    return bool(device.taints or device.consumes_counters or any(map(has_list, device.attributes.values())))


def _inspect_partition_type(
    spec: ResourceSliceSpec, name: str, stored: ResourceSliceSpec | None, report: Report
) -> None:
    """Every device that draws on counters says by the named attribute what type of partition it is."""
    at = SPEC / "partitionTypeAttribute"
    malformed = check_fully_qualified_name(name, at)
    if stored is None or stored.partition_type_attribute != name:
        report.declare_all(malformed)
    devices = spec.devices or ()
    if not any(each.consumes_counters for each in devices):
        detail = "may only be set on a slice which declares devices that consume counters"
        report.add(invalid(at, name, detail, hint="remove it from this slice"))
    elif not malformed:
        _inspect_partition_types(devices, name, name.removeprefix(f"{spec.driver}/"), report)


def _inspect_partition_types(devices: Sequence[Device], name: str, bare_name: str, report: Report) -> None:
    for index, device in enumerate(devices):
        if not device.consumes_counters:
            continue
        attribute = device.attributes.get(name) or device.attributes.get(bare_name)
        path: FieldPath = SPEC / "devices" / index / "attributes" / key(name)
        if attribute is None:
            detail = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            report.add(required(path, detail, hint="give the device the attribute as a string"))
        elif attribute.string is None:
            detail = "must be a string value because `partitionTypeAttribute` names this attribute"
            report.add(invalid(path, attribute, detail, hint="write the value as string"))
