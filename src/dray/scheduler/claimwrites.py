"""Writing what was decided about claims: finalizer first, then devices and reservation in one update of the status.

Every write says which state of the claim it was made for, so that a race is lost and not papered over. What is written
is never less than what was decided: a claim that holds other devices by now is a failure, and the pod is decided anew.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

import msgspec
from msgspec.structs import replace

from dray.allocator.ids import claim_ref
from dray.api.core.pod import Pod
from dray.api.meta import DeleteOptions, Preconditions
from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.podclaims import FINALIZER
from dray.client.port import Client, Patch, PatchType, Unreachable
from dray.client.retrying import Pace
from dray.client.view import name_of
from dray.errors import ApiError, Conflict, NotFound
from dray.scheduler.core.extended import is_unmade, to_create
from dray.scheduler.core.orders import ClaimWrite
from dray.scheduler.core.podclaims import is_reserved_for
from dray.scheduler.observing import Observer

__all__ = ["ClaimWrites", "WriteFailed", "made_for"]

_ATTEMPTS: Final = 5
_RETRY_SECONDS: Final = 0.01
"""Between attempts to win a race for a claim, as in Kubernetes."""
_REMEMBERED: Final = 1024
"""Claims of which it is remembered how they were written last, so that the next pod need not find out."""


class WriteFailed(Exception):
    """A claim could not be written; the message is Kubernetes'."""


