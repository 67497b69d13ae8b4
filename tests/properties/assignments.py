"""Every assignment of devices to requests there is, judged as a whole: whether a small world has any legal one."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, count, product
from math import comb, prod

from dray.api.resource.allocation import DeviceRequestAllocationResult
from dray.audit.allocation import MAX_DEVICES
from dray.audit.amounts import amounts_taken
from dray.audit.constraints import audit_constraints
from dray.audit.pools import Offer, PoolState, see_offer
from dray.audit.possession import audit_possession
from dray.audit.wishes import Pick, Wish, failing_selector, find_class, is_tolerated, list_wishes
from dray.audit.world import Published, World

__all__ = ["count_assignments", "has_solution"]

Choice = tuple[Wish, tuple[Published, ...]]
"""Devices for one request, by one of its alternatives."""


def has_solution(world: World) -> bool:
    """Whether any assignment is legal, by the rules of the audit."""
    offer = see_offer(world.slices, world.node)
    return any(_is_legal(world, offer, assignment) for assignment in product(*_choices(world, offer)))


def count_assignments(world: World) -> int:
    """How many assignments `has_solution` may have to try."""
    offer = see_offer(world.slices, world.node)
    return prod(sum(_number(world, offer, wish) for wish in wishes) for wishes in _wishes(world))


def _wishes(world: World) -> list[list[Wish]]:
    return [list_wishes(request) for claim in world.claims for request in claim.spec.devices.requests or ()]


def _number(world: World, offer: Offer, wish: Wish) -> int:
    return 1 if wish.wants_all else comb(len(_candidates(world, offer, wish)), wish.terms.count)


def _choices(world: World, offer: Offer) -> list[list[tuple[int, Choice]]]:
    """For every request of every claim, with the number of the claim, what it may be given if it were alone."""
    return [
        [(number, choice) for wish in list_wishes(request) for choice in _choices_of(world, offer, wish)]
        for number, claim in enumerate(world.claims)
        for request in claim.spec.devices.requests or ()
    ]


def _choices_of(world: World, offer: Offer, wish: Wish) -> Iterator[Choice]:
    candidates = _candidates(world, offer, wish)
    usable = [published for published in candidates if _is_usable(world, wish, published)]
    if not wish.wants_all:
        yield from ((wish, devices) for devices in combinations(usable, wish.terms.count))
    elif usable and usable == candidates and all(pool.state is PoolState.USABLE for pool in offer.pools):
        yield wish, tuple(usable)


def _candidates(world: World, offer: Offer, wish: Wish) -> list[Published]:
    requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
    assert find_class(world, wish) is not None
    return [
        published
        for published in offer.devices
        if failing_selector(world, wish, published) is None and amounts_taken(published.device, requested) is not None
    ]


def _is_usable(world: World, wish: Wish, published: Published) -> bool:
    skipped = published.source.spec.skip_node_operations
    can_skip = "DRAOptionalNodeOperations" in world.node.status.declared_features
    return is_tolerated(wish, published) and (can_skip or not skipped)


def _is_legal(world: World, offer: Offer, assignment: tuple[tuple[int, Choice], ...]) -> bool:
    shares = count()
    by_claim: list[list[Pick]] = [[] for _ in world.claims]
    for number, (wish, devices) in assignment:
        by_claim[number] += [_pick(number, wish, published, next(shares)) for published in devices]
    if any(len(picks) > MAX_DEVICES for picks in by_claim):
        return False
    if any(audit_possession(world.allocated, list(chain.from_iterable(by_claim)), offer.pools)):
        return False
    return not any(
        fault
        for claim, picks in zip(world.claims, by_claim, strict=True)
        for fault in audit_constraints("", claim.spec.devices.constraints, picks, world.derive)
    )


def _pick(number: int, wish: Wish, published: Published, share: int) -> Pick:
    requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
    result = DeviceRequestAllocationResult(
        request=wish.reference,
        share_id=f"new-{share}" if published.is_shareable else None,
        consumed_capacity=amounts_taken(published.device, requested) or {} if published.is_shareable else {},
    )
    return Pick(number, "", wish, result, published)
