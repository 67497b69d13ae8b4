import json
from collections.abc import Callable
from typing import Any

import pytest

from dray.api.codec import decode, encode, find_strict_faults
from dray.api.kind import Kind
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.kinds import RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE, RESOURCE_SLICE
from dray.api.resource.request import (
    CapacityRequirements,
    CELDeviceSelector,
    DeviceRequest,
    DeviceSelector,
    DeviceSubRequest,
    ExactDeviceRequest,
)
from dray.api.resource.slice import ResourceSlice


def read_request(request: dict[str, Any]) -> DeviceRequest:
    text = json.dumps({"spec": {"devices": {"requests": [request]}}}).encode()
    (declared,) = decode(RESOURCE_CLAIM, "v1beta1", text, strict=True).spec.devices.requests or ()
    return declared


def read_slice(spec: dict[str, Any]) -> ResourceSlice:
    return decode(RESOURCE_SLICE, "v1beta1", json.dumps({"spec": spec}).encode(), strict=True)


def test_inline_fields_become_exactly() -> None:
    request = read_request({"name": "r", "deviceClassName": "gpu", "selectors": [{"cel": {"expression": "true"}}]})

    assert request == DeviceRequest(
        name="r",
        exactly=ExactDeviceRequest(
            device_class_name="gpu", selectors=(DeviceSelector(cel=CELDeviceSelector(expression="true")),)
        ),
    )


@pytest.mark.parametrize(
    ("inline", "want"),
    [
        ({"deviceClassName": ""}, None),
        ({"allocationMode": ""}, None),
        ({"count": 0}, None),
        ({"adminAccess": None}, None),
        ({"selectors": None}, None),
        ({"selectors": []}, ExactDeviceRequest()),
        ({"tolerations": []}, ExactDeviceRequest()),
        ({"derivedAttributes": []}, ExactDeviceRequest()),
        ({"capacity": {}}, ExactDeviceRequest(capacity=CapacityRequirements())),
        ({"adminAccess": False}, ExactDeviceRequest(admin_access=False)),
        ({"allocationMode": "All"}, ExactDeviceRequest(allocation_mode="All")),
        ({"count": -1}, ExactDeviceRequest(count=-1)),
    ],
    ids=lambda value: json.dumps(value) if isinstance(value, dict) else "",
)
def test_any_inline_field_that_is_set_makes_a_request_exact(
    inline: dict[str, Any], want: ExactDeviceRequest | None
) -> None:
    assert read_request({"name": "r", **inline}).exactly == want


def test_inline_fields_beside_alternatives_are_both_kept() -> None:
    request = read_request({"name": "r", "deviceClassName": "gpu", "firstAvailable": [{"name": "a"}]})

    assert request.exactly == ExactDeviceRequest(device_class_name="gpu")
    assert request.first_available == (DeviceSubRequest(name="a"),)


def test_the_class_name_is_written_even_beside_alternatives() -> None:
    request = {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]}
    claim = decode(RESOURCE_CLAIM, "v1", json.dumps({"spec": {"devices": {"requests": [request]}}}).encode())

    written = json.loads(encode(RESOURCE_CLAIM, claim, "v1beta1"))

    assert written["spec"]["devices"]["requests"] == [{**request, "deviceClassName": ""}]


def test_templates_are_upgraded_like_claims() -> None:
    claim_spec = b'{"devices":{"requests":[{"name":"r","deviceClassName":"gpu","count":2}]}}'

    claim = decode(RESOURCE_CLAIM, "v1beta1", b'{"spec":%s}' % claim_spec)
    template = decode(RESOURCE_CLAIM_TEMPLATE, "v1beta1", b'{"spec":{"spec":%s}}' % claim_spec)

    assert template.spec.spec == claim.spec


@pytest.mark.parametrize("device", [{"name": "d"}, {"name": "d", "basic": None}, {"name": "d", "basic": {}}])
def test_a_device_without_properties_has_a_name_all_the_same(device: dict[str, Any]) -> None:
    (declared,) = read_slice({"devices": [device]}).spec.devices or ()

    assert declared.name == "d"
    assert json.loads(encode(RESOURCE_SLICE, ResourceSlice(spec=read_slice({"devices": [device]}).spec), "v1beta1"))[
        "spec"
    ]["devices"] == [{"name": "d", "basic": {}}]


def test_properties_stand_under_basic() -> None:
    old = {"name": "d", "basic": {"attributes": {"a": {"int": 0}}, "bindsToNode": False}}

    (declared,) = read_slice({"devices": [old]}).spec.devices or ()

    assert declared.attributes["a"].int == 0
    assert declared.binds_to_node is False


def test_zero_values_of_a_slice_mean_not_set() -> None:
    spec = read_slice({"nodeName": "", "allNodes": False}).spec

    assert spec.node_name is None
    assert spec.all_nodes is None


@pytest.mark.parametrize("text", [b"{}", b'{"spec":null}', b'{"spec":{"devices":null}}', b'{"spec":{"devices":{}}}'])
@pytest.mark.parametrize("kind", [RESOURCE_CLAIM, RESOURCE_CLAIM_TEMPLATE])
def test_what_is_missing_is_no_obstacle(kind: Kind[Any], text: bytes) -> None:
    thing = decode(kind, "v1beta1", text)

    assert decode(kind, "v1beta1", encode(kind, thing, "v1beta1")) == thing


@pytest.mark.parametrize(
    ("version", "request_of"),
    [("v1", lambda inline: {"name": "r", "exactly": inline}), ("v1beta1", lambda inline: {"name": "r", **inline})],
)
def test_unknown_fields_are_named_where_they_stand(
    version: str, request_of: Callable[[dict[str, Any]], dict[str, Any]]
) -> None:
    text = json.dumps({"spec": {"devices": {"requests": [request_of({"deviceClass": "gpu"})]}}}).encode()

    (fault,) = find_strict_faults(RESOURCE_CLAIM, version, text)

    assert fault.path == f"spec.devices.requests[0].{'exactly.' if version == 'v1' else ''}deviceClass"


def test_an_upgraded_claim_names_the_declared_version() -> None:
    claim = decode(RESOURCE_CLAIM, "v1beta1", b'{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1beta1"}')

    assert claim == ResourceClaim(kind="ResourceClaim", api_version="resource.k8s.io/v1")
