from typing import Any

import pytest

from dray.merge.comparing import ABSENT
from dray.merge.merging import merge, remove_fields
from dray.merge.schema import ANYTHING, NUMBER, TEXT, Field, ListSchema, ListType, ObjectSchema

TAGS = ListSchema(TEXT, ListType.SET)
NAMED = ListSchema(ObjectSchema({"name": Field(TEXT), "size": Field(NUMBER)}), ListType.MAP, ("name",))
THING = ObjectSchema(
    {
        "tags": Field(TAGS),
        "named": Field(NAMED),
        "args": Field(ListSchema(TEXT)),
        "map": Field(ObjectSchema(element=TEXT)),
        "whole": Field(ObjectSchema(element=TEXT, is_atomic=True)),
        "any": Field(ANYTHING),
    }
)


@pytest.mark.parametrize(
    ("live", "applied", "want"),
    [
        ("ab", "cd", "abcd"),
        ("ab", "b", "ab"),
        ("abc", "ca", "bca"),
        ("abc", "cxa", "bcxa"),
        ("abcd", "xc", "abxcd"),
        ("abc", "bxy", "abcxy"),
        ("ab", "xb", "axb"),
        ("", "ab", "ab"),
        ("ab", "", "ab"),
        ("aab", "ab", "ab"),
        ("abab", "c", "ababc"),
    ],
)
def test_items_follow_the_applied_order_and_others_keep_their_place(live: str, applied: str, want: str) -> None:
    assert merge(TAGS, list(live), list(applied)) == list(want)


@pytest.mark.parametrize(
    ("live", "applied", "want"),
    [
        ({"map": {"a": "1"}}, {"map": {"b": "2"}}, {"map": {"a": "1", "b": "2"}}),
        ({"whole": {"a": "1"}}, {"whole": {"b": "2"}}, {"whole": {"b": "2"}}),
        ({"args": ["a"]}, {"args": ["b"]}, {"args": ["b"]}),
        ({"map": {"a": "1"}}, {"map": None}, {"map": {"a": "1"}}),
        ({"map": {}}, {"map": None}, {"map": None}),
        ({"tags": ["a"]}, {"tags": []}, {"tags": ["a"]}),
        ({"any": {"a": 1}}, {"any": {"b": {"c": 2}}}, {"any": {"a": 1, "b": {"c": 2}}}),
        ({"any": {"a": 1}}, {"any": [1]}, {"any": [1]}),
        ({"any": [1]}, {"any": {"a": 1}}, {"any": {"a": 1}}),
        ({"named": [{"name": "a", "size": 1}]}, {"named": [{"name": "a"}]}, {"named": [{"name": "a", "size": 1}]}),
    ],
)
def test_applied_is_laid_over_live(live: Any, applied: Any, want: Any) -> None:
    assert merge(THING, live, applied) == want


def test_item_that_live_has_twice_is_replaced() -> None:
    live = [{"name": "a", "size": 1}, {"name": "a", "size": 2}]
    assert merge(NAMED, live, [{"name": "a"}]) == [{"name": "a"}]


def test_absent_gives_way() -> None:
    assert merge(THING, {"args": ["a"]}, ABSENT) == {"args": ["a"]}
    assert repr(ABSENT) == "ABSENT"


def test_removing_takes_fields_with_all_that_is_in_them() -> None:
    value = {"map": {"a": "1", "b": "2"}, "named": [{"name": "a", "size": 1}, {"name": "b"}], "args": ["x"]}
    gone = frozenset(
        {("f:map", "f:a"), ("f:named", 'k:{"name":"b"}'), ("f:named", 'k:{"name":"a"}', "f:size"), ("f:args",)}
    )
    assert remove_fields(THING, value, gone) == {"map": {"b": "2"}, "named": [{"name": "a"}]}


def test_emptied_values_are_null() -> None:
    value = {"map": {"a": "1"}, "tags": ["a"]}
    gone = frozenset({("f:map", "f:a"), ("f:tags", 'v:"a"')})
    assert remove_fields(THING, value, gone) == {"map": None, "tags": None}
    assert remove_fields(THING, value, frozenset({("f:map",), ("f:tags",)})) is None
