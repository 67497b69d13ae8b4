"""The answer to a question about pools: what each has, and how much of it is in use. Pure."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from dray.allocator.taintrules import rule_selects
from dray.api.meta import Condition
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import Device
from dray.api.resource.poolstatus import (
    PoolStatus,
    ResourcePoolStatusRequest,
    ResourcePoolStatusRequestStatus,
)
from dray.api.resource.request import TaintEffect
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.controllers.newestslices import PoolKey, choose_newest
from dray.controllers.poolpartitions import Holdings, ViewFault, summarise_partitions, summarise_shares
from dray.values.quantity import Quantity
from dray.values.times import Time

__all__ = ["DEFAULT_LIMIT", "PoolIncomplete", "answer_request", "is_over", "list_holdings"]

DEFAULT_LIMIT = 100
_MOST_ERROR_BYTES = 256
_BLOCKING = (TaintEffect.NO_SCHEDULE, TaintEffect.NO_EXECUTE)
_DONE_SECONDS = 3600
_PENDING_SECONDS = 24 * 3600
"""Questions are deleted so long after they were answered, or after they were asked."""


class PoolIncomplete(ValueError):
    """A pool is about to be replaced slice by slice; counts of it would be wrong."""


def answer_request(
    request: ResourcePoolStatusRequest,
    slices: Iterable[ResourceSlice],
    holdings: dict[PoolKey, Holdings],
    rules: Sequence[DeviceTaintRule],
    now: Time,
) -> ResourcePoolStatusRequestStatus:
    """The whole answer. Raises PoolIncomplete while slices of a pool in question are missing."""
    spec = request.spec
    by_pool: dict[PoolKey, list[ResourceSlice]] = {}
    for source in slices:
        key = PoolKey(source.spec.driver, source.spec.pool.name)
        if key.driver == spec.driver and spec.pool_name in (None, key.pool):
            by_pool.setdefault(key, []).append(source)
    pools = [
        _describe(key, choose_newest(by_pool[key]), spec.default_partition_type_attribute, holdings.get(key), rules)
        for key in sorted(by_pool)
    ]
    message = f"Calculated status for {len(pools)} pools"
    condition = Condition(
        type="Complete", status="True", last_transition_time=now, reason="CalculationComplete", message=message
    )
    limit = DEFAULT_LIMIT if spec.limit is None else spec.limit
    return ResourcePoolStatusRequestStatus(pool_count=len(pools), pools=tuple(pools[:limit]), conditions=(condition,))


def _describe(
    key: PoolKey,
    slices: Sequence[ResourceSlice],
    default_attribute: str | None,
    holdings: Holdings | None,
    rules: Sequence[DeviceTaintRule],
) -> PoolStatus:
    pool = slices[0].spec.pool
    nodes = {source.spec.node_name for source in slices}
    status = PoolStatus(
        driver=key.driver,
        pool_name=key.pool,
        generation=pool.generation,
        node_name=next(iter(nodes)) if len(nodes) == 1 else None,
    )
    expected = max(source.spec.pool.resource_slice_count for source in slices)
    if len(slices) < expected:
        seen = f"observed {len(slices)}/{expected} slices at generation {pool.generation}"
        raise PoolIncomplete(f"PoolIncomplete: pool {key} is incomplete: {seen}")
    held = holdings or Holdings()
    devices = [device for source in slices for device in source.spec.devices or ()]
    unavailable = sum(1 for device in devices if _is_blocked(key, device, rules))
    status = replace(
        status,
        resource_slice_count=len(slices),
        total_devices=len(devices),
        allocated_devices=len(held.devices),
        unavailable_devices=unavailable,
        available_devices=max(0, len(devices) - len(held.devices) - unavailable),
    )
    return _add_views(status, key, slices, default_attribute, held)


def _add_views(
    status: PoolStatus, key: PoolKey, slices: Sequence[ResourceSlice], default_attribute: str | None, held: Holdings
) -> PoolStatus:
    """Add what can be told of partitions and shares; of what cannot, the first fault."""
    faults: list[str] = []
    try:
        partitions = summarise_partitions(key, slices, default_attribute, held)
    except ViewFault as fault:
        partitions = ()
        faults.append(str(fault))
    try:
        status = replace(status, shareable_summary=summarise_shares(key, slices, held))
    except ViewFault as fault:
        faults.append(str(fault))
    if faults:
        return replace(status, validation_error=_cut(faults[0]))
    return replace(status, partition_summary=partitions)


def _is_blocked(key: PoolKey, device: Device, rules: Iterable[DeviceTaintRule]) -> bool:
    """Whether a taint, of the driver or by rule, keeps a device from those who do not tolerate it."""
    if any(taint.effect in _BLOCKING for taint in device.taints):
        return True
    selecting = (rule for rule in rules if rule.spec.taint.effect in _BLOCKING)
    return any(rule_selects(rule, key.driver, key.pool, device.name) for rule in selecting)


def list_holdings(claims: Iterable[ResourceClaim], driver: str) -> dict[PoolKey, Holdings]:
    """What claims hold of the pools of a driver; administrative access holds nothing."""
    devices: dict[PoolKey, set[str]] = {}
    capacity: dict[PoolKey, dict[str, Quantity]] = {}
    for claim in claims:
        results = claim.status.allocation.devices.results if claim.status.allocation is not None else ()
        for result in results:
            if result.driver != driver or result.admin_access:
                continue
            key = PoolKey(result.driver, result.pool)
            devices.setdefault(key, set()).add(result.device)
            sums = capacity.setdefault(key, {})
            for name, amount in result.consumed_capacity.items():
                sums[name] = sums[name] + amount if name in sums else amount
    return {key: Holdings(frozenset(names), capacity[key]) for key, names in devices.items()}


def is_over(request: ResourcePoolStatusRequest, now: Time) -> bool:
    """Whether a question has been answered, or has waited, for long enough to go."""
    conditions = request.status.conditions if request.status is not None else ()
    for each in conditions:
        if each.type in ("Complete", "Failed") and each.status == "True":
            since = each.last_transition_time
            return since is not None and now.seconds_since(since) > _DONE_SECONDS
    asked = request.metadata.creation_timestamp
    return asked is not None and now.seconds_since(asked) > _PENDING_SECONDS


def _cut(text: str) -> str:
    return text.encode()[:_MOST_ERROR_BYTES].decode(errors="ignore")
