from typing import Any

import pytest

from dray.merge.elements import canonical_step, format_path, key_step, order_of, value_step
from dray.merge.fieldsets import FieldsFault, decode_fields, drop_below, encode_fields, grow_tree, list_paths

CONTAINER = key_step({"name": "c"})
PORTS = [key_step({"protocol": "TCP", "containerPort": number}) for number in (8080, 80, 443)]


def test_keys_are_spelled_in_order() -> None:
    assert PORTS[1] == 'k:{"containerPort":80,"protocol":"TCP"}'
    assert canonical_step('k:{"protocol": "TCP", "containerPort": 80}') == PORTS[1]


def test_paths_print_as_in_conflicts() -> None:
    assert format_path(("f:spec", "f:containers", CONTAINER, "f:image")) == '.spec.containers[name="c"].image'
    assert format_path((PORTS[1],)) == '[containerPort=80,protocol="TCP"]'
    assert format_path((value_step("a"), value_step(1), value_step(None), "i:3")) == '[="a"][=1][=null][3]'


def test_steps_are_ordered_by_what_they_say() -> None:
    steps = ["i:0", value_step("b"), value_step(2), value_step(10), value_step(True), *PORTS, "f:z", "f:a"]
    assert sorted(steps, key=order_of) == [
        "f:a",
        "f:z",
        PORTS[1],
        PORTS[2],
        PORTS[0],
        value_step(2),
        value_step(10),
        value_step("b"),
        value_step(True),
        "i:0",
    ]


def test_member_with_parts_has_a_dot() -> None:
    fields = frozenset({("f:a",), ("f:a", "f:b"), ("f:c", "f:d")})
    written: dict[str, Any] = {"f:a": {".": {}, "f:b": {}}, "f:c": {"f:d": {}}}
    assert encode_fields(fields) == written
    assert decode_fields(written) == fields
    assert encode_fields(frozenset()) == {}


def test_paths_are_listed_members_first() -> None:
    fields = frozenset({("f:a", "f:b"), ("f:z",), ("f:a", "f:a", "f:a"), ("f:a",)})
    assert list_paths(fields) == [("f:a",), ("f:z",), ("f:a", "f:b"), ("f:a", "f:a", "f:a")]


def test_unknown_kinds_of_steps_are_left_out() -> None:
    assert decode_fields({"x:y": {"f:a": {}}, "f:b": {"x:y": {}}}) == {("f:b",)}


@pytest.mark.parametrize(
    "text", [None, [], {"f": {}}, {"spec": {}}, {"f:a": 1}, {"k:[]": {}}, {"k:{": {}}, {"v:x": {}}, {"i:x": {}}]
)
def test_what_is_no_field_set_is_refused(text: Any) -> None:
    with pytest.raises(FieldsFault):
        decode_fields(text)


def test_dropping_takes_all_that_is_below() -> None:
    fields = frozenset({("f:status",), ("f:status", "f:a"), ("f:spec", "f:status"), ("f:statusless",)})
    assert drop_below(fields, frozenset({("f:status",)})) == {("f:spec", "f:status"), ("f:statusless",)}
    assert drop_below(fields, frozenset()) is fields


def test_tree_tells_members_from_branches() -> None:
    tree = grow_tree([("f:a",), ("f:a", "f:b")])
    assert tree.members == {"f:a"}
    assert tree.branches["f:a"].members == {"f:b"}
