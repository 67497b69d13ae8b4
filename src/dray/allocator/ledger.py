"""The one owner of what is taken: devices, shares of devices, and how much of their capacity.

Built from the claims that hold devices; claims whose allocation is decided but not yet written count just the same.
Every change can be undone: `undo(mark)` restores exactly what held when the mark was set. Access for administration
takes nothing and is not recorded.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from dray.allocator.ids import ClaimUid, PoolId, claim_ref, claim_uid
from dray.api.resource.allocation import AllocationResult, DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim

__all__ = ["DeviceUse", "Holding", "Ledger", "Mark"]

_K = TypeVar("_K", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Holding:
    """What one claim holds. `ref` is how people name the claim; it tells no holdings apart."""

    ref: str = field(compare=False)
    results: tuple[DeviceRequestAllocationResult, ...]


Mark: TypeAlias = int
"""A moment in the life of a ledger, to which it can be taken back."""


@dataclass(slots=True)
class DeviceUse:
    """Who uses one device.

    `holders` have the whole device: one claim, more only if allocations contradict each other. `shares` have a part
    each. `consumed` sums what the shares take, in billionths by capacity; what sums up to nothing is left out.
    """

    holders: dict[ClaimUid, int] = field(default_factory=dict)
    shares: dict[tuple[ClaimUid, str], int] = field(default_factory=dict)
    consumed: dict[str, int] = field(default_factory=dict)

    def users(self) -> list[ClaimUid]:
        """The claims that use the device, in the order in which they came."""
        return list(dict.fromkeys([*self.holders, *(claim for claim, _ in self.shares)]))


_UNUSED: Mapping[str, DeviceUse] = MappingProxyType({})


class Ledger:
    """What every claim holds, and the same by device. Mutable; owned by whoever owns the cluster's state."""

    def __init__(self) -> None:
        self._held: dict[ClaimUid, Holding] = {}
        self._uses: dict[PoolId, dict[str, DeviceUse]] = {}
        self._journal: list[tuple[ClaimUid, Holding | None]] = []

    @classmethod
    def of(cls, claims: Iterable[ResourceClaim]) -> Ledger:
        """The ledger in which exactly the given claims hold what their status says."""
        ledger = cls()
        for claim in claims:
            if claim.status.allocation is not None:
                ledger.take(claim_uid(claim), claim.status.allocation, claim_ref(claim))
        ledger.forget_history()
        return ledger

    def __contains__(self, claim: ClaimUid) -> bool:
        return claim in self._held

    def __len__(self) -> int:
        return len(self._held)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._held == other._held and self._uses == other._uses

    __hash__ = None  # type: ignore[assignment]

    def uses(self, pool: PoolId) -> Mapping[str, DeviceUse]:
        """The devices of a pool that are in use, by name."""
        return self._uses.get(pool, _UNUSED)

    def holding(self, claim: ClaimUid) -> Holding | None:
        """What a claim holds, access for administration left out; None if it holds nothing."""
        return self._held.get(claim)

    def take(self, claim: ClaimUid, allocation: AllocationResult, ref: str = "") -> set[PoolId]:
        """Let a claim hold what was allocated to it, instead of what it held before. Returns the pools this touches.

        Explanations name the claim by `ref`, or by its UID if that is left out.
        """
        taken = tuple(result for result in allocation.devices.results if not result.admin_access)
        return self._replace(claim, Holding(ref or claim, taken))

    def release(self, claim: ClaimUid) -> set[PoolId]:
        """Let a claim hold nothing. Unknown claims are a no-op: release runs again after a crash."""
        return self._replace(claim, None)

    def mark(self) -> Mark:
        """Remember this moment, for `undo`."""
        return len(self._journal)

    def undo(self, mark: Mark) -> set[PoolId]:
        """Go back to the moment of `mark`. Marks set after it become void. Returns the pools this touches."""
        touched: set[PoolId] = set()
        while len(self._journal) > mark:
            claim, before = self._journal.pop()
            touched |= self._set(claim, before)
        return touched

    def forget_history(self) -> None:
        """Make everything so far final; marks become void. A ledger that is never undone calls this now and then."""
        self._journal.clear()

    def _replace(self, claim: ClaimUid, holding: Holding | None) -> set[PoolId]:
        before = self._held.get(claim)
        if before is None and holding is None:
            return set()
        self._journal.append((claim, before))
        return self._set(claim, holding)

    def _set(self, claim: ClaimUid, holding: Holding | None) -> set[PoolId]:
        before = self._held.pop(claim, None)
        lost = () if before is None else before.results
        gained = () if holding is None else holding.results
        for result in lost:
            self._count(claim, result, -1)
        if holding is not None:
            self._held[claim] = holding
        for result in gained:
            self._count(claim, result, 1)
        return {PoolId(result.driver, result.pool) for result in (*lost, *gained)}

    def _count(self, claim: ClaimUid, result: DeviceRequestAllocationResult, sign: int) -> None:
        """Enter one result, or strike it out."""
        pool = self._uses.setdefault(PoolId(result.driver, result.pool), {})
        use = pool.setdefault(result.device, DeviceUse())
        if result.share_id is None:
            _add(use.holders, claim, sign)
        else:
            _add(use.shares, (claim, result.share_id), sign)
            for name, amount in result.consumed_capacity.items():
                _add(use.consumed, name, sign * amount.nanos)
        if not use.holders and not use.shares:
            del pool[result.device]
            if not pool:
                del self._uses[PoolId(result.driver, result.pool)]


def _add(sums: dict[_K, int], key: _K, amount: int) -> None:
    """Add to one sum; a sum of nothing leaves no trace."""
    total = sums.get(key, 0) + amount
    if total:
        sums[key] = total
    else:
        sums.pop(key, None)
