"""Whether what the scheduler believes is consistent, judged by the independent audit.

Every claim counts with what it holds or was promised, against what is published.
"""

from __future__ import annotations

from msgspec.structs import replace

from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import FINALIZER
from dray.audit.cluster import audit_cluster
from dray.audit.violations import Violation
from dray.scheduler.core.state import SchedulerState

__all__ = ["check_state"]


def check_state(state: SchedulerState) -> list[Violation]:
    """Everything that contradicts itself. Costs a look at the whole cluster."""
    claims = [_as_promised(state, claim) for claim in state.claims]
    nodes = [info.node for info in state.snapshot.nodes()]
    return audit_cluster(claims, list(state.slices.values()), nodes)


def _as_promised(state: SchedulerState, claim: ResourceClaim) -> ResourceClaim:
    promise = state.claims.find_promise(claim)
    if claim.status.allocation is not None or promise is None:
        return claim
    metadata = replace(claim.metadata, finalizers=(*claim.metadata.finalizers, FINALIZER))
    return replace(claim, metadata=metadata, status=replace(claim.status, allocation=promise.allocation))
