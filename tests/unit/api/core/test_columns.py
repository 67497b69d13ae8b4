"""Columns as recorded, and cells in the states that matter."""

import json
from pathlib import Path
from typing import Any

import pytest

from dray.api.codec import decode
from dray.api.kind import Kind
from dray.api.registry import SERVED
from dray.values.times import parse_time

RECORDED: dict[str, list[list[Any]]] = json.loads(Path(__file__).with_name("recorded_columns.json").read_text())
NOW = parse_time("2026-01-01T01:00:00Z")
CREATED = "2026-01-01T00:00:00Z"


def kind_of(resource: str) -> Kind[Any]:
    plural, _, group = resource.partition(".")
    return next(kind for kind in SERVED if kind.plural == plural and (kind.group == group or not group))


def cells(resource: str, thing: dict[str, Any]) -> list[Any]:
    kind = kind_of(resource)
    metadata = {"name": "x", "creationTimestamp": CREATED} | thing.get("metadata", {})
    decoded = decode(kind, kind.declared_version, json.dumps(thing | {"metadata": metadata}).encode())
    return [column.cell(decoded, NOW) for column in kind.columns]


@pytest.mark.parametrize("resource", sorted(RECORDED))
def test_columns_are_the_recorded_ones(resource: str) -> None:
    got = [[each.name, each.type, each.format, each.priority] for each in kind_of(resource).columns]
    assert got == RECORDED[resource]


@pytest.mark.parametrize("kind", list(SERVED), ids=lambda kind: f"{kind.group}/{kind.plural}")
def test_every_column_is_described(kind: Kind[Any]) -> None:
    assert [column.name for column in kind.columns if not column.description] == []


NOTHING_KNOWN = ["<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"]


