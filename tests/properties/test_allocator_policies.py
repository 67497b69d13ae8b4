"""A policy decides which solution is found, never whether there is one, nor which alternatives are used."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dray.allocator.outcome import Allocated
from dray.allocator.policy import FIRST_FIT, PACK, SPREAD, ByScore, Policy, format_policy, parse_policy
from dray.audit.allocation import audit_allocation
from dray.audit.world import World
from tests.properties.allocating import allocate_claims, allocate_in, answer_of, cluster_of
from tests.properties.artist import NODE, Feature
from tests.properties.worlds import worlds

EXAMPLES = settings().max_examples
SCORES = (
    'device.attributes["gpu.x"].?numa.orValue(0) == 0 ? 3 : 4',
    'device.attributes["common.x"].?root.orValue("r9") == "r0" ? 2 : 1',
    "size(device.attributes)",
)
POLICIES = st.sampled_from([PACK, SPREAD, *map(ByScore, SCORES)])


def references(outcome: Allocated) -> list[list[str]]:
    """By claim and device the request, or alternative, that it serves."""
    return [[result.request for result in each.devices.results] for each in outcome.allocations]


@settings(max_examples=4 * EXAMPLES)
@given(world=worlds(without=frozenset([Feature.FAILING])), policy=POLICIES)
def test_policy_changes_only_which_devices_are_taken(world: World, policy: Policy) -> None:
    first = allocate_in(world)
    outcome = allocate_claims(world.claims, cluster_of(world), NODE, policy=policy)
    if isinstance(first, Allocated):
        assert isinstance(outcome, Allocated)
        assert references(outcome) == references(first)
        assert audit_allocation(world, outcome.allocations) == []
    else:
        assert answer_of(outcome) == answer_of(first)


@settings(max_examples=EXAMPLES)
@given(world=worlds(without=frozenset([Feature.FAILING])))
def test_equal_scores_are_first_fit(world: World) -> None:
    constant = allocate_claims(world.claims, cluster_of(world), NODE, policy=ByScore("1"))
    assert answer_of(constant) == answer_of(allocate_in(world))


@given(policy=st.sampled_from([FIRST_FIT, PACK, SPREAD]) | st.builds(ByScore, st.text(max_size=10)))
def test_reading_a_policy_undoes_writing_it(policy: Policy) -> None:
    assert parse_policy(format_policy(policy)) == policy
