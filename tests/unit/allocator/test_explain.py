"""Explanations are true, coded, and fit into the bytes they are given."""

import pytest

from dray.allocator.explain import explain, explain_cluster
from dray.allocator.reasons import Explanation, Group, HeadlineCode, ReasonCode, RemedyCode, Supply
from dray.allocator.render import render_cluster_explanation, render_explanation
from tests.cases.allocator.terse import NODE, Raw, cluster_of, read_claims

ROOTS = {"a": [{f"d{i}": {"attributes": {"root": f"r{i // 3}"}}} for i in range(6)]}
PARTITIONS = [
    {"of": 2, "devices": [{"d0": {"draws": {"s": {"m": 8}}}}, {"d1": {"draws": {"s": {"m": 1}}}}]},
    {"name": "z", "of": 2, "sets": {"s": {"m": 8}}},
]


def explanation_of(case: Raw) -> Explanation:
    return explain(read_claims(case), cluster_of(case), NODE)


REASONS = [
    (
        {"devices": {"a": ["d0"], "b": ["x0"]}, "claims": {"c": {"r": {"class": "b", "count": 2}}}},
        ReasonCode.WRONG_CLASS,
        (),
    ),
    ({"devices": {"a": ["d0"]}, "claims": {"c": {"r": {"where": ["true", "false"]}}}}, ReasonCode.SELECTOR_FALSE, ()),
    ({"devices": {"a": ["d0"]}, "held": ["a/p/d0"], "claims": {"c": {"r": 1}}}, ReasonCode.TAKEN, ("ns/held-0",)),
    ({"devices": {"a": [{"d0": {"taints": ["k=v:NoExecute"]}}]}, "claims": {"c": {"r": 1}}}, ReasonCode.TAINTED, ()),
    (
        {"slices": PARTITIONS, "held": ["a/p/d1"], "claims": {"c": {"r": 2}}},
        ReasonCode.COUNTERS_EXHAUSTED,
        ("ns/held-0",),
    ),
    (
        {"devices": {"a": [{"d0": {"capacity": {"m": 1}}}]}, "claims": {"c": {"r": {"amounts": {"m": 2}}}}},
        ReasonCode.CAPACITY_TOO_SMALL,
        (),
    ),
    (
        {
            "devices": {"a": [{"d0": {"shared": True, "capacity": {"m": 1}}}]},
            "held": [{"a/p/d0": {"share": {"m": 1}}}],
            "claims": {"c": {"r": 1}},
        },
        ReasonCode.SHARES_EXHAUSTED,
        ("ns/held-0",),
    ),
    (
        {"devices": {"a": ["d0"]}, "claims": {"c": {"r": 1, "constraints": [{"match": "a/x"}]}}},
        ReasonCode.CONSTRAINT_UNSATISFIED,
        (),
    ),
]


@pytest.mark.parametrize(("case", "code", "holders"), REASONS, ids=[code for _, code, _ in REASONS])
def test_reason_is_found_for_each_device(case: Raw, code: ReasonCode, holders: tuple[str, ...]) -> None:
    explanation = explanation_of(case)
    falls = {fall.code: fall for request in explanation.requests for fall in request.falls}
    assert falls[code].holders == holders
    for request in explanation.requests:
        assert request.left + sum(fall.count for fall in request.falls) == request.seen


def test_what_a_selector_saw_is_told() -> None:
    case = {"devices": ROOTS, "claims": {"c": {"r": {"where": ["device.attributes['a'].root == 'r9'"]}}}}
    (fall,) = explanation_of(case).requests[0].falls
    assert (fall.number, fall.count, fall.values) == (0, 6, ("a/root is r0", "a/root is r1"))


def test_what_a_selector_saw_of_capacities_is_told() -> None:
    cards = [{"d0": {"capacity": {"memory": {"value": "81152Mi"}}}}, "d1"]
    where = "'memory' in device.capacity['a'] && device.capacity['a'].memory.compareTo(quantity('80Gi')) >= 0"
    (fall,) = explanation_of({"devices": {"a": cards}, "claims": {"c": {"r": {"where": [where]}}}}).requests[0].falls
    assert (fall.count, fall.values) == (2, ("a/memory is 81152Mi", "no a/memory"))


def test_best_group_and_what_it_lacks_are_told() -> None:
    explanation = explanation_of({"devices": ROOTS, "claims": {"c": {"r": 4, "constraints": [{"match": "a/root"}]}}})
    assert explanation.conflict is not None
    assert explanation.conflict.constraints == ((0, "a/root"),)
    assert explanation.conflict.best == Group("r0", (3,))
    remedies = {remedy.code: remedy for remedy in explanation.remedies}
    assert (remedies[RemedyCode.ADD_DEVICES].count, remedies[RemedyCode.ADD_DEVICES].where) == (1, "a/root=r0")
    assert remedies[RemedyCode.RELAX_CONSTRAINT].names == ("a/root",)


