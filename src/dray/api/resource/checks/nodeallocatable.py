"""What a device stands for, or costs, in resources of its node such as cpu and memory."""

from collections.abc import Iterator, Mapping

from dray.api.resource.checks.report import Report
from dray.api.resource.device import (
    DeviceCapacity,
    NodeAllocatableMapping,
    NodeAllocatableOverhead,
    NodeAllocatableResource,
)
from dray.errors import FieldError, invalid, not_found, required
from dray.values.fieldpath import FieldPath, key

__all__ = ["inspect_node_allocatable_resources"]

_RULES = "`capacityKey`, `deviceMultiplier`"


def inspect_node_allocatable_resources(
    resources: Mapping[str, NodeAllocatableResource],
    capacities: Mapping[str, DeviceCapacity],
    path: FieldPath,
    report: Report,
) -> None:
    """Only resources that nodes hand out are named, and amounts come from rules that can be computed."""
    for name, resource in resources.items():
        at = path / key(name)
        if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
            hint = "use cpu, memory or hugepages-<size>"
            report.add(invalid(at, name, "must be a node allocatable resource name", hint=hint))
        if resource.mapping is None and resource.overhead is None:
            report.add(required(at, "at least one of mapping or overhead must be set"))
        if resource.mapping is not None:
            report.add_all(_mapping_faults(resource.mapping, capacities, at / "mapping"))
            _inspect_rule(resource.mapping, at / "mapping", report)
        if resource.overhead is not None:
            report.add_all(_overhead_faults(resource.overhead, at / "overhead"))


def _mapping_faults(
    mapping: NodeAllocatableMapping, capacities: Mapping[str, DeviceCapacity], path: FieldPath
) -> Iterator[FieldError]:
    by_capacity, multiplier = mapping.capacity_key, mapping.capacity_multiplier
    if by_capacity is not None:
        if not by_capacity:
            yield invalid(path / "capacityKey", "", "capacityKey must not be an empty string")
        elif by_capacity not in capacities:
            hint = f"use one of {', '.join(sorted(capacities))}" if capacities else "give the device that capacity"
            yield not_found(path / "capacityKey", by_capacity, hint=hint)
        if multiplier is not None and multiplier.sign <= 0:
            yield invalid(path / "capacityMultiplier", str(multiplier), "must be positive")
    if mapping.device_multiplier is not None and mapping.device_multiplier.sign <= 0:
        yield invalid(path / "deviceMultiplier", str(mapping.device_multiplier), "must be positive")


def _inspect_rule(mapping: NodeAllocatableMapping, path: FieldPath, report: Report) -> None:
    if mapping.capacity_key is not None and mapping.capacity_multiplier is None:
        detail = "capacityMultiplier is required when capacityKey is set"
        report.declare(required(path / "capacityMultiplier", detail))
    if mapping.capacity_key is None and mapping.capacity_multiplier is not None:
        report.declare(required(path / "capacityKey", "capacityKey is required when capacityMultiplier is set"))
    if mapping.capacity_key is None and mapping.device_multiplier is None:
        report.declare(invalid(path, "", f"must specify one of: {_RULES}"))
    elif mapping.capacity_key is not None and mapping.device_multiplier is not None:
        shown = "{capacityKey, deviceMultiplier}"
        hint = "remove deviceMultiplier, or remove capacityKey with capacityMultiplier"
        report.declare(invalid(path, shown, f"must specify exactly one of: {_RULES}", hint=hint))


def _overhead_faults(overhead: NodeAllocatableOverhead, path: FieldPath) -> Iterator[FieldError]:
    if overhead.per_pod is None and overhead.per_container is None:
        yield invalid(path, "", "at least one of perPod or perContainer must be set")
    if overhead.per_pod is not None and overhead.per_pod.sign < 0:
        yield invalid(path / "perPod", str(overhead.per_pod), "must be non-negative")
    if overhead.per_container is not None and overhead.per_container.sign < 0:
        yield invalid(path / "perContainer", str(overhead.per_container), "must be non-negative")
