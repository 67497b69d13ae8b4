"""Explanations are true: without what they name the claims fit, and what they count is what the definitions count."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace as replace_in
from itertools import combinations
from pathlib import Path

import msgspec
import yaml
from hypothesis import assume, example, given, settings
from msgspec.structs import replace

from dray.allocator.explain import explain
from dray.allocator.ids import claim_ref
from dray.allocator.reasons import Conflict, Explanation, ReasonCode, Remedy, RemedyCode
from dray.api.core.node import Node
from dray.api.mending import decode_custom
from dray.api.meta import ObjectMeta
from dray.api.resource.claim import DeviceClaim, DeviceConstraint, ResourceClaim
from dray.api.resource.device import Device
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, DeviceToleration, ExactDeviceRequest
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.audit.amounts import amounts_taken
from dray.audit.pools import PoolState, published_devices, see_offer
from dray.audit.wishes import Wish, failing_selector, is_tolerated, list_wishes
from dray.audit.world import Published, World
from tests.properties.allocating import cluster_of, expected_answer
from tests.properties.artist import NODE, Feature
from tests.properties.expressions import derived_or_nothing, is_true
from tests.properties.oracle import Ending
from tests.properties.worlds import CLASSES, worlds

EXAMPLES = settings().max_examples
CASES = Path(__file__).parents[1] / "cases" / "explanations"
UNEXPLAINED = frozenset([Feature.FAILING])
"""Selectors that fail end an attempt with an error, which explains itself."""

Terms = ExactDeviceRequest | DeviceSubRequest


class Case(msgspec.Struct, frozen=True):
    """A world that was explained wrongly."""

    slices: tuple[ResourceSlice, ...]
    claims: tuple[ResourceClaim, ...]
    allocated: tuple[ResourceClaim, ...] = ()


def load_world(raw: object) -> World:
    case = msgspec.json.decode(msgspec.json.encode(raw), type=Case, dec_hook=decode_custom)
    node = Node(metadata=ObjectMeta(name=NODE, labels={"zone": "a"}))
    return World(node, CLASSES, case.slices, case.allocated, case.claims, is_true, derived_or_nothing)


REGRESSIONS = yaml.safe_load(CASES.joinpath("worlds.yaml").read_text(encoding="utf-8"))


def on_regressions(test: Callable[[World], None]) -> Callable[[World], None]:
    """Try worlds that were explained wrongly before random ones."""
    for each in REGRESSIONS:
        test = example(world=load_world(each)).via(each["name"])(test)
    return test


def explained(world: World) -> Explanation:
    """The explanation of a world that cannot serve its claims."""
    assume(expected_answer(world).ending in (Ending.UNSCHEDULABLE, Ending.INVALID_POOLS))
    return explain(world.claims, cluster_of(world), NODE)


def fits(world: World) -> bool:
    return expected_answer(world).ending is Ending.ALLOCATED


def with_devices(claim: ResourceClaim, change: Callable[[DeviceClaim], DeviceClaim]) -> ResourceClaim:
    return replace(claim, spec=replace(claim.spec, devices=change(claim.spec.devices)))


def with_claim(world: World, number: int, change: Callable[[DeviceClaim], DeviceClaim]) -> World:
    """The world with one claim changed."""
    claims = [with_devices(each, change) if index == number else each for index, each in enumerate(world.claims)]
    return replace_in(world, claims=claims)


def with_terms(world: World, number: int, reference: str, change: Callable[[Terms], Terms]) -> World:
    """The world with one exact request, or one alternative, changed."""

    def changed(request: DeviceRequest) -> DeviceRequest:
        if request.exactly is not None:
            exactly = change(request.exactly) if reference == request.name else request.exactly
            return replace(request, exactly=exactly)
        subs = tuple(
            change(each) if reference == f"{request.name}/{each.name}" else each for each in request.first_available
        )
        return replace(request, first_available=subs)

    return with_claim(
        world, number, lambda devices: replace(devices, requests=tuple(map(changed, devices.requests or ())))
    )


# What conflicts.


def confined(world: World, requests: Sequence[tuple[int, str]], constraints: Sequence[tuple[int, str]]) -> World:
    """The world in which nothing is wanted but some requests under some constraints."""

    def kept(number: int, devices: DeviceClaim) -> DeviceClaim:
        return replace(
            devices,
            requests=tuple(each for each in devices.requests or () if (number, each.name) in requests),
            constraints=tuple(each for each in devices.constraints if (number, _attribute(each)) in constraints),
            config=(),
        )

    for number in range(len(world.claims)):
        world = with_claim(world, number, lambda devices, number=number: kept(number, devices))  # type: ignore[misc]
    return world


def _attribute(constraint: DeviceConstraint) -> str | None:
    return constraint.match_attribute or constraint.distinct_attribute


def weaker(conflict: Conflict) -> Iterator[tuple[Sequence[tuple[int, str]], Sequence[tuple[int, str]]]]:
    """The conflict with one thing left out, each in turn."""
    for left_out in conflict.requests:
        yield [each for each in conflict.requests if each != left_out], conflict.constraints
    for left_out in conflict.constraints:
        yield conflict.requests, [each for each in conflict.constraints if each != left_out]


@on_regressions
@settings(max_examples=4 * EXAMPLES)
@given(world=worlds(without=UNEXPLAINED))
def test_conflict_is_one_and_nothing_in_it_can_be_spared(world: World) -> None:
    conflict = explained(world).conflict
    assert conflict is not None
    assert not fits(confined(world, conflict.requests, conflict.constraints))
    for requests, constraints in weaker(conflict):
        assert fits(confined(world, requests, constraints))


# What would help.


def released(world: World, names: Sequence[str]) -> World:
    return replace_in(world, allocated=[each for each in world.allocated if claim_ref(each) not in names])


def with_more_devices(world: World, additions: Sequence[Remedy]) -> Iterator[World]:
    """The worlds in which some devices are there a few times more: free, sound, and drawing on nothing."""
    if not additions:
        yield world
        return
    name = f"spares-{len(additions)}"
    published = [(each.spec.driver, model) for each in world.slices for model in each.spec.devices or ()]
    for driver, model in published:
        spares = tuple(_spare(model, number) for number in range(additions[0].count))
        pool = ResourcePool(name=name, generation=1, resource_slice_count=1)
        spec = ResourceSliceSpec(driver=driver, node_name=NODE, pool=pool, devices=spares)
        slices = [*world.slices, ResourceSlice(metadata=ObjectMeta(name=name), spec=spec)]
        yield from with_more_devices(replace_in(world, slices=slices), additions[1:])


def _spare(model: Device, number: int) -> Device:
    return replace(
        model,
        name=f"spare-{number}",
        consumes_counters=(),
        taints=(),
        node_name=None,
        node_selector=None,
        all_nodes=None,
    )


def applied(world: World, remedy: Remedy) -> Iterator[World]:
    """The worlds that a remedy may speak of; one of them has to serve the claims."""
    claim = remedy.claim or 0
    match remedy.code:
        case RemedyCode.ADD_DEVICES:
            yield from with_more_devices(world, (remedy, *remedy.along_with))
        case RemedyCode.RELAX_CONSTRAINT:
            constraints = world.claims[claim].spec.devices.constraints
            for index, each in enumerate(constraints):
                if _attribute(each) == remedy.names[0]:
                    rest = (*constraints[:index], *constraints[index + 1 :])
                    yield with_claim(world, claim, lambda devices, rest=rest: replace(devices, constraints=rest))  # type: ignore[misc]
        case RemedyCode.RELAX_SELECTOR:
            yield with_terms(world, claim, remedy.where, lambda terms: _without_selector(terms, remedy.names[0]))
        case RemedyCode.TOLERATE_TAINTS:
            everything = (DeviceToleration(operator="Exists"),)
            for number, asking in enumerate(world.claims):
                for request in asking.spec.devices.requests or ():
                    for wish in list_wishes(request):
                        world = with_terms(
                            world, number, wish.reference, lambda terms: replace(terms, tolerations=everything)
                        )
            yield world


def _without_selector(terms: Terms, expression: str) -> Terms:
    kept = tuple(each for each in terms.selectors if each.cel is None or each.cel.expression != expression)
    assert len(kept) < len(terms.selectors)
    return replace(terms, selectors=kept)


@on_regressions
@settings(max_examples=4 * EXAMPLES)
@given(world=worlds(without=UNEXPLAINED))
def test_every_remedy_makes_the_claims_fit(world: World) -> None:
    for remedy in explained(world).remedies:
        if remedy.code is RemedyCode.RELEASE_CLAIMS:
            assert remedy.count <= len(remedy.names)
            for names in combinations(remedy.names, remedy.count):
                assert fits(released(world, names)), remedy
        else:
            assert any(map(fits, applied(world, remedy))), remedy


@on_regressions
@settings(max_examples=EXAMPLES)
@given(world=worlds(without=UNEXPLAINED))
def test_releasing_is_proposed_whenever_it_helps(world: World) -> None:
    codes = [remedy.code for remedy in explained(world).remedies]
    assert (RemedyCode.RELEASE_CLAIMS in codes) is fits(replace_in(world, allocated=[]))


# How devices fare.


STATIC_REASONS = (
    ReasonCode.WRONG_CLASS,
    ReasonCode.SELECTOR_FALSE,
    ReasonCode.UNREACHABLE,
    ReasonCode.CAPACITY_TOO_SMALL,
    ReasonCode.TAINTED,
)
"""Why a device does not come into question whoever has it."""


def static_reason(world: World, wish: Wish, published: Published, offered: Sequence[Published]) -> ReasonCode | None:
    """The first of those reasons that holds, by the definitions."""
    requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
    failing = failing_selector(world, wish, published)
    if failing is not None:
        return ReasonCode.WRONG_CLASS if "of the class" in failing else ReasonCode.SELECTOR_FALSE
    if published not in offered:
        return ReasonCode.UNREACHABLE
    if amounts_taken(published.device, requested) is None:
        return ReasonCode.CAPACITY_TOO_SMALL
    return None if is_tolerated(wish, published) else ReasonCode.TAINTED


@on_regressions
@settings(max_examples=4 * EXAMPLES)
@given(world=worlds(without=UNEXPLAINED))
def test_devices_are_counted_by_reason_as_defined(world: World) -> None:
    explanation = explained(world)
    offer = see_offer(world.slices, world.node)
    usable = [pool for pool in offer.pools if pool.state is PoolState.USABLE]
    seen = [published for pool in usable for published in published_devices(pool.here)]
    wishes = {
        (number, wish.reference): wish
        for number, claim in enumerate(world.claims)
        for request in claim.spec.devices.requests or ()
        for wish in list_wishes(request)
    }
    assert {str(trouble.pool) for trouble in explanation.pools} == {
        str(pool.key) for pool in offer.pools if pool.state is not PoolState.USABLE
    }
    for request in explanation.requests:
        wish = wishes[request.claim, request.request]
        counted: Tally[ReasonCode | None] = Tally()
        for fall in request.falls:
            counted[fall.code] += fall.count
        want = Tally(static_reason(world, wish, published, offer.devices) for published in seen)
        assert {code: counted[code] for code in STATIC_REASONS} == {code: want[code] for code in STATIC_REASONS}
        assert request.seen == len(seen)
        assert request.left + counted.total() == len(seen)
