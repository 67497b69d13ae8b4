from typing import Any

import pytest

from dray.api.core.kinds import CONFIG_MAP, POD
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_SLICE
from dray.errors import ApiError, BadRequest
from dray.merge.apply import Writer, apply, keep_times, track
from dray.merge.faults import ApplyConflict, PatchFailed
from dray.merge.scopes import make_scope

Json = dict[str, Any]

CONFIG_MAPS = make_scope(CONFIG_MAP, "v1")
PODS = make_scope(POD, "v1")
STATUS = frozenset({("f:status",)})
CLAIMS = {version: make_scope(RESOURCE_CLAIM, version, "", STATUS) for version in ("v1", "v1beta1")}


def at(second: int, manager: str = "m") -> Writer:
    return Writer(manager, f"2026-01-01T00:00:{second:02}Z")


def config_map(data: Json | None = None, **metadata: Any) -> Json:
    made: Json = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", **metadata}}
    return made if data is None else {**made, "data": data}


def pod(**spec: Any) -> Json:
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}


def claim(version: str, **device_spec: Any) -> Json:
    api_version = f"resource.k8s.io/{version}"
    return {
        "apiVersion": api_version,
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": device_spec},
    }


def entries(live: Json) -> list[tuple[str, str, Json]]:
    listed = live["metadata"].get("managedFields", [])
    return [(each["manager"], each["operation"], each["fieldsV1"]) for each in listed]


def test_first_apply_records_what_was_there_before() -> None:
    live = config_map({"a": "1", "b": "2"}, uid="u")
    merged = apply(CONFIG_MAPS, live, config_map({"a": "1"}), at(1))
    assert merged["data"] == {"a": "1", "b": "2"}
    assert entries(merged) == [
        ("m", "Apply", {"f:data": {"f:a": {}}}),
        ("before-first-apply", "Update", {"f:data": {".": {}, "f:a": {}, "f:b": {}}}),
    ]
    with pytest.raises(ApplyConflict) as caught:
        apply(CONFIG_MAPS, live, config_map({"a": "9"}), at(1))
    assert caught.value.message == 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a'


def test_conflicts_are_listed_by_manager_and_path() -> None:
    live = apply(CONFIG_MAPS, None, config_map({"a": "1", "b": "1"}), at(0, "zed"))
    live = apply(CONFIG_MAPS, live, config_map({"c": "1"}), at(1, "abe"))
    with pytest.raises(ApplyConflict) as caught:
        apply(CONFIG_MAPS, live, config_map({"c": "2", "b": "2", "a": "2"}), at(2))
    assert caught.value.message == (
        'Apply failed with 3 conflicts: conflicts with "abe":\n- .data.c\nconflicts with "zed":\n- .data.a\n- .data.b'
    )
    assert [(each.message, each.field) for each in caught.value.causes] == [
        ('conflict with "abe"', ".data.c"),
        ('conflict with "zed"', ".data.a"),
        ('conflict with "zed"', ".data.b"),
    ]


def test_equal_values_are_shared_and_outlive_one_owner() -> None:
    live = apply(CONFIG_MAPS, None, config_map({"a": "1"}), at(0, "one"))
    live = apply(CONFIG_MAPS, live, config_map({"a": "1", "b": "1"}), at(1, "two"))
    live = apply(CONFIG_MAPS, live, config_map({"z": "1"}), at(2, "one"))
    assert live["data"] == {"a": "1", "b": "1", "z": "1"}
    live = apply(CONFIG_MAPS, live, config_map(), at(3, "two"))
    assert live["data"] == {"z": "1"}
    assert [manager for manager, _, _ in entries(live)] == ["one"]


def test_fields_of_nobody_beside_removed_ones_stay() -> None:
    live = apply(PODS, None, pod(containers=[{"name": "a", "image": "i"}, {"name": "b", "image": "i"}]), at(0))
    for each in live["spec"]["containers"]:
        each["imagePullPolicy"] = "Always"  # a default, which nobody owns
    live = apply(PODS, live, pod(containers=[{"name": "a"}]), at(1))
    assert live["spec"]["containers"] == [{"name": "a", "imagePullPolicy": "Always"}]


def test_update_takes_changed_fields_from_their_owners() -> None:
    live = apply(CONFIG_MAPS, None, config_map({"a": "1", "b": "1"}), at(0))
    live = track(CONFIG_MAPS, live, {**live, "data": {"b": "2"}}, at(1, "editor"))
    assert entries(live) == [("editor", "Update", {"f:data": {"f:b": {}}})]


