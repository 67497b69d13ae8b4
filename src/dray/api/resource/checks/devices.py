"""Devices of a slice."""

from collections.abc import Mapping

from dray.api.resource.checks.attributes import count_values, inspect_attributes
from dray.api.resource.checks.binding import inspect_binding_conditions
from dray.api.resource.checks.capacity import inspect_capacities
from dray.api.resource.checks.counters import inspect_consumptions
from dray.api.resource.checks.lists import fits
from dray.api.resource.checks.names import check_label, check_node_name
from dray.api.resource.checks.nodeallocatable import inspect_node_allocatable_resources
from dray.api.resource.checks.nodeselector import check_node_selector
from dray.api.resource.checks.report import Report
from dray.api.resource.checks.taints import inspect_taint
from dray.api.resource.device import Device
from dray.errors import invalid, required
from dray.values.fieldpath import FieldPath

__all__ = ["inspect_device"]

_MAX_ENTRIES = 32
_MAX_VALUES = 48
_MAX_TAINTS = 16
_NO_DEVICE = Device()
_ONE_OF = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true "
    "in the ResourceSlice spec"
)
_NONE_OF = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the "
    "ResourceSlice spec"
)


def inspect_device(
    device: Device, stored: Mapping[str, Device], path: FieldPath, report: Report, *, selects_nodes: bool
) -> None:
    """Everything about one device by itself.

    `stored` has the devices of the stored slice by name: taints and capacity that are there already, unchanged, are not
    looked at again. `selects_nodes` says whether each device of the slice names its nodes itself.
    """
    old = stored.get(device.name, _NO_DEVICE)
    report.add_all(check_label(device.name, path / "name"))
    _inspect_totals(device, path, report)
    inspect_attributes(device.attributes, path / "attributes", report)
    if device.capacity and device.capacity != old.capacity:
        is_shareable = device.allow_multiple_allocations is True
        inspect_capacities(device.capacity, path / "capacity", report, is_shareable=is_shareable)
    if device.taints != old.taints:
        within = report if fits(device.taints, _MAX_TAINTS, path / "taints", report.add) else report.declared_only()
        for index, taint in enumerate(device.taints):
            inspect_taint(taint, path / "taints" / index, within)
    inspect_consumptions(device.consumes_counters, old.consumes_counters, path / "consumesCounters", report)
    if selects_nodes:
        _inspect_nodes(device, path, report)
    elif device.node_name is not None or device.node_selector is not None or device.all_nodes is not None:
        report.add(invalid(path, None, _NONE_OF, hint="set perDeviceNodeSelection to true, or remove these fields"))
    inspect_binding_conditions(device.binding_conditions, device.binding_failure_conditions, path, report)
    if device.node_allocatable_resources:
        at = path / "nodeAllocatableResources"
        inspect_node_allocatable_resources(device.node_allocatable_resources, device.capacity, at, report)


def _inspect_totals(device: Device, path: FieldPath, report: Report) -> None:
    entries = len(device.attributes) + len(device.capacity)
    if entries > _MAX_ENTRIES:
        detail = f"the total number of attributes and capacities must not exceed {_MAX_ENTRIES}"
        report.add(invalid(path, entries, detail, hint=f"remove {entries - _MAX_ENTRIES} of them"))
    values = sum(map(count_values, device.attributes.values()))
    if values > _MAX_VALUES:
        detail = f"the total number of attribute values must not exceed {_MAX_VALUES}"
        report.add(invalid(path, values, detail, hint=f"remove {values - _MAX_VALUES} of them"))


def _inspect_nodes(device: Device, path: FieldPath, report: Report) -> None:
    given: list[str] = []
    if device.node_name:
        given.append("`nodeName`")
        report.add_all(check_node_name(device.node_name, path / "nodeName"))
    elif device.node_name is not None:
        report.add(invalid(path / "nodeName", "", "must not be empty"))
    if device.node_selector is not None:
        given.append("`nodeSelector`")
        report.add_all(check_node_selector(device.node_selector, path / "nodeSelector"))
    if device.all_nodes:
        given.append("`allNodes`")
    elif device.all_nodes is not None:
        report.add(invalid(path / "allNodes", value=False, detail="must be either unset or set to true"))
    if not given:
        report.add(required(path, _ONE_OF, hint="set nodeName, nodeSelector or allNodes"))
    elif len(given) > 1:
        report.add(invalid(path, f"{{{', '.join(given)}}}", _ONE_OF, hint=f"keep {given[0].strip('`')} alone"))
