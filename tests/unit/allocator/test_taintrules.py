import pytest

from dray.allocator.taintrules import apply_taint_rules
from dray.api.resource.slice import ResourceSlice
from dray.api.resource.taintrule import DeviceTaintRule
from tests.cases.allocator.terse import Raw, decode

SLICE = {
    "metadata": {"name": "s"},
    "spec": {
        "driver": "d",
        "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "d0", "taints": [{"key": "own", "effect": "NoSchedule"}]}, {"name": "d1"}],
    },
}


def rule(name: str, selector: Raw | None) -> DeviceTaintRule:
    spec: dict[str, object] = {"taint": {"key": name, "effect": "NoExecute"}}
    if selector is not None:
        spec["deviceSelector"] = selector
    return decode({"metadata": {"name": name}, "spec": spec}, DeviceTaintRule)


def keys(source: ResourceSlice) -> list[list[str]]:
    return [[taint.key for taint in device.taints] for device in source.spec.devices or ()]


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ({}, [["own", "r"], ["r"]]),
        ({"driver": "d", "pool": "p", "device": "d1"}, [["own"], ["r"]]),
        ({"pool": "p"}, [["own", "r"], ["r"]]),
        ({"driver": "other"}, [["own"], []]),
        (None, [["own"], []]),
    ],
)
def test_rule_taints_what_it_selects(selector: Raw | None, want: list[list[str]]) -> None:
    assert keys(apply_taint_rules(decode(SLICE, ResourceSlice), [rule("r", selector)])) == want


def test_slice_is_left_alone() -> None:
    source = decode(SLICE, ResourceSlice)
    assert apply_taint_rules(source, [rule("r", {"driver": "other"})]) is source
    apply_taint_rules(source, [rule("r", {})])
    assert keys(source) == [["own"], []]


def test_rules_count_in_the_order_of_their_names() -> None:
    source = decode(SLICE, ResourceSlice)
    assert keys(apply_taint_rules(source, [rule("b", {}), rule("a", {})])) == [["own", "a", "b"], ["a", "b"]]
