"""The audit against the rules of the plain search: both call the same assignments legal, found or not."""

from __future__ import annotations

from itertools import count

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dray.api.resource.allocation import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from dray.audit.allocation import audit_allocation
from dray.audit.amounts import amounts_taken
from dray.audit.violations import ViolationCode
from dray.audit.wishes import Wish
from dray.audit.world import Published, World
from tests.properties.artist import Feature
from tests.properties.oracle import PlainSearch, Quirks
from tests.properties.preparation import FatalError, Option, Preparation
from tests.properties.worlds import worlds

EXAMPLES = settings().max_examples
FOLLOWING = {ViolationCode.CONFIG_WRONG, ViolationCode.NODE_SELECTOR_WRONG}
"""What an allocation says besides its devices, which an assignment does not have."""

Assignment = list[list[tuple[Option, list[Published]]]]
"""For every claim the requests in order, each with an option and devices for it."""


def draw_assignment(known: Preparation, data: st.DataObject) -> Assignment:
    """Devices for every request: as many as are wanted, most of them selected, some not to be had."""
    assignment: Assignment = []
    for number, options in enumerate(known.options):
        assignment.append([])
        for choices in options:
            option = data.draw(st.sampled_from(choices))
            liked = [each for each in known.devices if known.is_selectable(number, option.wish, each)]
            devices = st.sampled_from(liked or known.devices) | st.sampled_from(known.devices)
            is_whole = option.listed is not None and data.draw(st.integers(0, 3)) > 0
            drawn = data.draw(st.lists(devices, min_size=option.needed, max_size=option.needed))
            assignment[number].append((option, list(option.listed or ()) if is_whole else drawn))
    return assignment


def is_legal(known: Preparation, assignment: Assignment) -> bool:
    """Whether the plain search could take all these devices one after another."""
    search = PlainSearch(known, Quirks(admin_takes=False, refusal_is_fatal=False), 0)
    for claim in assignment:
        for option, devices in claim:
            keys = {published.key for published in devices}
            if len(keys) < len(devices):
                return False
            if option.listed is not None and (not devices or keys != {each.key for each in option.listed}):
                return False
            if not all(
                known.is_selectable(option.claim, option.wish, each) and search.place(option, each) for each in devices
            ):
                return False
    return True


def written(assignment: Assignment) -> list[AllocationResult]:
    """The assignment as allocations, without configuration and node selector."""
    shares = count()
    return [
        AllocationResult(
            devices=DeviceAllocationResult(
                results=tuple(
                    result(option.wish, published, next(shares)) for option, devices in claim for published in devices
                )
            )
        )
        for claim in assignment
    ]


def result(wish: Wish, published: Published, share: int) -> DeviceRequestAllocationResult:
    requested = wish.terms.capacity.requests if wish.terms.capacity is not None else {}
    return DeviceRequestAllocationResult(
        request=wish.reference,
        driver=published.key.driver,
        pool=published.key.pool,
        device=published.key.name,
        admin_access=True if wish.is_admin else None,
        tolerations=wish.terms.tolerations,
        binding_conditions=published.device.binding_conditions,
        binding_failure_conditions=published.device.binding_failure_conditions,
        share_id=f"new-{share}" if published.is_shareable else None,
        consumed_capacity=amounts_taken(published.device, requested) or {} if published.is_shareable else {},
        skip_node_operations=published.source.spec.skip_node_operations,
    )


@settings(max_examples=8 * EXAMPLES)
@given(world=worlds(without=frozenset([Feature.FAILING])), data=st.data())
def test_audit_and_plain_search_call_the_same_assignments_legal(world: World, data: st.DataObject) -> None:
    known = Preparation(world)
    try:
        known.prepare()
    except FatalError:
        assume(False)
    assume(known.devices)
    assignment = draw_assignment(known, data)
    violations = [each for each in audit_allocation(world, written(assignment)) if each.code not in FOLLOWING]
    assert (violations == []) is is_legal(known, assignment), violations
