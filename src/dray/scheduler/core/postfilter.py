"""What can be done for a pod that fits nowhere: free what a claim of its own holds in vain, or evict others."""

from __future__ import annotations

from typing import NamedTuple

from dray.scheduler.core.decide import Attempt, Refused
from dray.scheduler.core.orders import Deallocate, DeleteClaim, Order

__all__ = ["Aftermath", "free_own_claims"]


class Aftermath(NamedTuple):
    """What was done after a refusal, and how Kubernetes tells it."""

    message: str = ""
    orders: tuple[Order, ...] = ()


def free_own_claims(refused: Refused, attempt: Attempt) -> Aftermath:
    """Release at most one claim whose devices keep the pod from every node, and that nobody else uses.

    Claims that merely could not be allocated hold nothing.
    """
    wish, verdict = refused.wish, refused.verdict
    if wish is None or verdict is None:
        return Aftermath()
    for index in sorted(verdict.unavailable):
        claim, _ = wish.settled[index]
        users = [each for each in claim.status.reserved_for if each.uid != wish.pod.metadata.uid]
        is_written = claim.status.allocation is not None
        if is_written and not users and attempt.world.claims.find_promise(claim) is None:
            return Aftermath("deallocation of ResourceClaim completed", (Deallocate(claim),))
    if wish.leftover is not None and wish.leftover.metadata.deletion_timestamp is None:
        return Aftermath("deletion of ResourceClaim completed", (DeleteClaim(wish.leftover),))
    return Aftermath()
