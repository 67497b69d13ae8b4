from typing import Any

import msgspec
import pytest

from dray.errors import BadRequest
from dray.merge.faults import PatchRefused, TooManyOperations
from dray.merge.jsonpatch import MAX_OPERATIONS, apply_json_patch, decode_json_patch

DOCUMENT = {"a": {"b": 1, "l": [1, 2, 3], "~/": 0}, "n": None}


def patched(*operations: Any) -> Any:
    return apply_json_patch(DOCUMENT, decode_json_patch(msgspec.json.encode(operations)))


@pytest.mark.parametrize(
    ("operation", "path", "want"),
    [
        ({"op": "add", "path": "/a/c", "value": 2}, "c", 2),
        ({"op": "add", "path": "/a/c"}, "c", None),
        ({"op": "add", "path": "/a/l/-", "value": 4}, "l", [1, 2, 3, 4]),
        ({"op": "add", "path": "/a/l/0", "value": 0}, "l", [0, 1, 2, 3]),
        ({"op": "add", "path": "/a/l/3", "value": 4}, "l", [1, 2, 3, 4]),
        ({"op": "add", "path": "/a/l/-1", "value": 4}, "l", [1, 2, 3, 4]),
        ({"op": "add", "path": "/a/l/-2", "value": 4}, "l", [1, 2, 4, 3]),
        ({"op": "remove", "path": "/a/l/-1"}, "l", [1, 2]),
        ({"op": "replace", "path": "/a/l/1", "value": 9}, "l", [1, 9, 3]),
        ({"op": "replace", "path": "/a/new", "value": 9}, "new", 9),
        ({"op": "replace", "path": "/a/~0~1", "value": 9}, "~/", 9),
        ({"op": "move", "from": "/a/b", "path": "/a/z"}, "z", 1),
        ({"op": "move", "from": "/a/l/0", "path": "/a/l/-"}, "l", [2, 3, 1]),
        ({"op": "copy", "from": "/a/l", "path": "/a/m"}, "m", [1, 2, 3]),
        ({"op": "copy", "from": "/a/nope", "path": "/a/m"}, "m", None),
        ({"op": "test", "path": "/a/b", "value": 1}, "b", 1),
        ({"op": "test", "path": "/a/nope", "value": None}, "b", 1),
        ({"op": "test", "path": "/a/nope"}, "b", 1),
        ({"op": "test", "path": "", "value": DOCUMENT}, "b", 1),
    ],
)
def test_operation_does_what_the_server_does(operation: Any, path: str, want: Any) -> None:
    result = patched(operation)
    assert result["a"][path] == want
    assert DOCUMENT == {"a": {"b": 1, "l": [1, 2, 3], "~/": 0}, "n": None}


@pytest.mark.parametrize(
    "operation",
    [
        None,
        {},
        {"op": "zap", "path": "/a"},
        {"op": "add", "value": 1},
        {"op": "add", "path": "", "value": {}},
        {"op": "add", "path": "/x/y", "value": 1},
        {"op": "add", "path": "/n/y", "value": 1},
        {"op": "add", "path": "/a/b/c", "value": 1},
        {"op": "add", "path": "/a/l/4", "value": 1},
        {"op": "add", "path": "/a/l/x", "value": 1},
        {"op": "add", "path": "/a/l/99999999999999999999", "value": 1},
        {"op": "remove", "path": "/a/nope"},
        {"op": "remove", "path": "/a/l/3"},
        {"op": "remove", "path": "/a/l/-4"},
        {"op": "replace", "path": "/a/l/3", "value": 1},
        {"op": "replace", "path": "", "value": 1},
        {"op": "move", "from": "/a/nope", "path": "/a/z"},
        {"op": "move", "path": "/a/z"},
        {"op": "test", "path": "/a/b"},
        {"op": "test", "path": "/a/b", "value": True},
        {"op": "test", "path": "/a/b", "value": None},
        {"op": "test", "path": "/n", "value": 1},
    ],
)
def test_operation_that_does_not_apply_is_refused_without_a_word_why(operation: Any) -> None:
    with pytest.raises(PatchRefused) as caught:
        patched(operation)
    assert caught.value.message == "the server rejected our request due to an error in our request"
    assert caught.value.detail


def test_whole_document_can_be_replaced() -> None:
    assert patched({"op": "replace", "path": "", "value": [1]}) == [1]


def test_values_of_a_patch_are_copied() -> None:
    patch = decode_json_patch(b'[{"op": "add", "path": "/x", "value": {}}, {"op": "add", "path": "/x/y", "value": 1}]')
    assert apply_json_patch({}, patch) == {"x": {"y": 1}}
    assert patch.operations[0]["value"] == {}


def test_objects_on_the_way_come_out_sorted() -> None:
    result = apply_json_patch(
        {"z": {"b": 1, "a": 2}, "b": {"d": 1, "c": 2}},
        decode_json_patch(b'[{"op": "add", "path": "/b/a", "value": 1}]'),
    )
    assert msgspec.json.encode(result) == b'{"b":{"a":1,"c":2,"d":1},"z":{"b":1,"a":2}}'


def test_copies_cannot_blow_up_the_document() -> None:
    double = [{"op": "copy", "from": "/a", "path": "/a/x"}] * 100
    with pytest.raises(PatchRefused):
        apply_json_patch({"a": {"t": "x" * 1000}}, decode_json_patch(msgspec.json.encode(double)))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b'{"a":1}', "json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        (b'"a"', "json: cannot unmarshal string into Go value of type []handlers.jsonPatchOp"),
        (b"[1]", "json: cannot unmarshal number into Go value of type handlers.jsonPatchOp"),
        (b'[{"op":1}]', "json: cannot unmarshal number into Go struct field jsonPatchOp.op of type string"),
        (b'[{"path":[]}]', "json: cannot unmarshal array into Go struct field jsonPatchOp.path of type string"),
        (b"[1e999]", "json: cannot unmarshal number 1e999 into Go value of type float64"),
        (b'["\xff"]', "json: cannot unmarshal string into Go value of type handlers.jsonPatchOp"),
        (b"[" * 100_000, "exceeded max depth"),
    ],
)
def test_text_that_is_no_patch_is_refused(text: bytes, want: str) -> None:
    with pytest.raises(BadRequest) as caught:
        decode_json_patch(text)
    assert caught.value.message == f"error decoding patch: {want}"


@pytest.mark.parametrize("text", [b"", b"[", b"[NaN]", b"[}"])
def test_text_that_is_not_json_is_no_patch(text: bytes) -> None:
    with pytest.raises(BadRequest) as caught:
        decode_json_patch(text)
    assert caught.value.message == "invalid JSON patch"


def test_null_is_a_patch_without_operations() -> None:
    assert decode_json_patch(b"null").operations == ()


def test_strict_faults_are_unknown_and_repeated_members() -> None:
    patch = decode_json_patch(b'[{"op":"test","op":"add","path":"/a","zz":1}]')
    assert patch.strict_faults == ('json patch duplicate field "[0].op"', 'json patch unknown field "[0].zz"')


def test_long_patch_is_too_large() -> None:
    with pytest.raises(TooManyOperations) as caught:
        decode_json_patch(b"[" + b"{}," * MAX_OPERATIONS + b"{}]")
    assert (caught.value.code, caught.value.message) == (
        413,
        "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    )