def test_update_that_changes_nothing_leaves_the_entries() -> None:
    live = track(CONFIG_MAPS, None, config_map({"a": "1"}), at(0))
    assert track(CONFIG_MAPS, live, live, at(1, "other")) == live


def test_updates_of_one_manager_add_up() -> None:
    live = track(CONFIG_MAPS, None, config_map({"a": "1"}), at(0))
    live = track(CONFIG_MAPS, live, {**live, "data": {"a": "1", "b": "1"}}, at(1))
    assert entries(live) == [("m", "Update", {"f:data": {".": {}, "f:a": {}, "f:b": {}}})]
    assert live["metadata"]["managedFields"][0]["time"] == "2026-01-01T00:00:01Z"


def test_nameless_writer_is_unknown() -> None:
    assert entries(track(CONFIG_MAPS, None, config_map({"a": "1"}), at(0, "")))[0][0] == "unknown"


@pytest.mark.parametrize("reset", [[], [{}]])
def test_reset_forgets_all_owners_until_something_is_applied(reset: list[Json]) -> None:
    live = track(CONFIG_MAPS, None, config_map({"a": "1"}), at(0))
    live = track(CONFIG_MAPS, live, config_map({"a": "2"}, managedFields=reset), at(1))
    assert entries(live) == []
    assert entries(track(CONFIG_MAPS, live, config_map({"a": "3"}), at(2))) == []


def test_clients_may_edit_entries_but_not_break_them() -> None:
    live = track(CONFIG_MAPS, None, config_map({"a": "1"}), at(0))
    (entry,) = live["metadata"]["managedFields"]
    renamed = track(CONFIG_MAPS, live, config_map({"a": "1"}, managedFields=[entry | {"manager": "new"}]), at(1))
    assert [manager for manager, _, _ in entries(renamed)] == ["new"]
    broken = track(CONFIG_MAPS, live, config_map({"a": "1"}, managedFields=[entry | {"operation": "Zap"}]), at(1))
    assert broken == live


def test_subresource_has_an_entry_of_its_own_and_ignores_given_ones() -> None:
    status = make_scope(POD, "v1", "status", frozenset({("f:spec",)}))
    live = track(PODS, None, pod(hostname="h"), at(0))
    new = {
        **live,
        "spec": {"hostname": "x"},
        "status": {"phase": "Running"},
        "metadata": {"name": "p", "managedFields": []},
    }
    tracked = track(status, live, new, at(1))
    assert [(each["manager"], each.get("subresource")) for each in tracked["metadata"]["managedFields"]] == [
        ("m", None),
        ("m", "status"),
    ]
    with pytest.raises(ApplyConflict) as caught:
        apply(status, tracked, {**pod(), "status": {"phase": "Failed"}}, at(2, "other"))
    assert caught.value.message == (
        'Apply failed with 1 conflict: conflict with "m" with subresource "status" using v1: .status.phase'
    )


@pytest.mark.parametrize(
    ("config", "code", "message"),
    [
        ({"kind": "ConfigMap"}, 400, "invalid object type: /, Kind=ConfigMap"),
        ({"apiVersion": "apps/v1", "kind": "Deployment"}, 400, "invalid object type: apps/v1, Kind=Deployment"),
        (config_map(managedFields=[]), 400, "metadata.managedFields must be nil"),
        (
            config_map({"a": 1}, namespace="n"),
            500,
            "failed to create typed patch object (n/c; /v1, Kind=ConfigMap): "
            ".data.a: expected string, got &value.valueUnstructured{Value:1}",
        ),
        (
            config_map({"a": 1, "b": True}),
            500,
            "failed to create typed patch object (/c; /v1, Kind=ConfigMap): errors:\n"
            "  .data.a: expected string, got &value.valueUnstructured{Value:1}\n"
            "  .data.b: expected string, got &value.valueUnstructured{Value:true}",
        ),
        (
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": "x"},
            500,
            "failed to create typed patch object (/; /v1, Kind=ConfigMap): .metadata: expected map, got &{x}",
        ),
    ],
)
def test_configuration_that_cannot_be_is_refused(config: Json, code: int, message: str) -> None:
    with pytest.raises(ApiError) as caught:
        apply(CONFIG_MAPS, None, config, at(0))
    assert (caught.value.code, caught.value.message) == (code, message)


def test_broken_entries_of_a_live_object_are_told() -> None:
    with pytest.raises(PatchFailed, match="failed to decode managed fields: operation must be"):
        apply(CONFIG_MAPS, config_map(managedFields=[{}]), config_map(), at(0))


