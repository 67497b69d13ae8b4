"""Every field name, type, default and merge rule equals what Kubernetes publishes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dray.api.openapi import build_openapi, list_openapi_paths
from dray.api.openapiv2 import build_openapi_v2
from dray.api.registry import SERVED
from tools.openapi_facts import describe_schema, find_references

VERSIONS = ("v1", "v1beta2", "v1beta1", "v1alpha3")
RECORDED: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("openapi").joinpath("fields.json").read_text()
)
UNRECORDED_PACKAGES = ("authentication", "authorization")
UNRECORDED_VERSIONS = ("scheduling.v1alpha3", "scheduling.v1beta1")


def split_path(path: str) -> tuple[str, str]:
    group, _, version = path.removeprefix("apis/").removeprefix("api/").rpartition("/")
    return group, version


def published() -> dict[str, dict[str, Any]]:
    schemas: dict[str, dict[str, Any]] = {}
    for path in list_openapi_paths(SERVED):
        schemas |= build_openapi(SERVED, *split_path(path))["components"]["schemas"]
    return schemas


PUBLISHED = published()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_type_equals_the_recorded_one(name: str) -> None:
    assert describe_schema(PUBLISHED[name]) == RECORDED[name]


def test_nothing_is_published_that_kubernetes_does_not_know() -> None:
    unknown = [name for name in sorted(set(PUBLISHED) - set(RECORDED)) if not is_unrecorded(name)]
    assert unknown == []


def is_unrecorded(name: str) -> bool:
    package, version = name.split(".")[3:5]
    return package in UNRECORDED_PACKAGES or f"{package}.{version}" in UNRECORDED_VERSIONS


@pytest.mark.parametrize("path", list_openapi_paths(SERVED))
def test_document_is_complete_and_described(path: str) -> None:
    document = build_openapi(SERVED, *split_path(path))
    schemas = document["components"]["schemas"]
    assert [name for name in find_references(document) if name not in schemas] == []
    undescribed = [
        f"{name}.{field}"
        for name, schema in schemas.items()
        for field, property_ in schema.get("properties", {}).items()
        if not property_.get("description")
    ]
    assert undescribed == []
    assert [name for name, schema in schemas.items() if not schema["description"]] == []


@pytest.mark.parametrize("version", VERSIONS)
def test_every_kind_can_be_patched_with_field_validation(version: str) -> None:
    paths = build_openapi(SERVED, "resource.k8s.io", version)["paths"]
    patched = {
        operations["patch"]["x-kubernetes-group-version-kind"]["kind"]
        for operations in paths.values()
        if "patch" in operations
        and any(each["name"] == "fieldValidation" for each in operations["patch"]["parameters"])
    }
    assert patched == {kind.name for kind in SERVED if kind.group == "resource.k8s.io" and kind.find_version(version)}


def test_the_old_document_says_what_the_new_ones_say() -> None:
    old = build_openapi_v2(SERVED)
    assert old["swagger"] == "2.0"
    for path in list_openapi_paths(SERVED):
        document = build_openapi(SERVED, *split_path(path))
        assert document["paths"].keys() <= old["paths"].keys()
        assert document["components"]["schemas"].keys() <= old["definitions"].keys()
    text = json.dumps(old)
    references = set(re.findall(r'"\$ref": "#/definitions/([^"]*)"', text))
    assert references <= old["definitions"].keys()
    assert text.count('"$ref": "#/definitions/') == text.count('"$ref": ')
    assert '"requestBody": {' not in text
    assert '"oneOf": [' not in text
