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
from dray.allocator.policy import FIRST_FIT, Policy, order_places
from dray.allocator.reorder import solve_in_order
from dray.allocator.results import ShareIds, write_results
from dray.allocator.solve import DEFAULT_LIMITS, SearchLimits, Solution, Solved, Spent, solve
from dray.api.resource.claim import ResourceClaim

__all__ = ["allocate"]


def allocate(  # noqa: PLR0913 - the last three are options by keyword
    claims: Sequence[ResourceClaim],
    cluster: Cluster,
    node: str,
    *,
    share_ids: ShareIds,
    policy: Policy = FIRST_FIT,
    limits: SearchLimits = DEFAULT_LIMITS,
) -> Outcome:
    """Find devices on a node for claims that have none, all of them together or none.

    Takes nothing: hand the result to `Cluster.take`. `share_ids` makes the identifier of each share of a shared device.
    The policy decides which of several solutions is found, never whether one is.
    """
    view = cluster.view(node)
    if view is None:
        return Failed(FailureCode.UNKNOWN_NODE, f'node "{node}" not found')
    if view.failure is not None:
        return view.failure
    arena = cluster.plans.arena(cluster.plans.plan(claims), view)
    occupancy = cluster.occupancy(view)
    solved: Solved | None = None
    if policy is not FIRST_FIT and arena.complaint is None:
        order = order_places(policy, view, arena, occupancy, cluster.plans.matcher)
        if isinstance(order, Failed):
            return order
        solved = solve_in_order(arena, occupancy, order, limits)
    if not isinstance(solved, Solution):
        # Whether there is a solution, and what is wrong if not, is told in one order whatever the policy.
        solved = solve(arena, occupancy, limits)
    if isinstance(solved, Solution):
        allocations = write_results(claims, view, solved.picks, cluster.find_class, share_ids)
        return allocations if isinstance(allocations, Failed) else Allocated(allocations, solved.steps)
    if isinstance(solved, Spent):
        return BudgetExhausted(solved.steps)
    if solved.complaint is not None:
        return solved.complaint.failure(claims, view)
    reason = UnschedulableReason.INVALID_POOLS if view.has_invalid_pool else UnschedulableReason.NO_SOLUTION
    return Unschedulable(reason, solved.steps)
