"""Every field name, type, default and merge rule equals what Kubernetes publishes."""

import json
from pathlib import Path
from typing import Any

import pytest

from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.openapi import build_openapi, list_openapi_paths
from dray.api.registry import SERVED
from dray.api.schemas import SchemaBook
from tools.openapi_facts import describe_schema, find_references

GROUP = "resource.k8s.io"
VERSIONS = ("v1", "v1beta2", "v1beta1", "v1alpha3")
RECORDED: dict[str, dict[str, str]] = json.loads(
    Path(__file__).with_name("openapi").joinpath("fields.json").read_text()
)


def published() -> dict[str, dict[str, Any]]:
    schemas: dict[str, dict[str, Any]] = {}
    for version in VERSIONS:
        schemas |= build_openapi(SERVED, GROUP, version)["components"]["schemas"]
    core = SchemaBook("", "v1")
    for struct in (Pod, Node):
        core.add_kind(struct, {"group": "", "kind": struct.__name__, "version": "v1"})
    return schemas | core.schemas


PUBLISHED = published()


@pytest.mark.parametrize("name", sorted(RECORDED))
def test_type_equals_the_recorded_one(name: str) -> None:
    assert describe_schema(PUBLISHED[name]) == RECORDED[name]


def test_nothing_is_published_that_kubernetes_does_not_know() -> None:
    lists_of_roots = {"io.k8s.api.core.v1.NodeList", "io.k8s.api.core.v1.PodList"}
    assert set(PUBLISHED) - set(RECORDED) == lists_of_roots


@pytest.mark.parametrize("path", list_openapi_paths(SERVED))
def test_document_is_complete_and_described(path: str) -> None:
    group, _, version = path.removeprefix("apis/").removeprefix("api/").rpartition("/")
    document = build_openapi(SERVED, group, version)
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
    paths = build_openapi(SERVED, GROUP, version)["paths"]
    patched = {
        operations["patch"]["x-kubernetes-group-version-kind"]["kind"]
        for operations in paths.values()
        if "patch" in operations
        and any(each["name"] == "fieldValidation" for each in operations["patch"]["parameters"])
    }
    assert patched == {kind.name for kind in SERVED if kind.group == GROUP and kind.find_version(version)}
