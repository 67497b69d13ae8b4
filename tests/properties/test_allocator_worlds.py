"""The allocator against its witnesses, on small random worlds: the audit, the plain search, and all assignments."""

from __future__ import annotations

from dataclasses import replace as replace_in

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.allocator.outcome import Allocated
from dray.allocator.solve import SearchLimits
from dray.api.meta import ObjectMeta
from dray.api.resource.device import Device, DeviceAttribute
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.audit.allocation import audit_allocation
from dray.audit.world import World
from tests.properties.allocating import GUIDED, PLAIN, PROBED, allocate_in, answer_of, expected_answer
from tests.properties.artist import NODE, Feature, select
from tests.properties.assignments import count_assignments, has_solution
from tests.properties.worlds import worlds

EXAMPLES = settings().max_examples
MAX_ASSIGNMENTS = 3_000
"""Worlds with more assignments are left out where all of them are tried."""

all_searches = pytest.mark.parametrize("limits", [PLAIN, GUIDED, PROBED], ids=["plain", "guided", "probed"])


@all_searches
@settings(max_examples=8 * EXAMPLES)
@given(world=worlds())
def test_first_solution_is_that_of_the_plain_search_and_legal(limits: SearchLimits, world: World) -> None:
    outcome = allocate_in(world, limits=limits)
    answer, want = answer_of(outcome), expected_answer(world)
    assert answer.ending is want.ending
    assert answer.picks == want.picks
    assert answer.message.startswith(want.message)  # the oracle does not know why an amount cannot be counted
    if isinstance(outcome, Allocated):
        assert audit_allocation(world, outcome.allocations) == []


@all_searches
@settings(max_examples=2 * EXAMPLES)
@given(world=worlds(without=frozenset([Feature.FAILING])))
def test_allocation_is_found_exactly_if_there_is_one(limits: SearchLimits, world: World) -> None:
    assume(count_assignments(world) <= MAX_ASSIGNMENTS)
    outcome = allocate_in(world, limits=limits)
    assert isinstance(outcome, Allocated) is has_solution(world)


@settings(max_examples=2 * EXAMPLES)
@given(world=worlds(), data=st.data())
def test_order_in_which_slices_come_does_not_matter(world: World, data: st.DataObject) -> None:
    shuffled = data.draw(st.permutations(world.slices))
    assert allocate_in(replace_in(world, slices=shuffled)) == allocate_in(world)


@settings(max_examples=2 * EXAMPLES)
@given(world=worlds(), pool=st.sampled_from(["a", "p0", "z"]))
def test_device_that_no_class_selects_changes_nothing(world: World, pool: str) -> None:
    before = replace_in(world, classes=[_without_extras(each) for each in world.classes])
    after = replace_in(before, slices=[*before.slices, _extra_slice(pool)])
    assert answer_of(allocate_in(after)) == answer_of(allocate_in(before))


def _without_extras(device_class: DeviceClass) -> DeviceClass:
    selectors = (*select('device.driver != "extra.x"'), *device_class.spec.selectors)
    return replace(device_class, spec=replace(device_class.spec, selectors=selectors))


def _extra_slice(pool: str) -> ResourceSlice:
    device = Device(name="d0", attributes={"common.x/root": DeviceAttribute(string="r0")})
    spec = ResourceSliceSpec(
        driver="extra.x",
        node_name=NODE,
        pool=ResourcePool(name=pool, generation=1, resource_slice_count=1),
        devices=(device,),
    )
    return ResourceSlice(metadata=ObjectMeta(name="extra"), spec=spec)


@given(world=worlds())
def test_allocation_leaves_its_input_alone(world: World) -> None:
    before = repr(world)
    allocate_in(world)
    assert repr(world) == before
