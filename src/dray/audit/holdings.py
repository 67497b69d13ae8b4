"""What claims hold already: whole devices, shares of devices, and what the shares consume."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dray.api.resource.allocation import DeviceRequestAllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.audit.world import DeviceKey, name_claim

__all__ = ["Holdings", "device_key", "find_holdings", "held_results"]


def device_key(result: DeviceRequestAllocationResult) -> DeviceKey:
    """The device of a result."""
    return DeviceKey(result.driver, result.pool, result.device)


@dataclass(frozen=True, slots=True)
class Holdings:
    """Devices in whole hands with their holders, share identifiers by device, and billionths consumed by capacity."""

    whole: dict[DeviceKey, list[str]] = field(default_factory=dict)
    shares: dict[DeviceKey, list[str]] = field(default_factory=dict)
    consumed: dict[DeviceKey, Tally[str]] = field(default_factory=dict)

    @property
    def in_use(self) -> set[DeviceKey]:
        """Devices that somebody holds, or has a share of."""
        return {*self.whole, *self.shares}


def held_results(claims: Iterable[ResourceClaim]) -> Iterator[tuple[str, DeviceRequestAllocationResult]]:
    """All results that take something, with the names of their claims. Access for administration takes nothing."""
    for claim in claims:
        if claim.status.allocation is not None:
            for result in claim.status.allocation.devices.results:
                if not result.admin_access:
                    yield name_claim(claim), result


def find_holdings(results: Iterable[tuple[str, DeviceRequestAllocationResult]]) -> Holdings:
    """Sum up what some results take."""
    holdings = Holdings()
    for holder, result in results:
        key = device_key(result)
        if result.share_id is None:
            holdings.whole.setdefault(key, []).append(holder)
            continue
        holdings.shares.setdefault(key, []).append(result.share_id)
        consumed = holdings.consumed.setdefault(key, Tally())
        for name, amount in result.consumed_capacity.items():
            consumed[name] += amount.nanos
    return holdings
