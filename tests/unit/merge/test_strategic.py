from typing import Any

import pytest

from dray.api.core.pod import Pod
from dray.errors import ApiError, BadRequest
from dray.merge.faults import PatchFailed, PatchRefused
from dray.merge.schema import TEXT, Field, ListSchema, ObjectSchema, PatchStrategy, get_schema
from dray.merge.strategic import apply_strategic_patch, decode_strategic_patch

POD = get_schema(Pod)


def spec(live: Any, patch: Any) -> Any:
    return apply_strategic_patch(POD, {"spec": live}, {"spec": patch}).get("spec")


def containers(names: str) -> list[Any]:
    return [{"name": name} for name in names]


def names(patched: Any) -> str:
    return "".join(each["name"] for each in patched["containers"])


@pytest.mark.parametrize(
    ("live", "patch", "want"),
    [
        ({"hostNetwork": True}, {"hostNetwork": None}, {}),
        ({}, {"hostNetwork": None}, {}),
        ({}, {"nodeSelector": {"a": "1", "b": None}}, {"nodeSelector": {"a": "1"}}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, {"nodeSelector": {"a": "1", "b": "2"}}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "replace", "b": "2"}}, {"nodeSelector": {"b": "2"}}),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"$patch": "delete"}}, {"nodeSelector": {}}),
        ({}, {"nodeSelector": {"$patch": "delete"}}, {}),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, {"tolerations": [{"key": "b"}]}),
        ({"containers": None}, {"containers": [{"name": "a", "$patch": "delete"}]}, {"containers": []}),
        (
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            {"volumes": [{"name": "v", "$retainKeys": ["name", "secret"], "secret": {"secretName": "s"}}]},
            {"volumes": [{"name": "v", "secret": {"secretName": "s"}}]},
        ),
        (
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "UDP"}]}]},
            {"containers": [{"name": "a", "ports": [{"containerPort": 80, "protocol": "UDP"}]}]},
        ),
    ],
)
def test_field_merges_by_its_strategy(live: Any, patch: Any, want: Any) -> None:
    assert spec(live, patch) == want


@pytest.mark.parametrize(
    ("live", "patch", "want"),
    [
        ("abc", containers("b"), "abc"),
        ("abc", containers("x"), "xabc"),
        ("abc", containers("cx"), "abcx"),
        ("abc", containers("ba"), "bac"),
        ("abc", [{"name": "b", "$patch": "delete"}], "ac"),
        ("abc", [{"$patch": "replace"}, {"name": "x"}], "x"),
        ("abc", [{"$patch": "replace"}], ""),
        ("", containers("ab"), "ab"),
    ],
)
def test_items_of_a_patch_keep_its_order(live: str, patch: Any, want: str) -> None:
    assert names(spec({"containers": containers(live)}, {"containers": patch})) == want


@pytest.mark.parametrize(
    ("live", "patch", "order", "want"),
    [
        ("abc", "x", "cxa", "bcxa"),
        ("abc", None, "ca", "bca"),
        ("abc", None, "zc", "abc"),
        ("", "ab", "ba", None),
        ("ab", "x", "abx", "abx"),
    ],
)
def test_order_can_be_asked_for(live: str, patch: str | None, order: str, want: str | None) -> None:
    change: Any = {"$setElementOrder/containers": containers(order)}
    if patch is not None:
        change["containers"] = containers(patch)
    if want is None:
        with pytest.raises(PatchFailed, match="The order in patch list"):
            spec({"containers": containers(live)}, change)
    else:
        assert names(spec({"containers": containers(live)}, change)) == want


def test_order_of_an_absent_list_means_nothing() -> None:
    assert spec({}, {"$setElementOrder/containers": containers("a")}) == {}
    added = {"$setElementOrder/containers": containers("ab"), "containers": containers("ab")}
    assert names(spec({}, added)) == "ab"


def metadata(live: Any, patch: Any) -> Any:
    return apply_strategic_patch(POD, {"metadata": live}, {"metadata": patch})["metadata"]


def test_scalars_merge_as_sets() -> None:
    assert metadata({"finalizers": ["b", "a"]}, {"finalizers": ["c", "a"]}) == {"finalizers": ["c", "b", "a"]}
    assert metadata({"finalizers": ["a", "b"]}, {"$deleteFromPrimitiveList/finalizers": ["a"]}) == {"finalizers": ["b"]}
    assert metadata({}, {"$deleteFromPrimitiveList/finalizers": ["a"]}) == {}
    assert metadata({"finalizers": ["a"]}, {"$deleteFromPrimitiveList/finalizers": None}) == {}
    assert metadata({"finalizers": []}, {"finalizers": []}) == {"finalizers": []}
    ordered = {"$setElementOrder/finalizers": ["c", "a"], "finalizers": ["c"]}
    assert metadata({"finalizers": ["a", "b"]}, ordered) == {"finalizers": ["c", "a", "b"]}