def test_group_that_serves_several_requests_best_is_told() -> None:
    nics = [{f"n{i}": {"attributes": {"x/root": f"r{i}"}}} for i in range(2)]
    gpus = [{f"d{i}": {"attributes": {"x/root": f"r{i // 3}"}}} for i in range(6)]
    case = {
        "devices": {"a": gpus, "b": nics},
        "held": ["b/p/n0", "a/p/d3", "a/p/d4", "a/p/d5"],
        "claims": {
            "c": {"gpu": {"class": "a", "count": 2}, "nic": {"class": "b"}, "constraints": [{"match": "x/root"}]}
        },
    }
    conflict = explanation_of(case).conflict
    assert conflict is not None
    assert (conflict.devices, conflict.best) == (Supply(4, 3), Group("r0", (3, 0)))


def test_too_few_distinct_values_are_told() -> None:
    conflict = explanation_of(
        {"devices": ROOTS, "claims": {"c": {"r": 3, "constraints": [{"distinct": "a/root"}]}}}
    ).conflict
    assert conflict is not None
    assert conflict.distinct == Supply(2, 3)


def test_devices_are_proposed_for_all_that_lack_some() -> None:
    case = {
        "devices": {"a": ["d0"], "b": ["n0"]},
        "claims": {"c": {"gpu": {"class": "a", "count": 3}, "nic": {"class": "b", "count": 2}}},
    }
    (remedy,) = explanation_of(case).remedies
    assert [(each.names, each.count) for each in (remedy, *remedy.along_with)] == [(("gpu",), 2), (("nic",), 1)]


def test_any_of_the_claims_that_would_do_is_named() -> None:
    case = {"devices": {"a": ["d0", "d1", "d2"]}, "held": ["a/p/d0", "a/p/d1", "a/p/d2"], "claims": {"c": {"r": 2}}}
    release = next(each for each in explanation_of(case).remedies if each.code is RemedyCode.RELEASE_CLAIMS)
    assert (release.count, release.names) == (2, ("ns/held-0", "ns/held-1", "ns/held-2"))


def test_conflict_is_the_smallest() -> None:
    idx = {"a": [{f"d{i}": {"attributes": {"x": i}}} for i in range(4)]}
    wishes = {f"r{i}": {"where": [f"device.attributes['a'].x <= {top}"]} for i, top in enumerate((3, 2, 0, 0))}
    conflict = explanation_of({"devices": idx, "claims": {"c": wishes}}).conflict
    assert conflict is not None
    assert conflict.requests == ((0, "r2"), (0, "r3"))


def test_claims_that_fit_have_no_conflict() -> None:
    assert explanation_of({"devices": ROOTS, "claims": {"c": {"r": 1}}}).conflict is None


def test_wrong_input_is_told_as_an_error() -> None:
    explanation = explanation_of({"devices": ROOTS, "claims": {"c": {"r": {"class": "nosuch"}}}})
    assert explanation.error
    assert render_explanation(explanation).startswith(explanation.error)


def test_explaining_changes_nothing() -> None:
    case = {"devices": {"a": ["d0", "d1"]}, "held": ["a/p/d0", "a/p/d1"], "claims": {"c": {"r": 1}}}
    cluster = cluster_of(case)
    explain(read_claims(case), cluster, NODE)
    assert cluster.ledger == cluster_of(case).ledger


def test_nodes_are_folded_by_main_reason() -> None:
    case = {"devices": {"a": ["d0", "d1"]}, "held": ["a/p/d0"], "claims": {"c": {"r": 2}}}
    explanation = explain_cluster(read_claims(case), cluster_of(case))
    assert (explanation.nodes, explanation.feasible) == (1, 0)
    assert [folded.headline.code for folded in explanation.refusals] == [HeadlineCode.TOO_FEW_FREE]


@pytest.mark.parametrize("size", [0, 1, 3, 20, 80, 200, 10_000])
def test_text_fits_the_bytes_it_is_given(size: int) -> None:
    case = {"devices": ROOTS, "claims": {"ü": {"r": 4, "constraints": [{"match": "a/root"}]}}}
    assert len(render_explanation(explanation_of(case), size).encode()) <= size
    text = render_cluster_explanation(explain_cluster(read_claims(case), cluster_of(case)), size)
    assert len(text.encode()) <= size