def test_live_items_without_identity() -> None:
    live = track(PODS, None, pod(hostname="h"), at(0))
    odd = {**live, "status": {"resourceClaimStatuses": [None]}}
    with pytest.raises(PatchFailed, match="failed to create typed live object"):
        apply(PODS, odd, {**pod(), "status": {"resourceClaimStatuses": [{"name": "x"}]}}, at(1))
    assert track(PODS, live, odd, at(1))["metadata"] == live["metadata"]


def test_deep_configuration_is_refused() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    config = {**claim("v1"), "status": {"devices": [{"driver": "d", "data": deep}]}}
    with pytest.raises(BadRequest, match="exceeded max depth"):
        apply(CLAIMS["v1"], None, config, at(0))


OLD_REQUEST = {"name": "g", "deviceClassName": "x"}
NEW_REQUEST = {"name": "g", "exactly": {"deviceClassName": "x"}}


def test_owners_in_another_version_are_compared_in_theirs() -> None:
    old, new = CLAIMS["v1beta1"], CLAIMS["v1"]
    live = apply(old, None, claim("v1beta1", requests=[OLD_REQUEST]), at(0, "one"))
    live = new.in_version(live, "resource.k8s.io/v1") | {"apiVersion": "resource.k8s.io/v1"}
    shared = apply(new, live, claim("v1", requests=[NEW_REQUEST]), at(1, "two"))
    assert [(each["manager"], each["apiVersion"]) for each in shared["metadata"]["managedFields"]] == [
        ("two", "resource.k8s.io/v1"),
        ("one", "resource.k8s.io/v1beta1"),
    ]
    changed = {"name": "g", "exactly": {"deviceClassName": "y"}}
    with pytest.raises(ApplyConflict, match=r"\.spec\.devices\.requests"):
        apply(new, live, claim("v1", requests=[changed]), at(1, "two"))


def test_what_was_applied_in_another_version_is_removed() -> None:
    old, new = CLAIMS["v1beta1"], CLAIMS["v1"]
    constraint = {"matchAttribute": "a/b"}
    live = apply(old, None, claim("v1beta1", requests=[OLD_REQUEST], constraints=[constraint]), at(0))
    live = new.in_version(live, "resource.k8s.io/v1")
    live = apply(new, live, claim("v1", requests=[NEW_REQUEST]), at(1))
    assert live["spec"]["devices"] == {"requests": [NEW_REQUEST]}
    assert [each["apiVersion"] for each in live["metadata"]["managedFields"]] == ["resource.k8s.io/v1"]


def test_owners_in_versions_that_are_not_served_are_forgotten() -> None:
    live = apply(CONFIG_MAPS, None, config_map({"a": "1"}), at(0, "old"))
    live["metadata"]["managedFields"][0]["apiVersion"] = "v0"
    merged = apply(CONFIG_MAPS, live, config_map({"a": "2"}), at(1))
    assert [manager for manager, _, _ in entries(merged)] == ["m"]
    live = apply(CONFIG_MAPS, None, config_map({"a": "1"}), at(0))
    live["metadata"]["managedFields"][0]["apiVersion"] = "v0"
    assert apply(CONFIG_MAPS, live, config_map({"b": "2"}), at(1))["data"] == {"a": "1", "b": "2"}


def test_times_alone_are_no_change() -> None:
    live = apply(CONFIG_MAPS, None, config_map({"a": "1"}), at(0))
    later = {**live, "metadata": {**live["metadata"]}}
    later["metadata"]["managedFields"] = [live["metadata"]["managedFields"][0] | {"time": "2027-01-01T00:00:00Z"}]
    assert keep_times(live, later) == live
    changed = {**later, "data": {"a": "2"}}
    assert keep_times(live, changed) == changed
    broken = {**live, "metadata": {"name": "c", "managedFields": [{}]}}
    assert keep_times(live, broken) == broken


def test_scope_reads_its_versions_from_the_kind() -> None:
    scope = make_scope(RESOURCE_SLICE, "v1beta2")
    assert scope.schemas.keys() == {f"resource.k8s.io/{each}" for each in ("v1", "v1beta2", "v1beta1")}
    assert scope.schema is scope.schemas["resource.k8s.io/v1beta2"]
    assert scope.empty["apiVersion"] == "resource.k8s.io/v1beta2"
    assert scope.in_version(scope.empty, scope.api_version) is scope.empty
