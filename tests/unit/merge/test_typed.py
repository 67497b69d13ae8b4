from typing import Any

import pytest

from dray.api.core.podspec import PodSpec
from dray.api.resource.claim import ResourceClaim
from dray.merge.comparing import compare
from dray.merge.schema import ANYTHING, BOOLEAN, NUMBER, SCALAR, TEXT, Field, ListSchema, ListType, ObjectSchema, Schema
from dray.merge.schema import get_schema as schema_of
from dray.merge.typed import TypeFault, check_value, collect_fields, is_same, list_steps, resolve

TAGS = ListSchema(TEXT, ListType.SET)
NAMED = ListSchema(ObjectSchema({"name": Field(TEXT), "size": Field(NUMBER)}), ListType.MAP, ("name",))


@pytest.mark.parametrize(
    ("schema", "value", "want"),
    [
        (NUMBER, "x", "expected numeric (int or float), got string"),
        (NUMBER, True, "expected numeric (int or float), got bool"),
        (TEXT, 8080, "expected string, got &value.valueUnstructured{Value:8080}"),
        (BOOLEAN, "yes", "expected boolean, got &{yes}"),
        (SCALAR, [1], "expected any scalar, got &{[1]}"),
        (TAGS, {"a": 1}, "expected list, got &{map[a:1]}"),
        (NAMED, "x", "expected list, got &{x}"),
        (ObjectSchema(), [1], "expected map, got &{[1]}"),
        (ObjectSchema({"a": Field(ObjectSchema())}), {"a": {"b": 1}}, ".a.b: field not declared in schema"),
        (TAGS, ["a", "a"], 'duplicate entries for key [="a"]'),
        (TAGS, [{}], "element 0: associative list without keys has an element that's a map type"),
        (TAGS, [[]], "element 0: not supported: associative list with lists as elements"),
        (TAGS, [None], "element 0: associative list without keys has an element that's an explicit null"),
        (NAMED, [{"name": "c"}, {"name": "c"}], 'duplicate entries for key [name="c"]'),
        (NAMED, [None], "element 0: associative list with keys may not have a null element"),
        (NAMED, ["c"], "element 0: associative list with keys may not have non-map elements"),
        (
            NAMED,
            [{"size": 1}],
            'element 0: associative list with keys has an element that omits all key fields ["name"] '
            "(and doesn't have default values for any key fields)",
        ),
        (NAMED, [{"name": "c", "size": "x"}], '[name="c"].size: expected numeric (int or float), got string'),
        (ListSchema(NUMBER), [1, "x"], "[1]: expected numeric (int or float), got string"),
    ],
)
def test_value_that_does_not_fit_is_refused_in_the_server_s_words(schema: Schema, value: Any, want: str) -> None:
    assert check_value(schema, value) == [want]


@pytest.mark.parametrize("schema", [NUMBER, TEXT, TAGS, NAMED, ObjectSchema(), ANYTHING])
def test_null_fits_everywhere(schema: Schema) -> None:
    assert check_value(schema, None) == []


def test_anything_fits_where_nothing_is_declared() -> None:
    assert check_value(ANYTHING, {"a": [1, {"b": None}], "c": True}) == []


def test_absent_key_is_left_out_of_the_identity() -> None:
    devices = schema_of(ResourceClaim).schema_of("status")
    assert isinstance(devices, ObjectSchema)
    schema = devices.schema_of("devices")
    assert isinstance(schema, ListSchema)
    items: list[Any] = [
        {"driver": "d", "pool": "p", "device": "x"},
        {"driver": "d", "pool": "p", "device": "x", "shareID": "s"},
    ]
    assert list_steps(schema, items) == [
        'k:{"device":"x","driver":"d","pool":"p"}',
        'k:{"device":"x","driver":"d","pool":"p","shareID":"s"}',
    ]


def test_truth_is_not_one() -> None:
    assert not is_same({"a": True}, {"a": 1})
    assert is_same({"a": 1, "b": [True]}, {"b": [True], "a": 1})


def test_type_of_anything_follows_from_the_value() -> None:
    assert resolve(ANYTHING, 1) is SCALAR
    assert isinstance(resolve(ANYTHING, []), ListSchema)
    assert isinstance(resolve(ANYTHING, {}), ObjectSchema)


def test_who_applies_owns_leaves_items_and_empty_maps() -> None:
    schema = ObjectSchema({"tags": Field(TAGS), "named": Field(NAMED), "map": Field(ObjectSchema(element=TEXT))})
    value = {"tags": ["a"], "named": [{"name": "c", "size": None}], "map": {}}
    assert collect_fields(schema, value) == {
        ("f:tags", 'v:"a"'),
        ("f:named", 'k:{"name":"c"}'),
        ("f:named", 'k:{"name":"c"}', "f:name"),
        ("f:named", 'k:{"name":"c"}', "f:size"),
        ("f:map",),
    }
    assert collect_fields(schema, {"tags": [], "named": None, "map": {"k": "v"}}) == {("f:named",), ("f:map", "f:k")}


def test_items_of_one_identity_are_one_field() -> None:
    assert collect_fields(NAMED, [{"name": "c", "size": 1}, {"name": "c", "size": 2}]) == {('k:{"name":"c"}',)}


C = 'k:{"name":"c"}'
ONE, TWO = {"name": "c", "size": 1}, {"name": "c", "size": 2}


@pytest.mark.parametrize(
    ("old", "new", "added", "modified", "removed"),
    [
        ([ONE], [TWO], set(), {(C, "f:size")}, set()),
        ([ONE, TWO], [ONE, TWO], set(), set(), set()),
        ([ONE, TWO], [ONE, ONE], set(), {(C,)}, set()),
        ([ONE, TWO], [ONE], {(C,), (C, "f:name"), (C, "f:size")}, set(), {(C,)}),
        ([ONE], [ONE, TWO], {(C,)}, set(), {(C,), (C, "f:name"), (C, "f:size")}),
        ([ONE, TWO], [], set(), set(), {(C,)}),
        ([], [ONE, TWO], {(C,)}, set(), set()),
    ],
)
def test_duplicates_compare_as_one(old: Any, new: Any, added: Any, modified: Any, removed: Any) -> None:
    difference = compare(NAMED, old, new)
    assert (difference.added, difference.modified, difference.removed) == (added, modified, removed)


def test_change_of_kind_is_a_change_and_brings_its_parts() -> None:
    schema = ObjectSchema(element=ANYTHING)
    difference = compare(schema, {"a": 1}, {"a": {"b": 1}})
    assert difference.modified == {("f:a",)}
    assert difference.added == {("f:a", "f:b")}
    assert compare(schema, {"a": None}, {"a": {"b": 1}}).added == {("f:a", "f:b")}
    assert compare(schema, {"a": [1]}, {"a": [2]}).modified == {("f:a",)}


def test_empty_and_null_differ_as_leaves() -> None:
    schema = ObjectSchema({"map": Field(ObjectSchema(element=TEXT)), "tags": Field(TAGS)})
    assert compare(schema, {"map": None, "tags": []}, {"map": {}, "tags": None}).modified == {("f:map",), ("f:tags",)}
    assert compare(schema, {"map": None}, {"map": {"a": "1"}}).added == {("f:map", "f:a")}


def test_item_without_identity_cannot_be_compared() -> None:
    with pytest.raises(TypeFault):
        compare(NAMED, [], [{"size": 1}])


def test_keys_default_from_the_type() -> None:
    containers = schema_of(PodSpec).schema_of("containers")
    assert isinstance(containers, ListSchema)
    assert list_steps(containers, [{"image": "i"}]) == ['k:{"name":""}']
