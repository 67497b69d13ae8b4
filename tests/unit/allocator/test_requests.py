import pytest

from dray.allocator.allocate import allocate
from dray.allocator.outcome import Failed
from tests.cases.allocator.terse import NODE, Raw, cluster_of, read_claims

MESSAGES = [
    (
        {"claims": {"c": {"r": {"class": "x"}}}},
        'claim ns/c, request r: could not retrieve device class x: deviceclass.resource.k8s.io "x" not found',
    ),
    (
        {"claims": {"c": {"r": {"class": ""}}}},
        "claim ns/c, request r: missing device class name (unsupported request type?)",
    ),
    (
        {"claims": {"c": {"r": [{}, {"class": ""}]}}},
        "claim ns/c, request s1: missing device class name (unsupported request type?)",
    ),
    ({"claims": {"c": {"r": {"mode": "Some"}}}}, "claim ns/c, request r: unsupported count mode Some"),
    (
        {"claims": {"c": {"r": {"where": ["true", None]}}}},
        "claim ns/c, request r: selector #1: CEL expression empty (unsupported selector type?)",
    ),
    ({"claims": {"c": {"r": 33}}}, "claim ns/c: number of requested devices 33 exceeds the claim limit of 32"),
    (
        {"claims": {"c": {"r": 1, "constraints": [{"match": "a/x"}, {}]}}},
        "claim ns/c, constraint #1: empty constraint (unsupported constraint type?)",
    ),
    (
        {"slices": [{"of": 2, "devices": ["d0"]}], "claims": {"c": {"r": {"all": True}}}},
        "claim ns/c, request r: asks for all devices, but resource pool a/p is currently being updated",
    ),
    (
        {
            "slices": [{"name": "s", "of": 2, "devices": ["d0"]}, {"name": "t", "of": 2, "devices": ["d0"]}],
            "claims": {"c": {"r": {"all": True}}},
        },
        "claim ns/c, request r: asks for all devices, but resource pool a/p is currently invalid",
    ),
    (
        {
            "devices": {"a": [{"d0": {"shared": True, "capacity": {"m": 1}}}]},
            "claims": {"c": {"r": {"amounts": {"m": -1}}}},
        },
        'claim ns/c, request r: checking capacity for device a/p/d0: capacity "m": capacity value is negative',
    ),
    (
        {
            "devices": {"a": ["d0"]},
            "classes": {"k": ["device.attributes['a'].x == 1"]},
            "claims": {"c": {"r": {"class": "k"}}},
        },
        "class k: selector #0 on device a/p/d0: CEL runtime error: no such key: x. consider using CEL optional "
        "chaining (.? followed by orValue()) or guarding the check with has() for optional fields",
    ),
]


@pytest.mark.parametrize(("case", "want"), MESSAGES, ids=[want for _, want in MESSAGES])
def test_failure_is_told_in_the_words_of_kubernetes(case: Raw, want: str) -> None:
    outcome = allocate(read_claims(case), cluster_of(case), NODE, share_ids=str)
    assert isinstance(outcome, Failed)
    assert outcome.message == want
