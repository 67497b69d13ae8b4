"""Release of claims: who is done loses the reservation, unreserved claims lose their devices, generated ones go.

The server is asked before a reservation is taken from anybody whom the view does not show as done: to deallocate what
a pod still uses would give its devices to another.
"""

from collections import OrderedDict
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.meta import DeleteOptions, OwnerReference, Preconditions
from dray.api.resource.allocation import ResourceClaimConsumerReference, ResourceClaimStatus
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.podclaims import FINALIZER, find_controller, is_finished
from dray.api.scheduling.kinds import POD_GROUP
from dray.api.scheduling.podgroup import PodGroup
from dray.client.changes import Change
from dray.client.overlay import Overlay
from dray.client.port import ObjectName
from dray.client.view import name_of
from dray.controllers.claimants import index_groups_by_claim, index_pods_by_claim
from dray.controllers.commons import Commons
from dray.controllers.runtime import Controller
from dray.controllers.writing import find_stored
from dray.errors import Conflict, NotFound

__all__ = ["ClaimRelease"]

_WORKERS: Final = 50
_SWEEP_SECONDS: Final = 60.0
"""A claim that is protected without having devices is on its way to get some, or was left so by a crash. After one to
two minutes without a change it is taken for the latter; whoever comes just then adds the protection anew."""
_SWEEP: Final = ObjectName("", "claims left protected")
"""The key under which such claims are looked for: no object has an empty name."""
_BY_OWNER: Final = "claim release: by owner"
_MOST_REMEMBERED: Final = 500
"""Uids of pods and groups that are known to be gone, as in Kubernetes; for others the server is asked."""


