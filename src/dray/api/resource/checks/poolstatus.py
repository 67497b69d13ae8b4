"""Checks of `ResourcePoolStatusRequest`. All its rules are declared on fields."""

from collections.abc import Iterator, Sequence

from dray.api.checks import CheckContext
from dray.api.resource.checks.conditions import inspect_conditions
from dray.api.resource.checks.lists import fits, note_duplicates
from dray.api.resource.checks.names import (
    check_declared_pool_name,
    check_declared_subdomain,
    check_fully_qualified_name,
    check_subdomain_of_any_case,
)
from dray.api.resource.checks.report import Report
from dray.api.resource.poolstatus import (
    PartitionTypeStatus,
    PoolStatus,
    ResourcePoolStatusRequest,
    ResourcePoolStatusRequestSpec,
    ShareableSummaryStatus,
)
from dray.errors import FieldError, invalid, required, too_long
from dray.values.fieldpath import SPEC, STATUS, FieldPath
from dray.values.names import byte_length

__all__ = ["create_checks", "status_checks", "update_checks"]

_MAX_LIMIT = 1000
_MAX_POOLS = 1000
_MAX_CONDITIONS = 10
_MAX_SUMMARIES = 32
_MAX_ERROR_BYTES = 256
_IMMUTABLE = "field is immutable"
_HINT = "create another request"


def check_request(
    new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest | None, context: CheckContext
) -> list[FieldError]:
    """Every fault of a new request."""
    return list(_spec_faults(new.spec))


def check_spec_unchanged(
    new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest | None, context: CheckContext
) -> list[FieldError]:
    """The question stays as it is."""
    if old is None or new.spec == old.spec:
        return []
    return [invalid(SPEC, None, _IMMUTABLE, hint=_HINT)]


def check_status(
    new: ResourcePoolStatusRequest, old: ResourcePoolStatusRequest | None, context: CheckContext
) -> list[FieldError]:
    """Every fault of the answer, which is written once."""
    status, stored = new.status, old.status if old is not None else None
    if status == stored:
        return []
    report = Report(context)
    if stored is not None:
        report.add(invalid(STATUS, None, _IMMUTABLE, hint=_HINT))
    if status is None:
        return report.faults()
    report.add_all(_count_faults(status.pool_count, STATUS / "poolCount"))
    if fits(status.pools, _MAX_POOLS, STATUS / "pools", report.add):
        for index, pool in enumerate(status.pools):
            _inspect_pool(pool, STATUS / "pools" / index, report)
    # Nobody looks inside conditions that may not change any more; at all else they do.
    if fits(status.conditions, _MAX_CONDITIONS, STATUS / "conditions", report.add) and stored is None:
        inspect_conditions(status.conditions, STATUS / "conditions", report)
    return report.faults()


create_checks = (check_request,)
update_checks = (check_spec_unchanged,)
status_checks = (check_status,)


def _spec_faults(spec: ResourcePoolStatusRequestSpec) -> Iterator[FieldError]:
    yield from check_subdomain_of_any_case(spec.driver, SPEC / "driver")
    if spec.pool_name is not None:
        yield from check_declared_pool_name(spec.pool_name, SPEC / "poolName")
    if spec.limit is not None:
        if spec.limit < 1:
            yield invalid(SPEC / "limit", spec.limit, "must be greater than or equal to 1")
        elif spec.limit > _MAX_LIMIT:
            yield invalid(SPEC / "limit", spec.limit, f"must be less than or equal to {_MAX_LIMIT}")
    if spec.default_partition_type_attribute is not None:
        at = SPEC / "defaultPartitionTypeAttribute"
        yield from check_fully_qualified_name(spec.default_partition_type_attribute, at)


def _inspect_pool(pool: PoolStatus, path: FieldPath, report: Report) -> None:
    report.add_all(check_subdomain_of_any_case(pool.driver or "", path / "driver"))
    if pool.pool_name:
        report.add_all(check_declared_pool_name(pool.pool_name, path / "poolName"))
    else:
        report.add(required(path / "poolName"))
    report.add_all(_pool_number_faults(pool, path))
    if pool.node_name is not None:
        report.add_all(check_declared_subdomain(pool.node_name, path / "nodeName"))
    if pool.validation_error is not None and byte_length(pool.validation_error) > _MAX_ERROR_BYTES:
        report.add(too_long(path / "validationError", _MAX_ERROR_BYTES))
    _inspect_partitions(pool.partition_summary, path / "partitionSummary", report)
    if pool.shareable_summary is not None:
        _inspect_shareable(pool.shareable_summary, path / "shareableSummary", report)


def _pool_number_faults(pool: PoolStatus, path: FieldPath) -> Iterator[FieldError]:
    # Generations start at 1; upstream takes 0 for absent.
    if pool.generation == 0:
        yield required(path / "generation")
    yield from _minimum_faults(pool.generation, 0, path / "generation")
    yield from _minimum_faults(pool.resource_slice_count, 1, path / "resourceSliceCount")
    yield from _minimum_faults(pool.total_devices, 0, path / "totalDevices")
    yield from _minimum_faults(pool.allocated_devices, 0, path / "allocatedDevices")
    yield from _minimum_faults(pool.available_devices, 0, path / "availableDevices")
    yield from _minimum_faults(pool.unavailable_devices, 0, path / "unavailableDevices")


def _inspect_partitions(partitions: Sequence[PartitionTypeStatus], path: FieldPath, report: Report) -> None:
    if not fits(partitions, _MAX_SUMMARIES, path, report.add):
        return
    keys = [{"attribute": each.attribute or "", "type": each.type or ""} for each in partitions]
    note_duplicates([tuple(each.values()) for each in keys], keys, path, report.add)
    for index, partition in enumerate(partitions):
        at = path / index
        for name in ("attribute", "type"):
            if not getattr(partition, name):
                report.add(required(at / name))
        report.add_all(_count_faults(partition.total, at / "total"))
        report.add_all(_count_faults(partition.allocatable, at / "allocatable"))


def _inspect_shareable(summary: ShareableSummaryStatus, path: FieldPath, report: Report) -> None:
    report.add_all(_count_faults(summary.fully_available_devices, path / "fullyAvailableDevices"))
    report.add_all(_count_faults(summary.partially_available_devices, path / "partiallyAvailableDevices"))
    if not fits(summary.capacity, _MAX_SUMMARIES, path / "capacity", report.add):
        return
    for index, capacity in enumerate(summary.capacity):
        at = path / "capacity" / index
        if not capacity.name:
            report.add(required(at / "name"))
        for name in ("total", "consumed", "available"):
            if getattr(capacity, name) is None:
                report.add(required(at / name))


def _count_faults(count: int | None, path: FieldPath) -> Iterator[FieldError]:
    """A number of things that must be given."""
    if count is None:
        yield required(path)
    yield from _minimum_faults(count, 0, path)


def _minimum_faults(number: int | None, least: int, path: FieldPath) -> Iterator[FieldError]:
    if number is not None and number < least:
        yield invalid(path, number, f"must be greater than or equal to {least}")
