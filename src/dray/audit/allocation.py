"""Whether the allocations of claims on one node are legal, by the definitions of Dynamic Resource Allocation.

Rules look at the finished allocations alone, never at how they were found. Which of several legal solutions was chosen
is no matter of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from dray.api.resource.allocation import AllocationResult
from dray.api.resource.claim import ResourceClaim
from dray.audit.config import expected_config
from dray.audit.constraints import audit_constraints
from dray.audit.holdings import device_key
from dray.audit.nodes import expected_node_selector, unsupported_selectors
from dray.audit.picks import audit_pick
from dray.audit.pools import see_offer
from dray.audit.possession import audit_possession
from dray.audit.requests import audit_requests
from dray.audit.violations import Violation, ViolationCode
from dray.audit.wishes import Pick, Wish, find_class, find_wish, list_wishes
from dray.audit.world import Published, World, name_claim

__all__ = ["MAX_DEVICES", "audit_allocation"]

MAX_DEVICES = 32
"""Results that the API lets one claim have."""


def audit_allocation(world: World, allocations: Sequence[AllocationResult]) -> list[Violation]:
    """All rules that the allocations break; none if they are legal. They answer `world.claims` in their order.

    Hand in `outcome.allocations` of an `Allocated`; the other outcomes of an allocator allocate nothing that could be
    audited. Selectors and derived attributes are evaluated by callables of the world, so that callers choose the
    language they trust; what fails is not true.
    """
    if len(allocations) != len(world.claims):
        text = f"{len(allocations)} allocations for {len(world.claims)} claims"
        return [Violation(ViolationCode.ALLOCATIONS_MISSING, f"node {world.node.metadata.name}", text)]
    offer = see_offer(world.slices, world.node)
    violations: list[Violation] = []
    picks: list[Pick] = []
    for number, (claim, allocation) in enumerate(zip(world.claims, allocations, strict=True)):
        found = list(_resolve(number, claim, allocation, offer.devices))
        mine = [each for each in found if isinstance(each, Pick)]
        violations += [each for each in found if isinstance(each, Violation)]
        violations += _audit_claim(world, claim, allocation, mine)
        violations += chain.from_iterable(audit_pick(world, pick) for pick in mine)
        violations += audit_requests(world, claim, mine, offer)
        picks += mine
    violations += audit_possession(world.allocated, picks, offer.pools)
    return violations


def _resolve(
    number: int, claim: ResourceClaim, allocation: AllocationResult, offered: Sequence[Published]
) -> Iterator[Pick | Violation]:
    """Every result with the wish and the device it names, or what is wrong if there is none."""
    by_key = {published.key: published for published in offered}
    for index, result in enumerate(allocation.devices.results):
        key = device_key(result)
        subject = f"{name_claim(claim)} result #{index} {key}"
        wish = find_wish(claim, result.request)
        published = by_key.get(key)
        if wish is None:
            yield Violation(ViolationCode.UNKNOWN_REQUEST, subject, f"the claim has no request {result.request}")
        if published is None:
            text = "no usable pool offers the device to the node"
            yield Violation(ViolationCode.DEVICE_NOT_OFFERED, subject, text)
        if wish is not None and published is not None:
            yield Pick(number, subject, wish, result, published)


def _audit_claim(
    world: World, claim: ResourceClaim, allocation: AllocationResult, picks: Sequence[Pick]
) -> Iterator[Violation]:
    """What holds for the devices of a claim together, and what follows from them."""
    subject = name_claim(claim)
    if len(allocation.devices.results) > MAX_DEVICES:
        text = f"{len(allocation.devices.results)} devices, at most {MAX_DEVICES} are allowed"
        yield Violation(ViolationCode.TOO_MANY_DEVICES, subject, text)
    if allocation.allocation_timestamp is not None:
        text = "the time of allocation is for the writer of the status to set"
        yield Violation(ViolationCode.TIMESTAMP_SET, subject, text)
    yield from audit_constraints(subject, claim.spec.devices.constraints, picks, world.derive)
    served = _served_wishes(claim, picks)
    config = expected_config(claim, served, lambda wish: find_class(world, wish))
    if allocation.devices.config != config:
        yield Violation(ViolationCode.CONFIG_WRONG, subject, f"configuration should be {config}")
    devices = [pick.published for pick in picks]
    for published in unsupported_selectors(devices):
        text = f"the node selector of {published.key} has alternatives, which cannot be part of the claim's"
        yield Violation(ViolationCode.NODE_SELECTOR_WRONG, subject, text)
        return
    node_selector = expected_node_selector(devices, world.node)
    if allocation.node_selector != node_selector:
        yield Violation(ViolationCode.NODE_SELECTOR_WRONG, subject, f"node selector should be {node_selector}")


def _served_wishes(claim: ResourceClaim, picks: Sequence[Pick]) -> list[Wish]:
    """For every request the wish that its results name; an exact request is served even by nothing."""
    served: list[Wish] = []
    for request in claim.spec.devices.requests or ():
        wishes = list_wishes(request)
        named = [pick.wish for pick in picks if pick.wish.request == request.name]
        if named or len(wishes) == 1:
            served.append(named[0] if named else wishes[0])
    return served
