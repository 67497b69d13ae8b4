"""What the scheduler believes of claims: what the API server told, and what was decided but is not written yet.

A device is in use if a claim that the server told of holds it, or a claim for which it was decided: both count in the
allocator's ledger, which is kept by this book alone. So nothing is ever given twice, however late writes come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from dray.allocator.cluster import Cluster
from dray.allocator.ids import ClaimUid, PoolId, claim_ref, claim_uid
from dray.api.core.pod import Pod
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.podclaims import EXTENDED_RESOURCE_ANNOTATION, find_controller, list_claim_names

__all__ = ["ClaimBook", "ClaimKey", "Promise"]

ClaimKey = tuple[str, str]
"""Namespace and name."""


@dataclass(slots=True)
class Promise:
    """Devices decided on for a claim. `users` are the pods whose binding rests on it; with the last one it lapses."""

    allocation: AllocationResult
    users: set[str] = field(default_factory=set)


class ClaimBook:
    """All claims by name, and the promises. One owner; objects are only replaced."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._claims: dict[ClaimKey, ResourceClaim] = {}
        self._promises: dict[ClaimUid, Promise] = {}
        self._made_for: dict[str, dict[ClaimKey, None]] = {}
        self.changes = 0
        """Counts what may matter to decisions, so that their answers can be kept."""
        self.freed: set[PoolId] = set()
        """Pools of which devices were freed; whoever reads it clears it."""

    def __iter__(self) -> Iterator[ResourceClaim]:
        return iter(self._claims.values())

    def find(self, namespace: str, name: str) -> ResourceClaim | None:
        """The claim of that name in its latest known state."""
        return self._claims.get((namespace, name))

    def find_made_for(self, pod_uid: str) -> ResourceClaim | None:
        """The claim that an earlier attempt made for the extended resources of a pod."""
        for key in self._made_for.get(pod_uid, ()):
            return self._claims[key]
        return None

    def used_by(self, pod: Pod) -> Iterator[ResourceClaim]:
        """The claims that a pod names, as far as they are there."""
        for name in list_claim_names(pod):
            claim = self._claims.get((pod.metadata.namespace, name))
            if claim is not None:
                yield claim

    def put(self, claim: ResourceClaim) -> bool:
        """Learn of a state of a claim. One older than what is known is a no-op, and returns False."""
        key = (claim.metadata.namespace, claim.metadata.name)
        known = self._claims.get(key)
        if known is not None and known.metadata.uid == claim.metadata.uid:
            if int(claim.metadata.resource_version) <= int(known.metadata.resource_version):
                return False
        elif known is not None:
            self.remove(known)
        self._claims[key] = claim
        self._index(claim, key)
        self._settle(claim_uid(claim), claim)
        self.changes += 1
        return True

    def remove(self, claim: ResourceClaim) -> None:
        """Learn that a claim is gone. A newer one of the same name stays."""
        key = (claim.metadata.namespace, claim.metadata.name)
        known = self._claims.get(key)
        if known is None or known.metadata.uid != claim.metadata.uid:
            return
        del self._claims[key]
        owner = find_controller(claim.metadata)
        if owner is not None and owner.uid in self._made_for:
            self._made_for[owner.uid].pop(key, None)
            if not self._made_for[owner.uid]:
                del self._made_for[owner.uid]
        self._settle(claim_uid(claim), None)
        self.changes += 1

    # Promises

    def promise(self, claim: ResourceClaim, allocation: AllocationResult, pod_uid: str) -> None:
        """Decide on devices for a claim, or let another pod share what was decided."""
        uid = claim_uid(claim)
        known = self._promises.get(uid)
        if known is None:
            known = self._promises[uid] = Promise(allocation)
            self._cluster.take(uid, allocation, claim_ref(claim))
            self.changes += 1
        known.users.add(pod_uid)

    def find_promise(self, claim: ResourceClaim) -> Promise | None:
        """What was decided for a claim and is not known to be written."""
        return self._promises.get(claim_uid(claim))

    def withdraw(self, claim: ResourceClaim, pod_uid: str) -> bool:
        """A pod does without the promise. True if it lapsed: then only what is written counts. Repeating is a no-op."""
        uid = claim_uid(claim)
        known = self._promises.get(uid)
        if known is None or pod_uid not in known.users:
            return False
        known.users.discard(pod_uid)
        return not known.users and self._lapse(claim)

    def keep(self, claim: ResourceClaim) -> None:
        """The promise is written: `claim`, which the server returned, holds the devices now."""
        self.put(claim)
        self._lapse(claim)

    @property
    def promises(self) -> int:
        """How many claims have devices that are not known to be written."""
        return len(self._promises)

    def _lapse(self, claim: ResourceClaim) -> bool:
        uid = claim_uid(claim)
        if self._promises.pop(uid, None) is None:
            return False
        known = self._claims.get((claim.metadata.namespace, claim.metadata.name))
        self._settle(uid, known if known is not None and known.metadata.uid == claim.metadata.uid else None)
        self.changes += 1
        return True

    def _settle(self, uid: ClaimUid, claim: ResourceClaim | None) -> None:
        """Let the ledger hold what is written, else what is promised, else nothing."""
        allocation = None if claim is None else claim.status.allocation
        if allocation is None and uid in self._promises:
            allocation = self._promises[uid].allocation
        if self._holds(uid, allocation):
            return
        before = self._cluster.ledger.holding(uid)
        if before is not None:
            self.freed.update(PoolId(each.driver, each.pool) for each in before.results)
        if allocation is None:
            self._cluster.release(uid)
        else:
            self._cluster.take(uid, allocation, uid if claim is None else claim_ref(claim))

    def _holds(self, uid: ClaimUid, allocation: AllocationResult | None) -> bool:
        holding = self._cluster.ledger.holding(uid)
        if allocation is None:
            return holding is None
        taken = tuple(each for each in allocation.devices.results if not each.admin_access)
        return holding is not None and holding.results == taken

    def _index(self, claim: ResourceClaim, key: ClaimKey) -> None:
        if claim.metadata.annotations.get(EXTENDED_RESOURCE_ANNOTATION) != "true":
            return
        owner = find_controller(claim.metadata)
        if owner is not None and owner.kind == "Pod":
            self._made_for.setdefault(owner.uid, {})[key] = None
