from typing import Any

import msgspec
import pytest

from dray.errors import BadRequest
from dray.merge.mergepatch import apply_merge_patch, create_merge_patch, decode_merge_patch


@pytest.mark.parametrize(
    ("document", "patch", "want"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"a": 1, "e": None}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
        ({"a": 1}, {"a": {"b": None, "c": [None, {"d": None}]}}, {"a": {"c": [None, {}]}}),
    ],
)
def test_patch_merges_as_the_rfc_says(document: Any, patch: Any, want: Any) -> None:
    assert apply_merge_patch(document, patch) == want


def test_objects_that_the_patch_reaches_come_out_sorted() -> None:
    document = {"z": {"b": 1, "a": 2}, "b": {"d": 1}}
    assert msgspec.json.encode(apply_merge_patch(document, {"b": {"a": 1}})) == (
        b'{"b":{"a":1,"d":1},"z":{"b":1,"a":2}}'
    )


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b"[1]", "error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}"),
        (b"null", "Invalid JSON Patch"),
        (b"", "invalid JSON patch"),
    ],
)
def test_text_that_is_no_object_is_refused(text: bytes, want: str) -> None:
    with pytest.raises(BadRequest) as caught:
        decode_merge_patch(text)
    assert caught.value.message == want


def test_repeated_names_are_told_and_the_last_one_counts() -> None:
    read = decode_merge_patch(b'{"a":{"b":[{"c":1,"c":2}]},"a":{"d":3}}')
    assert read.value == {"a": {"d": 3}}
    assert read.strict_faults == ('duplicate field "a.b[0].c"', 'duplicate field "a"')


def test_numbers_and_texts_beyond_what_can_be_stored_are_mended() -> None:
    read = decode_merge_patch(b'{"n":9223372036854775808,"m":-9223372036854775808,"t":"\\ud800x","\\udfff":1}')
    assert read.value == {"n": 9223372036854775808.0, "m": -(2**63), "t": "\ufffdx", "\ufffd": 1}
    assert isinstance(read.value["n"], float)


def test_smallest_patch_is_made() -> None:
    one, other = {"a": 1, "b": {"c": 1, "d": 2}, "e": [1]}, {"b": {"c": 1, "d": 3}, "e": [1], "f": {}}
    assert create_merge_patch(one, other) == {"a": None, "b": {"d": 3}, "f": {}}


def test_deep_documents_are_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(BadRequest, match="exceeded max depth"):
        apply_merge_patch(deep, deep)
