"""Leadership by lease: of several processes that could do the same work, one does it.

As Kubernetes' components do: whoever holds the Lease renews it, the others watch whether it changes. Clocks of other
machines do not matter: a lease has run out when *we* have seen it unchanged for its length. A leader that cannot renew
in time stops its work before another may begin.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from dray.api.coordination.kinds import LEASE
from dray.api.coordination.lease import Lease, LeaseSpec
from dray.api.meta import ObjectMeta
from dray.client.port import Client, ObjectName, Unreachable
from dray.client.retrying import Pace
from dray.effects.log import Log
from dray.errors import AlreadyExists, ApiError, Conflict, DrayError, NotFound

__all__ = ["Candidacy", "LeadershipLost", "lead"]

_RETRY_SPREAD: Final = 1.2
"""Tries to become leader are up to 2.2 times their period apart, so that candidates do not meet."""


class LeadershipLost(DrayError):
    """The lease could not be renewed in time: another may lead by now. The process should end, or start over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidacy:
    """Who wants to lead what. The durations are those of Kubernetes' components.

    `lease_seconds` > `renew_seconds` > `retry_seconds`, by enough for a request to be made in between. Raises
    ValueError where they are not.
    """

    name: str
    """Of the lease, and so of the work."""
    identity: str
    """Of this process, unlike any other: by custom host name and a uuid."""
    namespace: str = "kube-system"
    lease_seconds: int = 15
    """After so long without a renewal another takes over."""
    renew_seconds: float = 10.0
    """After so long without a renewal the leader gives up."""
    retry_seconds: float = 2.0
    """Between renewals, and between tries to become leader."""
    is_released: bool = True
    """Whether a leader that ends in good order lets the next one begin at once."""

    def __post_init__(self) -> None:
        """Refuse durations by which two could lead at once."""
        if not self.lease_seconds > self.renew_seconds > _RETRY_SPREAD * self.retry_seconds > 0:
            raise ValueError("leaseDuration must be greater than renewDeadline, and that than 1.2 times retryPeriod")

    @property
    def object_name(self) -> ObjectName:
        """The name of the lease."""
        return ObjectName(self.name, self.namespace)


async def lead(client: Client, candidacy: Candidacy, pace: Pace, log: Log, work: Callable[[], Awaitable[None]]) -> None:
    """Wait until we lead, then do the work for as long as we do. Returns when the work is done.

    Raises LeadershipLost once the work has been cancelled because the lease could not be renewed. Cancelled, or done,
    it gives the lease back after the work has ended.
    """
    campaign = _Campaign(client, candidacy, pace, log)
    await campaign.win()
    log.info("leading", lease=candidacy.name, identity=candidacy.identity)
    try:
        await campaign.hold(work)
    except BaseExceptionGroup as failures:
        lost, others = failures.split(LeadershipLost)
        if lost is not None and others is None:
            log.error("leadership is lost", lease=candidacy.name, identity=candidacy.identity)
            raise LeadershipLost(f"the lease {candidacy.name} could not be renewed in time") from failures
        await campaign.release()
        raise
    except asyncio.CancelledError:
        await campaign.release()
        raise
    await campaign.release()


class _Campaign:
    """What one candidate knows of its lease."""

    def __init__(self, client: Client, candidacy: Candidacy, pace: Pace, log: Log) -> None:
        self._client = client
        self._candidacy = candidacy
        self._clock = pace.clock
        self._entropy = pace.entropy
        self._log = log
        self._seen: LeaseSpec | None = None
        self._seen_at = 0.0
        """When the lease was first seen as it is, by our own clock."""
        self._renewed_at = 0.0
        self._complaint = ""

    async def win(self) -> None:
        """Try until we hold the lease."""
        while not await self._try():
            await self._clock.sleep(self._entropy.jitter(self._candidacy.retry_seconds, _RETRY_SPREAD))

    async def hold(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do the work while the lease is renewed."""
        async with asyncio.TaskGroup() as tasks:
            keeping = [
                tasks.create_task(self._renew(), name="lease renewal"),
                tasks.create_task(self._watch_deadline(), name="lease deadline"),
            ]
            await work()
            for task in keeping:
                task.cancel()

    async def _renew(self) -> None:
        while True:
            await self._clock.sleep(self._candidacy.retry_seconds)
            await self._try()

    async def _watch_deadline(self) -> None:
        """Give up in time, even if a renewal is still on its way."""
        while True:
            left = self._renewed_at + self._candidacy.renew_seconds - self._clock.monotonic()
            if left <= 0:
                raise LeadershipLost(self._candidacy.name)
            await self._clock.sleep(left)

    async def _try(self) -> bool:
        """Take or renew the lease, if that may be. Whether we hold it."""
        begun = self._clock.monotonic()
        try:
            is_held = await self._take()
        except (ApiError, Unreachable) as fault:
            if not isinstance(fault, Conflict | AlreadyExists) and str(fault) != self._complaint:
                self._complaint = str(fault)
                self._log.info("lease cannot be taken", lease=self._candidacy.name, err=fault)
            return False
        if is_held:
            # From before the request: the others count from when it was written.
            self._renewed_at, self._complaint = begun, ""
        return is_held

    async def _take(self) -> bool:
        try:
            lease = await self._client.get(LEASE, self._candidacy.object_name)
        except NotFound:
            meta = ObjectMeta(name=self._candidacy.name, namespace=self._candidacy.namespace)
            await self._client.create(LEASE, Lease(metadata=meta, spec=self._make_spec(None)))
            return True
        spec = lease.spec
        if spec != self._seen:
            self._seen, self._seen_at = spec, self._clock.monotonic()
        is_ours = spec.holder_identity == self._candidacy.identity
        if not is_ours and spec.holder_identity and not self._has_run_out(spec):
            return False
        await self._client.update(LEASE, replace(lease, spec=self._make_spec(spec)))
        return True

    def _has_run_out(self, spec: LeaseSpec) -> bool:
        length = spec.lease_duration_seconds or self._candidacy.lease_seconds
        return self._clock.monotonic() >= self._seen_at + length

    def _make_spec(self, old: LeaseSpec | None) -> LeaseSpec:
        now, identity = self._clock.now(), self._candidacy.identity
        is_ours = old is not None and old.holder_identity == identity
        transitions = (old.lease_transitions or 0) if old is not None else 0
        return LeaseSpec(
            holder_identity=identity,
            lease_duration_seconds=self._candidacy.lease_seconds,
            acquire_time=old.acquire_time if old is not None and is_ours else now,
            renew_time=now,
            lease_transitions=transitions if old is None or is_ours else transitions + 1,
        )

    async def release(self) -> None:
        """Let the next one begin at once. A lease that cannot be given back runs out by itself."""
        if not self._candidacy.is_released:
            return
        try:
            lease = await self._client.get(LEASE, self._candidacy.object_name)
            if lease.spec.holder_identity == self._candidacy.identity:
                now = self._clock.now()
                spec = replace(
                    lease.spec, holder_identity="", lease_duration_seconds=1, renew_time=now, acquire_time=now
                )
                await self._client.update(LEASE, replace(lease, spec=spec))
        except (ApiError, Unreachable) as fault:
            self._log.info("lease is not given back", lease=self._candidacy.name, err=fault)
