"""What is served is described as Kubernetes describes it."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dray.api.codec import encode_value
from dray.api.discovery import aggregate_groups, list_groups, list_resources
from dray.api.kind import Kind
from dray.api.registry import SERVED
from dray.api.resource.kinds import DEVICE_TAINT_RULE, KINDS, RESOURCE_POOL_STATUS_REQUEST

RECORDED: dict[str, dict[str, Any]] = json.loads(
    Path(__file__).with_name("discovery").joinpath("resources.json").read_text()
)
SERVED_GROUP_VERSIONS = sorted({(kind.group, version.name) for kind in SERVED for version in kind.versions})


def plain(group: str, version: str) -> dict[str, dict[str, Any]]:
    written = msgspec.json.decode(encode_value(list_resources(SERVED, group, version)))
    head = {"kind": "APIResourceList", "groupVersion": f"{group}/{version}", "apiVersion": "v1"}
    core = {"kind": "APIResourceList", "groupVersion": version}  # older than the word apiVersion, and left so
    assert {key: value for key, value in written.items() if key != "resources"} == (head if group else core)
    return {each.pop("name"): each for each in written["resources"]}


@pytest.mark.parametrize(("group", "version"), SERVED_GROUP_VERSIONS)
def test_resources_are_described_as_recorded(group: str, version: str) -> None:
    recorded = RECORDED.get(f"{group}/{version}" if group else version, {})
    resources = plain(group, version)
    assert list(resources) == sorted(resources)
    for name, described in resources.items():
        if name in recorded:
            assert (name, described) == (name, recorded[name])


def test_all_of_resource_v1_is_served() -> None:
    assert set(plain("resource.k8s.io", "v1")) == set(RECORDED["resource.k8s.io/v1"])


@pytest.mark.parametrize(
    ("kind", "want"), [(DEVICE_TAINT_RULE, "i+85+TcIKpA="), (RESOURCE_POOL_STATUS_REQUEST, "iy583CtMwdY=")]
)
def test_kinds_stored_in_older_versions_have_the_known_hash(kind: Kind[Any], want: str) -> None:
    listed = list_resources(KINDS, kind.group, kind.versions[-1].name).resources
    assert [each.storage_version_hash for each in listed if each.name == kind.plural] == [want]


def test_groups_list_their_versions_best_first() -> None:
    (group,) = [each for each in list_groups(SERVED).groups if each.name == "resource.k8s.io"]
    assert [each.version for each in group.versions] == ["v1", "v1beta2", "v1beta1", "v1alpha3"]
    assert group.preferred_version.group_version == "resource.k8s.io/v1"


def test_aggregated_form_nests_subresources() -> None:
    written = msgspec.json.decode(encode_value(aggregate_groups(KINDS, core=False)))
    (group,) = written["items"]
    assert group["metadata"] == {"name": "resource.k8s.io"}
    (claims,) = [each for each in group["versions"][0]["resources"] if each["resource"] == "resourceclaims"]
    assert claims == {
        "resource": "resourceclaims",
        "responseKind": {"group": "", "version": "", "kind": "ResourceClaim"},
        "scope": "Namespaced",
        "singularResource": "resourceclaim",
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "subresources": [
            {
                "subresource": "status",
                "responseKind": {"group": "", "version": "", "kind": "ResourceClaim"},
                "verbs": ["get", "patch", "update"],
            }
        ],
    }
    assert aggregate_groups(KINDS, core=True).items == ()
