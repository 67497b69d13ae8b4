"""What a claim was given: allocated devices, their configuration, and the nodes they can be used from."""

from collections.abc import Sequence

from dray.api.resource.allocation import (
    AllocationConfigSource,
    AllocationResult,
    DeviceAllocationConfiguration,
    DeviceRequestAllocationResult,
)
from dray.api.resource.checks.binding import inspect_binding_conditions
from dray.api.resource.checks.config import MAX_CONFIGS, inspect_opaque
from dray.api.resource.checks.lists import fits
from dray.api.resource.checks.names import (
    check_declared_driver_name,
    check_declared_pool_name,
    check_label,
    check_share_id,
)
from dray.api.resource.checks.nodeselector import check_node_selector
from dray.api.resource.checks.operations import inspect_skipped_operations
from dray.api.resource.checks.references import RequestNames, inspect_reference, inspect_references
from dray.api.resource.checks.report import Report
from dray.api.resource.checks.taints import inspect_tolerations
from dray.errors import not_supported, required
from dray.values.fieldpath import FieldPath

__all__ = ["MAX_RESULTS", "inspect_allocation"]

MAX_RESULTS = 32
"""Devices that one claim can be allocated."""

_SOURCES = frozenset(AllocationConfigSource)


def inspect_allocation(allocation: AllocationResult, names: RequestNames, path: FieldPath, report: Report) -> None:
    """A new allocation is sound. Whether it satisfies the requests is the allocator's word and not looked at.

    Never used on a stored one, which may have been sound by older, laxer rules.
    """
    at = path / "devices"
    _inspect_results(allocation.devices.results, names, at / "results", report)
    _inspect_configs(allocation.devices.config, names, at / "config", report)
    if allocation.node_selector is not None:
        report.add_all(check_node_selector(allocation.node_selector, path / "nodeSelector"))


def _inspect_results(
    results: Sequence[DeviceRequestAllocationResult], names: RequestNames, path: FieldPath, report: Report
) -> None:
    if fits(results, MAX_RESULTS, path, report.declare):
        for index, result in enumerate(results):
            _inspect_result(result, names, path / index, report)


def _inspect_result(
    result: DeviceRequestAllocationResult, names: RequestNames, path: FieldPath, report: Report
) -> None:
    inspect_reference(result.request, names, path / "request", report)
    report.declare_all(check_declared_driver_name(result.driver, path / "driver"))
    if result.pool:
        report.declare_all(check_declared_pool_name(result.pool, path / "pool"))
    else:
        report.declare(required(path / "pool"))
    report.add_all(check_label(result.device, path / "device"))
    inspect_binding_conditions(result.binding_conditions, result.binding_failure_conditions, path, report)
    inspect_tolerations(result.tolerations, path / "tolerations", report)
    if result.share_id is not None:
        report.declare_all(check_share_id(result.share_id, path / "shareID"))
    if result.skip_node_operations:
        inspect_skipped_operations(result.skip_node_operations, path / "skipNodeOperations", report)


def _inspect_configs(
    configs: Sequence[DeviceAllocationConfiguration], names: RequestNames, path: FieldPath, report: Report
) -> None:
    # Room for the configuration of a class beside that of the claim.
    if not fits(configs, 2 * MAX_CONFIGS, path, report.declare):
        return
    for index, config in enumerate(configs):
        at = path / index
        if not config.source:
            report.declare(required(at / "source", hint="set source to FromClass or FromClaim"))
        elif config.source not in _SOURCES:
            report.declare(not_supported(at / "source", config.source, AllocationConfigSource))
        inspect_references(config.requests, names, at / "requests", report)
        inspect_opaque(config.opaque, at / "opaque", report)
