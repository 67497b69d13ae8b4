"""What tests of the allocator do again and again: allocate in a world, and say how it ended in the oracle's words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from dray.allocator.allocate import allocate
from dray.allocator.cluster import Cluster
from dray.allocator.outcome import Allocated, BudgetExhausted, Failed, Outcome, Unschedulable, UnschedulableReason
from dray.allocator.policy import FIRST_FIT, Policy
from dray.allocator.solve import SearchLimits
from dray.api.resource.claim import ResourceClaim
from dray.audit.holdings import device_key
from dray.audit.world import World
from tests.properties.oracle import Answer, Ending, Quirks, answer_plainly

__all__ = [
    "GUIDED",
    "PLAIN",
    "PROBED",
    "allocate_claims",
    "allocate_in",
    "answer_of",
    "cluster_of",
    "expected_answer",
]

PLAIN = SearchLimits()
"""Small worlds are settled by the plain search."""

GUIDED = SearchLimits(plain_steps=0)
"""The search with bounds, likeness and no-goods from the first step."""

PROBED = SearchLimits(plain_steps=0, guided_steps=0)
"""The same, and every state is probed."""


def cluster_of(world: World) -> Cluster:
    """A cluster in the state of the world."""
    return Cluster.of(nodes=[world.node], slices=world.slices, classes=world.classes, claims=world.allocated)


def allocate_claims(
    claims: Sequence[ResourceClaim],
    cluster: Cluster,
    node: str,
    *,
    limits: SearchLimits = PLAIN,
    policy: Policy = FIRST_FIT,
    first_share: int = 0,
) -> Outcome:
    """Allocate claims on a node. Share identifiers are numbered."""
    numbers = count(first_share)
    return allocate(claims, cluster, node, share_ids=lambda: f"share-{next(numbers)}", limits=limits, policy=policy)


def allocate_in(world: World, cluster: Cluster | None = None, limits: SearchLimits = PLAIN) -> Outcome:
    """Allocate the claims of the world on its node."""
    return allocate_claims(world.claims, cluster or cluster_of(world), world.node.metadata.name, limits=limits)


def answer_of(outcome: Outcome) -> Answer:
    """An outcome without what the plain search does not know."""
    match outcome:
        case Allocated(allocations=allocations):
            picks = tuple(
                tuple((result.request, device_key(result)) for result in allocation.devices.results)
                for allocation in allocations
            )
            return Answer(Ending.ALLOCATED, picks)
        case Unschedulable(reason=UnschedulableReason.INVALID_POOLS):
            return Answer(Ending.INVALID_POOLS)
        case Unschedulable():
            return Answer(Ending.UNSCHEDULABLE)
        case Failed(message=message):
            return Answer(Ending.ERROR, message=message)
        case BudgetExhausted(steps=steps):
            raise AssertionError(f"gave up after {steps} steps")
    raise AssertionError(outcome)


def expected_answer(world: World) -> Answer:
    """What dray answers: as kube-scheduler, but without two of its quirks where those keep it from a solution."""
    answer = answer_plainly(world, Quirks(refusal_is_fatal=False))
    if answer.ending is not Ending.ALLOCATED and not answer.is_fault and _has_admin_request(world):
        again = answer_plainly(world, Quirks(admin_takes=False, refusal_is_fatal=False))
        if again.ending is Ending.ALLOCATED or again.is_fault:
            return again
    return answer


def _has_admin_request(world: World) -> bool:
    requests = (request for claim in world.claims for request in claim.spec.devices.requests or ())
    return any(request.exactly is not None and request.exactly.admin_access for request in requests)
