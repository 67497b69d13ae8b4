"""The plain search takes the steps that kube-scheduler's tests pin down, and the guide never changes what is found."""

import pytest

from dray.allocator.allocate import allocate
from dray.allocator.outcome import BudgetExhausted, Unschedulable
from dray.allocator.solve import SearchLimits
from tests.cases.allocator.terse import NODE, cluster_of, read_claims

TYPES = {
    "a": [{"d0": {"attributes": {"t": "x"}}}, {"d1": {"attributes": {"t": "y"}}}, {"d2": {"attributes": {"t": "y"}}}]
}
IS_X = {"where": ["device.attributes['a'].t == 'x'"]}


def devices(outcome: object) -> list[str]:
    return [each.device for allocation in outcome.allocations for each in allocation.devices.results]  # type: ignore[attr-defined]


@pytest.mark.parametrize("limits", [SearchLimits(), SearchLimits(plain_steps=0)], ids=["plain", "guided"])
def test_a_special_device_is_kept_for_the_request_that_needs_it(limits: SearchLimits) -> None:
    case = {"devices": TYPES, "claims": {"c": {"r": 2, "s": IS_X}}}
    outcome = allocate(read_claims(case), cluster_of(case), NODE, share_ids=str, limits=limits)
    assert devices(outcome) == ["d1", "d2", "d0"]


def test_the_end_of_the_budget_is_no_answer() -> None:
    puzzle = {
        "devices": {"a": [{f"d{i}": {"attributes": {"x": i}}} for i in range(12)]},
        "claims": {f"c{i}": {"r": {"where": ["device.attributes['a'].x != 3"]}} for i in range(12)},
    }
    claims, cluster = read_claims(puzzle), cluster_of(puzzle)
    tight = SearchLimits(plain_steps=5, max_steps=0)
    assert isinstance(allocate(claims, cluster, NODE, share_ids=str, limits=tight), BudgetExhausted)
    assert isinstance(allocate(claims, cluster, NODE, share_ids=str), Unschedulable)


def test_many_claims_do_not_exhaust_the_stack() -> None:
    names = [f"d{i:03}" for i in range(100)]
    case = {
        "slices": [{"pool": f"p{i:02}", "devices": names} for i in range(20)],
        "claims": {f"c{i:02}": {"r": 32} for i in range(60)},
    }
    outcome = allocate(read_claims(case), cluster_of(case), NODE, share_ids=str)
    assert len(devices(outcome)) == 60 * 32


def test_nothing_handed_in_is_changed() -> None:
    case = {
        "slices": [
            {"of": 2, "devices": [{"d0": {"draws": {"s": {"m": 4}}, "shared": True, "capacity": {"mem": "80Gi"}}}]},
            {"name": "z", "of": 2, "sets": {"s": {"m": 8}}},
        ],
        "claims": {"c": {"r": {"amounts": {"mem": "1Gi"}}}},
    }
    cluster, claims = cluster_of(case), read_claims(case)
    view = cluster.view(NODE)
    assert view is not None
    sources = [prepared.source for _, _, prepared in view.segments]
    before = (str(claims), str(sources), len(cluster.ledger))
    allocate(claims, cluster, NODE, share_ids=str)
    assert (str(claims), str(sources), len(cluster.ledger)) == before
