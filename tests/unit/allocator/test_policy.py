from collections.abc import Sequence

import pytest

from dray.allocator.allocate import allocate
from dray.allocator.ids import claim_uid
from dray.allocator.outcome import Allocated, Failed, FailureCode
from dray.allocator.policy import (
    FIRST_FIT,
    MAX_EXPRESSION_BYTES,
    PACK,
    SPREAD,
    ByScore,
    Policy,
    format_policy,
    parse_policy,
)
from tests.cases.allocator.terse import NODE, Raw, cluster_of, read_claims

CARDS = [
    {
        "of": 2,
        "devices": [
            {
                f"c{card}-{size}-{start}": {
                    "attributes": {"size": size},
                    "draws": {f"c{card}": {f"m{slot}": 1 for slot in range(start, start + size)}},
                }
            }
            for card in range(2)
            for size in (1, 2, 4)
            for start in range(0, 4, size)
        ],
    },
    {"name": "z", "of": 2, "sets": {f"c{card}": {f"m{slot}": 1 for slot in range(4)} for card in range(2)}},
]
GROUPS = [{"devices": [{f"g{i}": {"attributes": {"resource.kubernetes.io/pcieRoot": f"r{i // 4}"}}} for i in range(8)]}]


def taken(slices: Sequence[Raw], wishes: Sequence[object], policy: Policy) -> list[list[str]]:
    case = {"slices": slices, "claims": {f"c{i}": {"r": wish} for i, wish in enumerate(wishes)}}
    cluster = cluster_of(case)
    devices = []
    for claim in read_claims(case):
        outcome = allocate([claim], cluster, NODE, share_ids=str, policy=policy)
        assert isinstance(outcome, Allocated)
        cluster.take(claim_uid(claim), outcome.allocations[0])
        devices.append([result.device for result in outcome.allocations[0].devices.results])
    return devices


def of_size(size: int) -> dict[str, object]:
    return {"where": [f"device.attributes['a'].size == {size}"]}


def test_pack_breaks_nothing_that_is_whole() -> None:
    assert taken(CARDS, [of_size(2), of_size(1), of_size(1)], PACK) == [["c0-2-0"], ["c0-1-2"], ["c0-1-3"]]


def test_spread_takes_the_emptiest_card() -> None:
    assert taken(CARDS, [of_size(2), of_size(1)], SPREAD) == [["c0-2-0"], ["c1-1-0"]]


def test_pack_fills_the_group_that_fits_best() -> None:
    assert taken(GROUPS, [1, 4, 3], PACK) == [["g0"], ["g4", "g5", "g6", "g7"], ["g1", "g2", "g3"]]


def test_first_fit_does_not_care() -> None:
    assert taken(GROUPS, [1, 4], FIRST_FIT) == [["g0"], ["g1", "g2", "g3", "g4"]]


def test_spread_takes_turns() -> None:
    assert taken(GROUPS, [1, 2], SPREAD) == [["g0"], ["g4", "g1"]]


def test_the_highest_score_wins() -> None:
    score = ByScore("device.attributes['resource.kubernetes.io'].pcieRoot == 'r1' ? 2 : 1")
    assert taken(GROUPS, [2], score) == [["g4", "g5"]]


COSTLY = "[1,2,3,4,5,6,7,8,9,10].all(x, " * 7 + "true" + ")" * 7 + " ? 1 : 2"


@pytest.mark.parametrize("expression", ["nosuch", "'text'", "device.attributes['a'].missing", COSTLY])
def test_a_score_that_cannot_be_computed_is_a_failure(expression: str) -> None:
    case = {"slices": GROUPS, "claims": {"c": {"r": 1}}}
    outcome = allocate(read_claims(case), cluster_of(case), NODE, share_ids=str, policy=ByScore(expression))
    assert isinstance(outcome, Failed)
    assert outcome.code is FailureCode.POLICY_FAILED


@pytest.mark.parametrize("text", ["first-fit", "pack", "spread", "cel:1 + 1"])
def test_policies_are_read_as_they_are_written(text: str) -> None:
    assert format_policy(parse_policy(text)) == text


def test_unknown_policies_are_refused() -> None:
    with pytest.raises(ValueError, match="first-fit"):
        parse_policy("worst-fit")


def test_expressions_may_be_as_long_as_selectors() -> None:
    longest = "1".ljust(MAX_EXPRESSION_BYTES)
    assert parse_policy(f"cel:{longest}") == ByScore(longest)
    with pytest.raises(ValueError, match="10240 bytes"):
        parse_policy(f"cel:{longest} ")