class ClaimRelease:
    """Takes back what nobody needs any more."""

    def __init__(self, commons: Commons) -> None:
        self._client = commons.client
        pods, claims = commons.follow(POD), commons.follow(RESOURCE_CLAIM)
        groups = commons.follow(POD_GROUP) if commons.has(POD_GROUP) else None
        self.controller: Controller[ObjectName] = Controller(
            "claim release", self.reconcile, commons.effects, workers=_WORKERS
        )
        self._pod_view = pods.view
        self._group_view = groups.view if groups is not None else None
        self._claims = Overlay(claims)
        self._claim_view = claims.view
        self._claim_view.add_index(_BY_OWNER, _index_by_owner)
        self._gone: OrderedDict[str, None] = OrderedDict()
        """Uids of consumers that were seen to go."""
        self._protected: dict[ObjectName, str] = {}
        """Claims that are protected without having devices, by the version in which they were at the last sweep."""
        pods.add_handler(self._note_pod)
        claims.add_handler(self._note_claim)
        if groups is not None:
            groups.add_handler(self._note_group)
        self.controller.wake(_SWEEP)

    def _note_pod(self, change: Change[Pod]) -> None:
        pod = change.new
        if pod is None:
            self._remember_gone(change.latest.metadata.uid)
            self._wake_claims(index_pods_by_claim(change.latest))
            return
        if is_finished(pod):
            self._wake_claims(index_pods_by_claim(pod))
        if change.old is None or is_finished(pod):
            # Claims of an earlier pod of that name are in no list of this one.
            for claim in self._claim_view.select_by(_BY_OWNER, f"{pod.metadata.namespace}/{pod.metadata.name}"):
                self._wake_if_due(claim)

    def _note_group(self, change: Change[PodGroup]) -> None:
        if change.new is None:
            self._remember_gone(change.latest.metadata.uid)
            self._wake_claims(index_groups_by_claim(change.latest))

    def _wake_claims(self, paths: Iterable[str]) -> None:
        for path in paths:
            namespace, _, name = path.partition("/")
            claim = self._claims.find(ObjectName(name, namespace))
            if claim is not None:
                self._wake_if_due(claim)

    def _note_claim(self, change: Change[ResourceClaim]) -> None:
        if change.new is None or not _is_protected_idly(change.new):
            self._protected.pop(change.name, None)
        else:
            self._protected.setdefault(change.name, "")
        if change.new is not None:
            self._wake_if_due(change.new)

    def _wake_if_due(self, claim: ResourceClaim) -> None:
        if self._is_due(claim):
            self.controller.wake(name_of(claim))

    def _remember_gone(self, uid: str) -> None:
        self._gone[uid] = None
        if len(self._gone) > _MOST_REMEMBERED:
            self._gone.popitem(last=False)

    def _is_due(self, claim: ResourceClaim) -> bool:
        """Whether there is something to take back, as far as we know."""
        reserved_for = claim.status.reserved_for
        if any(not self._is_surely_active(claim, each) for each in reserved_for):
            return True
        if reserved_for:
            return False
        return _waits_for_release(claim) or self._is_unused(claim)

    def _is_surely_active(self, claim: ResourceClaim, consumer: ResourceClaimConsumerReference) -> bool:
        """Whether a consumer may keep its reservation without anybody being asked."""
        name = ObjectName(consumer.name, claim.metadata.namespace)
        if _is_group(consumer):
            # Members that ended change nothing: a group holds its claims for as long as it exists.
            group = self._group_view.find(name) if self._group_view is not None else None
            return self._group_view is None or (group is not None and group.metadata.uid == consumer.uid)
        if not _is_pod(consumer):
            return True  # others look after their reservations themselves
        pod = self._pod_view.find(name)
        return pod is not None and pod.metadata.uid == consumer.uid and not is_finished(pod)

    def _is_unused(self, claim: ResourceClaim) -> bool:
        """Whether the claim was made for a pod that needs it no more. A pod that is gone leaves it to its collector."""
        owner = _find_pod_owner(claim)
        if owner is None:
            return False
        pod = self._pod_view.find(ObjectName(owner.name, claim.metadata.namespace))
        return pod is not None and (pod.metadata.uid != owner.uid or is_finished(pod))

    async def reconcile(self, name: ObjectName) -> float | None:
        """Take back what is due of one claim; or, under the key for that, what a crash left behind."""
        if name == _SWEEP:
            await self._sweep()
            return _SWEEP_SECONDS
        await self._take_back(name)
        return None

    async def _sweep(self) -> None:
        for name, version in list(self._protected.items()):
            claim = self._claims.find(name)
            if claim is None or not _is_protected_idly(claim):
                continue
            if claim.metadata.resource_version == version:
                with suppress(Conflict, NotFound):
                    await self._unprotect(claim)
            else:
                self._protected[name] = claim.metadata.resource_version

    async def _take_back(self, name: ObjectName) -> None:
        claim = self._claims.find(name)
        if claim is None or not self._is_due(claim):
            return
        kept = [each for each in claim.status.reserved_for if await self._is_active(claim, each)]
        if len(kept) < len(claim.status.reserved_for):
            claim = await self._release(claim, kept)
            must_unprotect = not kept
        else:
            must_unprotect = not kept and _waits_for_release(claim)
            if must_unprotect and claim.status.allocation is not None:
                claim = await self._release(claim, kept)
        if must_unprotect and FINALIZER in claim.metadata.finalizers and claim.status.allocation is None:
            claim = await self._unprotect(claim)
        if not claim.status.reserved_for and claim.metadata.deletion_timestamp is None:
            await self._delete_unused(claim)

    async def _is_active(self, claim: ResourceClaim, consumer: ResourceClaimConsumerReference) -> bool:
        """Whether a consumer keeps its reservation; the server decides what the view leaves open."""
        if self._is_surely_active(claim, consumer):
            return True
        if consumer.uid in self._gone:
            return False
        name = ObjectName(consumer.name, claim.metadata.namespace)
        if _is_group(consumer):
            group = await find_stored(self._client, POD_GROUP, name)
            return group is not None and group.metadata.uid == consumer.uid
        pod = self._pod_view.find(name)
        if pod is None or pod.metadata.uid != consumer.uid:
            pod = await find_stored(self._client, POD, name)
        return pod is not None and pod.metadata.uid == consumer.uid and not is_finished(pod)

    async def _release(self, claim: ResourceClaim, kept: Iterable[ResourceClaimConsumerReference]) -> ResourceClaim:
        """Write who stays; if nobody does, and the claim is protected, its devices are free again."""
        status = replace(claim.status, reserved_for=tuple(kept))
        if not status.reserved_for and FINALIZER in claim.metadata.finalizers:
            status = ResourceClaimStatus()
        changed = await self._client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")
        self._claims.note(changed)
        return changed

    async def _unprotect(self, claim: ResourceClaim) -> ResourceClaim:
        kept = tuple(each for each in claim.metadata.finalizers if each != FINALIZER)
        metadata = replace(claim.metadata, finalizers=kept)
        changed = await self._client.update(RESOURCE_CLAIM, replace(claim, metadata=metadata))
        self._claims.note(changed)
        return changed

    async def _delete_unused(self, claim: ResourceClaim) -> None:
        owner = _find_pod_owner(claim)
        if owner is None or not self._is_unused(claim):
            return
        name = ObjectName(owner.name, claim.metadata.namespace)
        pod = self._pod_view.find(name)
        if pod is None or pod.metadata.uid != owner.uid:
            pod = await find_stored(self._client, POD, name)
            if pod is None or (pod.metadata.uid == owner.uid and not is_finished(pod)):
                return
        options = DeleteOptions(preconditions=Preconditions(uid=claim.metadata.uid))
        try:
            await self._client.delete(RESOURCE_CLAIM, name_of(claim), options)
        except NotFound:
            return


def _index_by_owner(claim: ResourceClaim) -> list[str]:
    """Under the pod that a claim was made for, by its name."""
    owner = _find_pod_owner(claim)
    return [] if owner is None else [f"{claim.metadata.namespace}/{owner.name}"]


def _find_pod_owner(claim: ResourceClaim) -> OwnerReference | None:
    owner = find_controller(claim.metadata)
    return owner if owner is not None and (owner.api_version, owner.kind) == ("v1", POD.name) else None


def _is_pod(consumer: ResourceClaimConsumerReference) -> bool:
    return (consumer.api_group, consumer.resource) == ("", POD.plural)


def _is_group(consumer: ResourceClaimConsumerReference) -> bool:
    return (consumer.api_group, consumer.resource) == (POD_GROUP.group, POD_GROUP.plural)


def _is_protected_idly(claim: ResourceClaim) -> bool:
    """Whether a claim is protected although it has no devices, and is not going."""
    meta = claim.metadata
    return FINALIZER in meta.finalizers and claim.status.allocation is None and meta.deletion_timestamp is None


def _waits_for_release(claim: ResourceClaim) -> bool:
    """Whether a claim that nobody has reserved is being deleted, and held by its protection."""
    meta = claim.metadata
    return meta.deletion_timestamp is not None and FINALIZER in meta.finalizers
