"""What an API server dropped of a slice, and which feature is probably switched off there."""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Final

from dray.api.resource.device import Device
from dray.api.resource.slice import ResourceSliceSpec

__all__ = ["find_dropped_features"]

_NO_DEVICE: Final = Device()


def find_dropped_features(sent: ResourceSliceSpec, stored: ResourceSliceSpec) -> tuple[str, ...]:
    """The features, sorted; `unknown` if something is missing that no feature explains."""
    return tuple(sorted(set(_compare(sent, stored)))) or ("unknown",)


def _compare(sent: ResourceSliceSpec, stored: ResourceSliceSpec) -> Iterator[str]:
    if sent.per_device_node_selection != stored.per_device_node_selection or sent.shared_counters != (
        stored.shared_counters
    ):
        yield "DRAPartitionableDevices"
    if sent.partition_type_attribute != stored.partition_type_attribute:
        yield "DRAPartitionableDevicesType"
    if sent.skip_node_operations != stored.skip_node_operations:
        yield "DRAOptionalNodeOperations"
    yield from _compare_devices(sent.devices or (), stored.devices or ())


def _compare_devices(sent: Sequence[Device], stored: Sequence[Device]) -> Iterator[str]:
    for before, after in zip_longest(sent, stored, fillvalue=_NO_DEVICE):
        if len(before.taints) > len(after.taints):
            yield "DRADeviceTaints"
        if len(before.consumes_counters) > len(after.consumes_counters):
            yield "DRAPartitionableDevices"
        elif any(each.compatibility_groups for each in before.consumes_counters) and not any(
            each.compatibility_groups for each in after.consumes_counters
        ):
            yield "DRADeviceCompatibilityGroups"
        if before.binding_conditions != after.binding_conditions or before.binding_failure_conditions != (
            after.binding_failure_conditions
        ):
            yield "DRADeviceBindingConditions"
        if before.allow_multiple_allocations != after.allow_multiple_allocations:
            yield "DRAConsumableCapacity"