@pytest.mark.parametrize(
    ("live", "patch", "code", "message"),
    [
        ({}, {"$patch": "zap"}, 500, "unknown patch type: zap in map: map[$patch:zap]"),
        ({}, {"$patch": "merge"}, 500, "unknown patch type: merge in map: map[$patch:merge]"),
        (
            {"containers": containers("a")},
            {"containers": [{"$patch": "merge", "name": "a"}]},
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            {"containers": containers("a")},
            {"containers": [{"$patch": "zap", "name": "a"}]},
            500,
            "unknown patch type: zap in map: map[$patch:zap name:a]",
        ),
        (
            {"containers": containers("a")},
            {"containers": [{"$patch": "delete"}]},
            500,
            "map: map[$patch:delete] does not contain declared merge key: name",
        ),
        (
            {"containers": containers("a")},
            {"containers": [{"image": "x", "ports": [80]}]},
            500,
            "map: map[image:x ports:[80]] does not contain declared merge key: name",
        ),
        (
            {"containers": containers("a")},
            {"containers": [{"name": "b"}, "x"]},
            500,
            "list element types are not identical: [[map[name:a]] [map[name:b] x]]",
        ),
        ({"containers": containers("a")}, {"containers": [["a"]]}, 422, None),
        ({}, {"$retainKeys": "x"}, 400, "invalid patch format of retainKeys"),
        ({}, {"$retainKeys": ["a"], "hostNetwork": True}, 400, "invalid patch format of retainKeys"),
        ({}, {"$setElementOrder": []}, 400, "invalid patch format of setElementOrder list"),
        ({}, {"$deleteFromPrimitiveListx": []}, 400, "invalid patch format of primitive list"),
        (
            {},
            {"$setElementOrder/containers": "x"},
            500,
            "expected a []interface {}, but received a string",
        ),
        (
            {"containers": containers("a")},
            {"$setElementOrder/containers": ["a"], "containers": containers("a")},
            500,
            "expected a map[string]interface {}, but received a string",
        ),
        (
            {},
            {"$setElementOrder/zap": []},
            500,
            'unable to find api field in struct PodSpec for the json field "zap"',
        ),
        (
            {"containers": []},
            {"$setElementOrder/containers": containers("a"), "containers": []},
            500,
            "no elements in any of the given slices",
        ),
    ],
)
def test_patch_that_cannot_be_is_refused_in_the_server_s_words(
    live: Any, patch: Any, code: int, message: str | None
) -> None:
    with pytest.raises(ApiError) as caught:
        spec(live, patch)
    assert caught.value.code == code
    if message is None:
        assert isinstance(caught.value, PatchRefused)
        assert caught.value.detail == "lists of lists are not supported"
    else:
        assert caught.value.message == message


def test_list_of_objects_needs_a_merge_key() -> None:
    schema = ObjectSchema({"l": Field(ListSchema(ObjectSchema(name="Thing")), patch=PatchStrategy.MERGE)})
    with pytest.raises(PatchFailed, match="cannot merge lists without merge key for Thing"):
        apply_strategic_patch(schema, {"l": [{}]}, {"l": [{}]})


def test_object_may_be_replaced_whole() -> None:
    schema = ObjectSchema({"o": Field(ObjectSchema(element=TEXT), patch=PatchStrategy.REPLACE)})
    assert apply_strategic_patch(schema, {"o": {"a": "1"}}, {"o": {"b": "2"}}) == {"o": {"b": "2"}}


def test_text_of_a_patch_is_an_object() -> None:
    assert decode_strategic_patch(b"null").value == {}
    with pytest.raises(BadRequest) as caught:
        decode_strategic_patch(b"[]")
    assert caught.value.message == "json: cannot unmarshal array into Go value of type map[string]interface {}"


def test_arguments_are_left_alone() -> None:
    live, patch = {"spec": {"containers": containers("ab")}}, {"spec": {"containers": [{"name": "a", "image": "i"}]}}
    apply_strategic_patch(POD, live, patch)
    assert live == {"spec": {"containers": containers("ab")}}
    assert patch == {"spec": {"containers": [{"name": "a", "image": "i"}]}}
