"""What is written although it is empty, and what is not."""

import json
from typing import Any

import pytest

from dray.api.codec import decode, encode
from dray.api.kind import Kind
from dray.api.resource.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    KINDS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)

NO_REQUESTS = {"devices": {"requests": None}}
NO_POOL = {"name": "", "generation": 0, "resourceSliceCount": 0}


def rewrite(kind: Kind[Any], **parts: object) -> dict[str, Any]:
    """What is written of an object after reading it."""
    text = encode(kind, decode(kind, kind.declared_version, json.dumps(parts).encode()), kind.declared_version)
    return {name: part for name, part in json.loads(text).items() if name not in ("kind", "apiVersion", "metadata")}


@pytest.mark.parametrize(
    ("kind", "want"),
    [
        (RESOURCE_CLAIM, {"spec": NO_REQUESTS, "status": {}}),
        (RESOURCE_CLAIM_TEMPLATE, {"spec": {"metadata": {}, "spec": NO_REQUESTS}}),
        (RESOURCE_SLICE, {"spec": {"driver": "", "pool": NO_POOL}}),
        (DEVICE_CLASS, {"spec": {}}),
        (DEVICE_TAINT_RULE, {"spec": {"taint": {"key": "", "effect": ""}}, "status": {}}),
        (RESOURCE_POOL_STATUS_REQUEST, {"spec": {"driver": ""}}),
    ],
    ids=lambda value: value.name if isinstance(value, Kind) else "",
)
def test_empty_objects(kind: Kind[Any], want: dict[str, Any]) -> None:
    assert rewrite(kind) == want


@pytest.mark.parametrize(
    ("sent", "want"),
    [
        pytest.param({"devices": {"requests": []}}, NO_REQUESTS, id="no requests"),
        pytest.param({"devices": {"constraints": [], "config": []}}, NO_REQUESTS, id="no constraints"),
        pytest.param(
            {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c", "selectors": []}}]}},
            {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}},
            id="no selectors",
        ),
        pytest.param(
            {"devices": {"requests": [{"name": "r", "exactly": {}, "firstAvailable": []}]}},
            {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": ""}}]}},
            id="an empty demand",
        ),
    ],
)
def test_specs_of_claims(sent: dict[str, Any], want: dict[str, Any]) -> None:
    assert rewrite(RESOURCE_CLAIM, spec=sent)["spec"] == want


@pytest.mark.parametrize(
    ("sent", "want"),
    [
        pytest.param({"allocation": {}}, {"allocation": {"devices": {}}}, id="an empty allocation"),
        pytest.param({"reservedFor": [], "devices": []}, {}, id="empty lists"),
        pytest.param(
            {"devices": [{"driver": "d", "pool": "p", "device": "n", "conditions": []}]},
            {"devices": [{"driver": "d", "pool": "p", "device": "n", "conditions": None}]},
            id="no conditions",
        ),
        pytest.param(
            {"devices": [{"data": None, "networkData": {"ips": []}}]},
            {"devices": [{"driver": "", "pool": "", "device": "", "conditions": None, "networkData": {}}]},
            id="no data",
        ),
    ],
)
def test_statuses_of_claims(sent: dict[str, Any], want: dict[str, Any]) -> None:
    assert rewrite(RESOURCE_CLAIM, status=sent)["status"] == want


@pytest.mark.parametrize(
    ("sent", "want"),
    [
        pytest.param({"devices": []}, {}, id="no devices"),
        pytest.param({"sharedCounters": []}, {}, id="no counters"),
        pytest.param({"devices": [], "sharedCounters": None}, {}, id="null is absent"),
        pytest.param(
            {"devices": [{"name": "d", "capacity": {"c": {"requestPolicy": {}}}}]},
            {"devices": [{"name": "d", "capacity": {"c": {"value": "0", "requestPolicy": {"default": None}}}}]},
            id="an empty policy",
        ),
        pytest.param(
            {"sharedCounters": [{"name": "s", "counters": {"c": {}}}]},
            {"sharedCounters": [{"name": "s", "counters": {"c": {"value": "0"}}}]},
            id="a counter without value",
        ),
    ],
)
def test_specs_of_slices(sent: dict[str, Any], want: dict[str, Any]) -> None:
    assert rewrite(RESOURCE_SLICE, spec=sent)["spec"] == {"driver": "", "pool": NO_POOL} | want


@pytest.mark.parametrize("sent", [{"devices": [], "sharedCounters": []}, {"devices": [], "sharedCounters": [{}]}])
def test_an_empty_list_beside_its_rival_is_kept_for_a_check_to_refuse(sent: dict[str, Any]) -> None:
    spec = decode(RESOURCE_SLICE, "v1", json.dumps({"spec": sent}).encode()).spec

    assert spec.devices is not None
    assert spec.shared_counters is not None


def test_raw_json_keeps_its_bytes() -> None:
    parameters = b'{ "b": 1.0,  "a": 123456789012345678901234567890 }'
    text = b'{"spec":{"config":[{"opaque":{"driver":"d","parameters":%s}}]}}' % parameters

    assert parameters in encode(DEVICE_CLASS, decode(DEVICE_CLASS, "v1", text), "v1")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_objects_say_what_they_are(kind: Kind[Any]) -> None:
    for version in kind.versions:
        written = json.loads(encode(kind, kind.struct(), version.name))
        assert (written["kind"], written["apiVersion"]) == (kind.name, f"resource.k8s.io/{version.name}")