@dataclass(slots=True, eq=False)
class _Turn:
    """Who writes a claim now, and what the last who did came back with. The lock guards `latest`."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    takers: int = 0
    latest: ResourceClaim | None = None


class ClaimWrites:
    """Writes claims through a client."""

    def __init__(self, client: Client, pace: Pace, observer: Observer) -> None:
        self._client = client
        self._pace = pace
        self._observer = observer
        self._turns: OrderedDict[str, _Turn] = OrderedDict()
        """By uid of the claim, the last written at the end."""

    async def reserve(self, write: ClaimWrite) -> ResourceClaim:
        """Give a claim its devices, if any were decided on, and reserve it. Repeating it changes nothing.

        Pods that share a claim take turns, so that they do not lose races against each other. Raises WriteFailed, after
        which `learn` tells what became of the claim.
        """
        uid = write.claim.metadata.uid
        turn = self._turns.setdefault(uid, _Turn())
        self._turns.move_to_end(uid)
        self._forget_old_turns()
        turn.takers += 1
        try:
            async with turn.lock:
                turn.latest = await self._win(_newer(write.claim, turn.latest), write)
                return turn.latest
        finally:
            turn.takers -= 1

    def _forget_old_turns(self) -> None:
        while len(self._turns) > _REMEMBERED:
            uid, oldest = next(iter(self._turns.items()))
            if oldest.takers:
                break
            del self._turns[uid]

    async def _win(self, claim: ResourceClaim, write: ClaimWrite) -> ResourceClaim:
        for attempt in range(_ATTEMPTS):
            try:
                return await self._reserve_once(claim, write)
            except Conflict as conflict:
                if attempt == _ATTEMPTS - 1:
                    raise WriteFailed(str(conflict)) from conflict
                await self._pace.clock.sleep(self._pace.entropy.jitter(_RETRY_SECONDS))
                claim = await self._refetch(claim)
        raise WriteFailed(f"claim {claim_ref(claim)} changes all the time")

    async def make(self, claim: ResourceClaim) -> ResourceClaim:
        """Create a claim for extended resources that exists in our plans alone; one that exists is left as it is."""
        if not is_unmade(claim):
            return claim
        try:
            created = await self._client.create(RESOURCE_CLAIM, to_create(claim))
        except (ApiError, Unreachable) as fault:
            self._note_creation(claim, is_made=False)
            ref = f"{claim.metadata.namespace}/{claim.metadata.name}"
            raise WriteFailed(f"create claim for extended resources {ref}: {fault}") from fault
        self._note_creation(claim, is_made=True)
        return created

    def _note_creation(self, claim: ResourceClaim, *, is_made: bool) -> None:
        for owner in claim.metadata.owner_references:
            self._observer.claim_created(owner, is_made=is_made)

    async def _refetch(self, claim: ResourceClaim) -> ResourceClaim:
        try:
            latest = await self._client.get(RESOURCE_CLAIM, name_of(claim))
        except NotFound as fault:
            raise WriteFailed(f"claim {claim_ref(claim)} got deleted in the meantime") from fault
        except (ApiError, Unreachable) as fault:
            raise WriteFailed(f"get updated claim {claim_ref(claim)} after conflict: {fault}") from fault
        if latest.metadata.uid != claim.metadata.uid:
            raise WriteFailed(f"claim {claim_ref(claim)} got deleted in the meantime")
        return latest

    async def _reserve_once(self, claim: ResourceClaim, write: ClaimWrite) -> ResourceClaim:
        ref = claim_ref(claim)
        if claim.metadata.deletion_timestamp is not None:
            raise WriteFailed(f"claim {ref} got deleted in the meantime")
        allocation = claim.status.allocation
        verb = "add reservation to claim"
        if write.allocation is not None and not _agree(allocation, write.allocation):
            if allocation is not None:
                raise WriteFailed(f"claim {ref} got allocated elsewhere in the meantime")
            claim = await self._add_finalizer(claim)
            allocation, verb = write.allocation, "add allocation and reservation to claim"
        if allocation is None:
            raise WriteFailed(f"claim {ref} got deallocated elsewhere in the meantime")
        if allocation is claim.status.allocation and is_reserved_for(claim, write.consumer):
            return claim
        # What somebody allocated without a time stays as it is: the API lets nobody change an allocation.
        if allocation is not claim.status.allocation and allocation.allocation_timestamp is None:
            allocation = replace(allocation, allocation_timestamp=self._pace.clock.now().to_time())
        reserved_for = (*claim.status.reserved_for, write.consumer)
        status = replace(claim.status, allocation=allocation, reserved_for=reserved_for)
        try:
            return await self._client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")
        except Conflict:
            raise
        except (ApiError, Unreachable) as fault:
            raise WriteFailed(f"{verb} {ref}: {fault}") from fault

    async def _add_finalizer(self, claim: ResourceClaim) -> ResourceClaim:
        """Before there are devices, so that the claim cannot go while it holds them."""
        if FINALIZER in claim.metadata.finalizers:
            return claim
        metadata = replace(claim.metadata, finalizers=(*claim.metadata.finalizers, FINALIZER))
        try:
            return await self._client.update(RESOURCE_CLAIM, replace(claim, metadata=metadata))
        except Conflict:
            raise
        except (ApiError, Unreachable) as fault:
            raise WriteFailed(f"add finalizer to claim {claim_ref(claim)}: {fault}") from fault

    async def learn(self, claim: ResourceClaim) -> ResourceClaim | None:
        """What became of a claim, however long it takes to find out; None if it is gone.

        What is not known may have been written: as long as the server does not tell, the devices stay promised.
        """
        attempt = 0
        while True:
            try:
                latest = await self._client.get(RESOURCE_CLAIM, name_of(claim))
            except NotFound:
                return None
            except (ApiError, Unreachable):
                await self._pace.pause(attempt)
                attempt += 1
            else:
                return latest if latest.metadata.uid == claim.metadata.uid else None

    async def unreserve(self, claim: ResourceClaim, uid: str) -> ResourceClaim | None:
        """Take one reservation from a claim. None if there was nothing to take."""
        if not any(each.uid == uid for each in claim.status.reserved_for):
            return None
        change = {
            "metadata": {"uid": claim.metadata.uid},
            "status": {"reservedFor": [{"$patch": "delete", "uid": uid}]},
        }
        patch = Patch(PatchType.STRATEGIC, msgspec.json.encode(change))
        try:
            return await self._client.patch(RESOURCE_CLAIM, name_of(claim), patch, subresource="status")
        except (ApiError, Unreachable):
            return None  # the controller of claims drops it once the pod is gone, and the pod may still come back

    async def deallocate(self, claim: ResourceClaim) -> ResourceClaim | None:
        """Take its devices from a claim that nobody uses. None if it changed meanwhile: then it is looked at anew."""
        status = replace(claim.status, allocation=None, reserved_for=(), devices=())
        try:
            return await self._client.update(RESOURCE_CLAIM, replace(claim, status=status), subresource="status")
        except (ApiError, Unreachable):
            return None

    async def delete_made(self, claim: ResourceClaim) -> None:
        """Delete a claim that was made for extended resources, finalizer or not. One that is gone is a no-op."""
        for _ in range(_ATTEMPTS):
            try:
                if FINALIZER in claim.metadata.finalizers:
                    rest = tuple(each for each in claim.metadata.finalizers if each != FINALIZER)
                    freed = replace(claim, metadata=replace(claim.metadata, finalizers=rest))
                    claim = await self._client.update(RESOURCE_CLAIM, freed)
                only = DeleteOptions(preconditions=Preconditions(uid=claim.metadata.uid))
                await self._client.delete(RESOURCE_CLAIM, name_of(claim), only)
            except NotFound:
                return
            except (ApiError, Unreachable):
                await self._pace.clock.sleep(self._pace.entropy.jitter(_RETRY_SECONDS))
                latest = await self.learn(claim)
                if latest is None:
                    return
                claim = latest
            else:
                return


def _newer(claim: ResourceClaim, other: ResourceClaim | None) -> ResourceClaim:
    if other is None or int(other.metadata.resource_version) < int(claim.metadata.resource_version):
        return claim
    return other


def _agree(written: AllocationResult | None, decided: AllocationResult) -> bool:
    """Whether what is written is what was decided, possibly by the pod of the same group that came first."""
    return written is not None and written.devices.results == decided.devices.results


def made_for(pod: Pod, claim: ResourceClaim) -> bool:
    """Whether the claim was made for the extended resources of the pod."""
    return claim.metadata.generate_name == f"{pod.metadata.name}-extended-resources-"
