"""Whether every request of a claim got exactly what it asks for, from one of its alternatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dray.api.resource.claim import ResourceClaim
from dray.audit.amounts import amounts_taken
from dray.audit.pools import Offer, PoolState
from dray.audit.violations import Violation, ViolationCode
from dray.audit.wishes import Pick, Wish, failing_selector, list_wishes
from dray.audit.world import Published, World, name_claim

__all__ = ["audit_requests"]


def audit_requests(world: World, claim: ResourceClaim, picks: Sequence[Pick], offer: Offer) -> Iterator[Violation]:
    """Every request got exactly what it asks for, from one of its alternatives."""
    for request in claim.spec.devices.requests or ():
        subject = f"{name_claim(claim)} request {request.name}"
        wishes = list_wishes(request)
        mine = [pick for pick in picks if pick.wish.request == request.name]
        served = {pick.wish.reference for pick in mine}
        if len(served) > 1:
            text = f"served by {', '.join(sorted(served))}"
            yield Violation(ViolationCode.ALTERNATIVES_MIXED, subject, text)
            continue
        if not served and len(wishes) > 1:
            yield Violation(ViolationCode.WRONG_DEVICE_COUNT, subject, "no alternative has devices")
            continue
        wish = mine[0].wish if mine else wishes[0]
        yield from _audit_number(world, subject, wish, mine, offer)
        keys = [pick.published.key for pick in mine if pick.published.is_shareable]
        for key in sorted(key for key in set(keys) if keys.count(key) > 1):
            yield Violation(ViolationCode.DEVICE_REPEATED, subject, f"{key} serves the request twice")


def _audit_number(world: World, subject: str, wish: Wish, picks: Sequence[Pick], offer: Offer) -> Iterator[Violation]:
    if not wish.wants_all:
        if len(picks) != wish.terms.count:
            text = f"{len(picks)} devices, {wish.terms.count} wanted"
            yield Violation(ViolationCode.WRONG_DEVICE_COUNT, subject, text)
        return
    for pool in offer.pools:
        if pool.state is not PoolState.USABLE:
            text = f"all devices are wanted, but pool {pool.key} is {pool.state}"
            yield Violation(ViolationCode.POOL_NOT_USABLE, subject, text)
    wanted = {published.key for published in _matching_devices(world, wish, offer)}
    if not wanted or wanted != {pick.published.key for pick in picks}:
        text = f"all of {sorted(map(str, wanted))} are wanted, at least one"
        yield Violation(ViolationCode.NOT_ALL_DEVICES, subject, text)


def _matching_devices(world: World, wish: Wish, offer: Offer) -> list[Published]:
    """What a wish for all devices wants: those selected that, used by nobody, could give the capacity asked for."""
    requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
    return [
        published
        for published in offer.devices
        if failing_selector(world, wish, published) is None and amounts_taken(published.device, requested) is not None
    ]
