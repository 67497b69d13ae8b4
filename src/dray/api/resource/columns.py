"""The columns of the kinds of `resource.k8s.io`, besides name and age."""

from collections.abc import Callable, Iterable

from dray.api.columns import Column, render_age
from dray.api.meta import Condition
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.poolstatus import PoolStatus, ResourcePoolStatusRequest, ResourcePoolStatusRequestStatus
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from dray.values.times import Time

__all__ = ["CLAIM_COLUMNS", "POOL_STATUS_REQUEST_COLUMNS", "SLICE_COLUMNS", "TAINT_RULE_COLUMNS", "claim_state"]


def claim_state(claim: ResourceClaim) -> str:
    """What became of a claim, in words joined by commas: `pending`, `allocated,reserved`, `deleted,allocated`, ..."""
    words = ["deleted"] if claim.metadata.deletion_timestamp is not None else []
    if claim.status.allocation is not None:
        words.append("allocated")
        if claim.status.reserved_for:
            words.append("reserved")
    return ",".join(words) or "pending"


def _find_outcome(status: ResourcePoolStatusRequestStatus) -> Condition | None:
    """The first condition that says how the question ended."""
    return next((each for each in status.conditions if each.type in _OUTCOMES and each.status == "True"), None)


_OUTCOMES = ("Complete", "Failed")


def _request_status(request: ResourcePoolStatusRequest) -> str:
    status = request.status
    outcome = _find_outcome(status) if status is not None else None
    if status is None or outcome is None:
        return "Pending"
    if outcome.type == "Complete" and status.pool_count is not None and len(status.pools) < status.pool_count:
        return f"Complete ({len(status.pools)}/{status.pool_count} pools)"
    return outcome.type


def _completed(request: ResourcePoolStatusRequest, now: Time) -> str:
    conditions = request.status.conditions if request.status else ()
    complete = next((each for each in conditions if each.type == "Complete" and each.status == "True"), None)
    return render_age(complete.last_transition_time, now) if complete else "<none>"


def _sum_over_pools(
    count: Callable[[PoolStatus], int | None],
) -> Callable[[ResourcePoolStatusRequest, Time], str]:
    """A cell with a sum, or `-` as long as there is nothing to sum up."""

    def cell(request: ResourcePoolStatusRequest, now: Time) -> str:
        if request.status is None or _request_status(request) == "Failed":
            return "-"
        return str(_sum(map(count, request.status.pools)))

    return cell


def _sum(counts: Iterable[int | None]) -> int:
    return sum(count or 0 for count in counts)


CLAIM_COLUMNS: tuple[Column[ResourceClaim], ...] = (
    Column(
        "State",
        lambda claim, now: claim_state(claim),
        description="Whether the claim is pending, allocated, reserved for a consumer, or about to be deleted.",
    ),
)

SLICE_COLUMNS: tuple[Column[ResourceSlice], ...] = (
    Column(
        "Node",
        lambda piece, now: piece.spec.node_name or "",
        description="The one node that the devices can be used from; empty if there are several.",
    ),
    Column("Driver", lambda piece, now: piece.spec.driver, description="The driver that publishes the devices."),
    Column("Pool", lambda piece, now: piece.spec.pool.name, description="The pool that the devices belong to."),
)

TAINT_RULE_COLUMNS: tuple[Column[DeviceTaintRule], ...] = (
    Column("Key", lambda rule, now: rule.spec.taint.key, description="Key of the taint."),
    Column("Value", lambda rule, now: rule.spec.taint.value, description="Value of the taint."),
    Column("Effect", lambda rule, now: rule.spec.taint.effect, description="What the taint does to pods."),
    Column(
        "TimeAdded",
        lambda rule, now: render_age(rule.spec.taint.time_added, now) if rule.spec.taint.time_added else "",
        description="Time since the taint was added.",
    ),
)

POOL_STATUS_REQUEST_COLUMNS: tuple[Column[ResourcePoolStatusRequest], ...] = (
    Column("Driver", lambda request, now: request.spec.driver, description="Driver whose pools are asked about."),
    Column("Total", _sum_over_pools(lambda pool: pool.total_devices), description="Devices in the pools."),
    Column(
        "Available",
        _sum_over_pools(lambda pool: pool.available_devices),
        description="Devices that could be allocated.",
    ),
    Column("Allocated", _sum_over_pools(lambda pool: pool.allocated_devices), description="Devices that claims hold."),
    Column(
        "Unavailable",
        _sum_over_pools(lambda pool: pool.unavailable_devices),
        description="Devices that nobody holds and nobody can get.",
    ),
    Column(
        "Errors",
        _sum_over_pools(lambda pool: pool.validation_error is not None),
        description="Pools that could not be counted.",
    ),
    Column(
        "Pools",
        lambda request, now: (request.status.pool_count or 0) if request.status else 0,
        type="integer",
        description="Pools that match, listed or not.",
    ),
    Column(
        "Status",
        lambda request, now: _request_status(request),
        description="Whether the answer is pending, complete or failed.",
    ),
    Column("Completed", _completed, description="Time since the answer was completed."),
)