@pytest.mark.parametrize(
    ("node", "want"),
    [
        ({}, ["x", "Unknown", "<none>", "60m", "", *NOTHING_KNOWN]),
        (
            {
                "metadata": {"labels": {"node-role.kubernetes.io/gpu": "", "kubernetes.io/role": "edge"}},
                "spec": {"unschedulable": True},
                "status": {
                    "conditions": [{"type": "Ready", "status": "True"}],
                    "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
                    "nodeInfo": {
                        "kubeletVersion": "v1.37.0",
                        "kernelVersion": "6.1",
                        "architecture": "arm64",
                        "osImage": "Linux",
                        "containerRuntimeVersion": "sim://1",
                    },
                },
            },
            [
                *("x", "Ready,SchedulingDisabled", "edge,gpu", "60m", "v1.37.0"),
                *("10.0.0.1", "<none>", "Linux", "6.1 (arm64)", "sim://1"),
            ],
        ),
        (
            {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
            ["x", "NotReady", "<none>", "60m", "", *NOTHING_KNOWN],
        ),
    ],
)
def test_node_cells(node: dict[str, Any], want: list[Any]) -> None:
    assert cells("nodes", node) == want


@pytest.mark.parametrize(
    ("service", "want"),
    [
        (
            {"spec": {"type": "ClusterIP", "clusterIP": "None", "selector": {"b": "2", "a": "1"}}},
            ["x", "ClusterIP", "None", "<none>", "<none>", "60m", "a=1,b=2"],
        ),
        (
            {
                "spec": {
                    "type": "NodePort",
                    "clusterIPs": ["10.96.0.1"],
                    "ports": [
                        {"port": 80, "nodePort": 30080, "protocol": "TCP"},
                        {"port": 53, "protocol": "UDP"},
                    ],
                }
            },
            ["x", "NodePort", "10.96.0.1", "<none>", "80:30080/TCP,53/UDP", "60m", "<none>"],
        ),
        ({"spec": {"type": "LoadBalancer"}}, ["x", "LoadBalancer", "<none>", "<pending>", "<none>", "60m", "<none>"]),
        (
            {
                "spec": {"type": "LoadBalancer", "externalIPs": ["1.1.1.1"]},
                "status": {"loadBalancer": {"ingress": [{"hostname": "balancer.example.com"}]}},
            },
            ["x", "LoadBalancer", "<none>", "balancer.exam...,1.1.1.1", "<none>", "60m", "<none>"],
        ),
        (
            {"spec": {"type": "ExternalName", "externalName": "example.com"}},
            ["x", "ExternalName", "<none>", "example.com", "<none>", "60m", "<none>"],
        ),
    ],
)
def test_service_cells(service: dict[str, Any], want: list[Any]) -> None:
    assert cells("services", service) == want


OLDER_EVENT = {
    "involvedObject": {"kind": "Pod", "name": "p"},
    "reason": "R",
    "message": " m ",
    "source": {"component": "x"},
    "firstTimestamp": CREATED,
    "lastTimestamp": "2026-01-01T00:59:00Z",
    "count": 3,
    "type": "Normal",
}
NEWER_EVENT = {
    "regarding": {"kind": "Pod", "name": "p", "fieldPath": "spec.containers{c}"},
    "reason": "R",
    "note": "m",
    "eventTime": "2026-01-01T00:00:00.000000Z",
    "reportingController": "x.y/z",
    "reportingInstance": "i",
    "series": {"count": 2, "lastObservedTime": "2026-01-01T00:58:00.000000Z"},
    "type": "Warning",
}


def test_event_cells() -> None:
    assert cells("events", OLDER_EVENT) == ["60s", "Normal", "R", "pod/p", "", "x", "m", "60m", 3, "x"]
    part = "spec.containers{c}"
    want = ["2m", "Warning", "R", "pod/p", part, "x.y/z, i", "m", "60m", 2, "x"]
    assert cells("events.events.k8s.io", NEWER_EVENT) == want
    assert cells("events", {"eventTime": "2026-01-01T00:00:00.000000Z"})[:1] == ["60m"]
    assert cells("events", {})[0] == "<unknown>"


@pytest.mark.parametrize(
    ("resource", "thing", "want"),
    [
        ("namespaces", {"status": {"phase": "Active"}}, ["x", "Active", "60m"]),
        ("configmaps", {"data": {"a": "1"}, "binaryData": {"b": "AA=="}}, ["x", 2, "60m"]),
        ("secrets", {"data": {"a": "AA=="}, "type": "Opaque"}, ["x", "Opaque", 1, "60m"]),
        ("serviceaccounts", {}, ["x", "60m"]),
        ("leases", {}, ["x", "", "60m"]),
        ("leases", {"spec": {"holderIdentity": "me"}}, ["x", "me", "60m"]),
        ("limitranges", {}, ["x", CREATED]),
        ("roles", {}, ["x", CREATED]),
        (
            "priorityclasses",
            {"value": 5, "preemptionPolicy": "Never"},
            ["x", 5, False, "60m", "Never"],
        ),
        ("poddisruptionbudgets", {"spec": {"minAvailable": "50%"}}, ["x", "50%", "N/A", 0, "60m"]),
        (
            "resourcequotas",
            {
                "status": {
                    "hard": {"requests.cpu": "2", "pods": "1", "limits.cpu": "4"},
                    "used": {"pods": "1", "requests.cpu": "500m"},
                }
            },
            ["x", "pods: 1/1, requests.cpu: 500m/2", "limits.cpu: 0/4", "60m"],
        ),
        (
            "rolebindings",
            {
                "roleRef": {"kind": "Role", "name": "r"},
                "subjects": [
                    {"kind": "User", "name": "a"},
                    {"kind": "User", "name": "b"},
                    {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
                ],
            },
            ["x", "Role/r", "60m", "a, b", "", "n/s"],
        ),
    ],
)
def test_cells_of_other_kinds(resource: str, thing: dict[str, Any], want: list[Any]) -> None:
    assert cells(resource, thing) == want
