"""The entry point: claims on one node of a cluster, to an outcome."""

from __future__ import annotations

from collections.abc import Sequence

from dray.allocator.cluster import Cluster
from dray.allocator.outcome import (
    Allocated,
    BudgetExhausted,
    Failed,
    FailureCode,
    Outcome,
    Unschedulable,
    UnschedulableReason,
)
from dray.allocator.results import ShareIds, write_results
from dray.allocator.solve import DEFAULT_LIMITS, SearchLimits, Solution, Spent, solve
from dray.api.resource.claim import ResourceClaim

__all__ = ["allocate"]


def allocate(
    claims: Sequence[ResourceClaim],
    cluster: Cluster,
    node: str,
    *,
    share_ids: ShareIds,
    limits: SearchLimits = DEFAULT_LIMITS,
) -> Outcome:
    """Find devices on a node for claims that have none, all of them together or none.

    Takes nothing: hand the result to `Cluster.take`. `share_ids` makes the identifier of each share of a shared device.
    """
    view = cluster.view(node)
    if view is None:
        return Failed(FailureCode.UNKNOWN_NODE, f'node "{node}" not found')
    if view.failure is not None:
        return view.failure
    arena = cluster.arena(cluster.plan(claims), view)
    solved = solve(arena, cluster.occupancy(view), limits)
    if isinstance(solved, Solution):
        allocations = write_results(claims, view, solved.picks, cluster.find_class, share_ids)
        return allocations if isinstance(allocations, Failed) else Allocated(allocations, solved.steps)
    if isinstance(solved, Spent):
        return BudgetExhausted(solved.steps)
    if solved.complaint is not None:
        return solved.complaint.failure(claims, view)
    reason = UnschedulableReason.INVALID_POOLS if view.has_invalid_pool else UnschedulableReason.NO_SOLUTION
    return Unschedulable(reason, solved.steps)
