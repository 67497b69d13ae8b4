"""What holds for all results of all claims together: nothing is given twice, and nothing is given that is not there.

Access for administration takes nothing from anybody: it needs no counters and no capacity, and does not mind who holds
the device. Only within its own claim no whole device comes twice.
"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Sequence

from dray.api.resource.claim import ResourceClaim
from dray.audit.counters import audit_counters, audit_groups
from dray.audit.holdings import Holdings, find_holdings, held_results
from dray.audit.pools import SeenPool
from dray.audit.violations import Violation, ViolationCode
from dray.audit.wishes import Pick
from dray.audit.world import DeviceKey, Published

__all__ = ["audit_possession"]


def audit_possession(
    allocated: Sequence[ResourceClaim], picks: Sequence[Pick], pools: Sequence[SeenPool]
) -> Iterator[Violation]:
    """What the picks take that others, or other picks, have."""
    holdings = find_holdings(held_results(allocated))
    taking = [pick for pick in picks if not pick.wish.is_admin]
    yield from _audit_whole_devices(picks)
    yield from _audit_holders(taking, holdings)
    yield from _audit_shares(picks, holdings)
    yield from _audit_consumption(taking, holdings)
    for pool in pools:
        yield from _audit_pool(pool, taking, holdings)


def _audit_whole_devices(picks: Sequence[Pick]) -> Iterator[Violation]:
    """A device that cannot be shared is given once to a claim, and to one claim unless for administration."""
    whole = [pick for pick in picks if not pick.published.is_shareable]
    for index, pick in enumerate(whole):
        for earlier in whole[:index]:
            if earlier.published.key != pick.published.key:
                continue
            if earlier.claim == pick.claim:
                yield Violation(ViolationCode.DEVICE_REPEATED, pick.subject, f"the same device as {earlier.subject}")
            elif not (earlier.wish.is_admin or pick.wish.is_admin):
                yield Violation(ViolationCode.DEVICE_TAKEN, pick.subject, f"given to {earlier.subject} too")


def _audit_holders(taking: Sequence[Pick], holdings: Holdings) -> Iterator[Violation]:
    for pick in taking:
        key = pick.published.key
        if key in holdings.whole:
            text = f"the device belongs to {', '.join(holdings.whole[key])}"
            yield Violation(ViolationCode.DEVICE_TAKEN, pick.subject, text)
        if key in holdings.shares and not pick.published.is_shareable:
            yield Violation(ViolationCode.DEVICE_TAKEN, pick.subject, "others have shares of the device")


def _audit_shares(picks: Sequence[Pick], holdings: Holdings) -> Iterator[Violation]:
    known = {share for shares in holdings.shares.values() for share in shares}
    for pick in picks:
        share = pick.result.share_id
        if share is None:
            continue
        if share in known:
            yield Violation(ViolationCode.SHARE_ID_WRONG, pick.subject, f"share {share} exists already")
        known.add(share)


def _audit_consumption(taking: Sequence[Pick], holdings: Holdings) -> Iterator[Violation]:
    consumed: dict[DeviceKey, Tally[str]] = {}
    devices: dict[DeviceKey, Published] = {}
    for pick in taking:
        key = pick.published.key
        if pick.published.is_shareable:
            devices[key] = pick.published
            amounts = consumed.setdefault(key, Tally(holdings.consumed.get(key, {})))
            for name, amount in pick.result.consumed_capacity.items():
                amounts[name] += amount.nanos
    for key, published in devices.items():
        for name, capacity in published.device.capacity.items():
            if consumed[key][name] > capacity.value.nanos:
                text = f"{consumed[key][name]} billionths of {name} are taken of {capacity.value}"
                yield Violation(ViolationCode.CAPACITY_EXCEEDED, f"device {key}", text)


def _audit_pool(pool: SeenPool, taking: Sequence[Pick], holdings: Holdings) -> Iterator[Violation]:
    """Counters and groups of a pool. A device of which shares exist drew its part when the first was given."""
    committed = {key.name for key in holdings.in_use if (key.driver, key.pool) == pool.key}
    mine = [pick.published for pick in taking if (pick.published.key.driver, pick.published.key.pool) == pool.key]
    drawing = [each for each in mine if each.device.consumes_counters and each.device.name not in committed]
    if drawing:
        in_use = committed | {published.device.name for published in mine}
        counter_sets = {each.counter_set for published in drawing for each in published.device.consumes_counters}
        yield from audit_counters(pool, in_use)
        yield from audit_groups(pool, in_use, counter_sets)
