"""What holds for all objects of `resource.k8s.io`: texts, versions, defaults, preparation."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dray.api.codec import decode, encode
from dray.api.kind import Kind
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.equality import is_same
from dray.api.resource.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    KINDS,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.resource.request import DeviceRequest, ExactDeviceRequest
from dray.values.times import Time
from tests.properties import strategies_resource as drawn

NOW = Time(1_800_000_000)
LATER = NOW.plus_seconds(60)
OBJECTS: dict[str, st.SearchStrategy[Any]] = {
    "ResourceClaim": drawn.claims,
    "ResourceClaimTemplate": drawn.claim_templates,
    "ResourceSlice": drawn.slices,
    "DeviceClass": drawn.device_classes,
    "DeviceTaintRule": drawn.taint_rules,
    "ResourcePoolStatusRequest": drawn.pool_status_requests,
}
SERVED = [
    pytest.param(kind, version.name, id=f"{kind.name}-{version.name}") for kind in KINDS for version in kind.versions
]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)


def _requests(thing: object) -> tuple[DeviceRequest, ...]:
    if isinstance(thing, ResourceClaimTemplate):
        return thing.spec.spec.devices.requests or ()
    return (thing.spec.devices.requests or ()) if isinstance(thing, ResourceClaim) else ()


def _v1beta1_has_words_for(thing: object) -> bool:
    """An `exactly` in which nothing is set cannot be told from none once its fields stand in the request."""
    return all(request.exactly != ExactDeviceRequest() for request in _requests(thing))


@pytest.mark.parametrize(("kind", "version"), SERVED)
@given(st.data())
def test_texts_of_every_version_say_the_whole_object(kind: Kind[Any], version: str, data: st.DataObject) -> None:
    strategy = OBJECTS[kind.name]
    thing = data.draw(strategy.filter(_v1beta1_has_words_for) if version == "v1beta1" else strategy)

    assert decode(kind, version, encode(kind, thing, version), strict=True) == thing


@each_kind
@given(st.data())
def test_defaults_are_filled_in_once(kind: Kind[Any], data: st.DataObject) -> None:
    filled = kind.default(data.draw(OBJECTS[kind.name]), NOW)

    assert kind.default(filled, LATER) == filled


@each_kind
@given(st.data())
def test_an_object_is_the_same_as_its_copy(kind: Kind[Any], data: st.DataObject) -> None:
    thing = data.draw(OBJECTS[kind.name])
    version = kind.declared_version

    assert is_same(thing, decode(kind, version, encode(kind, thing, version)))
    assert not is_same(thing, replace(thing, metadata=replace(thing.metadata, name="another")))


@pytest.mark.parametrize("kind", [DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_SLICE], ids=lambda kind: kind.name)
@given(st.data())
def test_the_generation_counts_changes_of_the_spec(kind: Kind[Any], data: st.DataObject) -> None:
    old, new = data.draw(OBJECTS[kind.name]), data.draw(OBJECTS[kind.name])

    unchanged = kind.prepare_update(replace(new, spec=old.spec), old, NOW)
    prepared = kind.prepare_update(new, old, NOW)

    assert unchanged.metadata.generation == old.metadata.generation
    assert prepared.metadata.generation == old.metadata.generation + (prepared.spec != old.spec)


@pytest.mark.parametrize(
    "kind", [RESOURCE_CLAIM, DEVICE_TAINT_RULE, RESOURCE_POOL_STATUS_REQUEST], ids=lambda kind: kind.name
)
@given(st.data())
def test_object_and_status_are_written_apart(kind: Kind[Any], data: st.DataObject) -> None:
    old, new = data.draw(OBJECTS[kind.name]), data.draw(OBJECTS[kind.name])

    assert kind.prepare_create(new).status == kind.struct().status
    assert kind.prepare_update(new, old, NOW).status == old.status
    status_written = kind.prepare_status(new, old, NOW)
    assert status_written.spec == old.spec
    assert status_written.metadata.labels == old.metadata.labels


@given(drawn.claims, drawn.claims)
def test_a_claim_never_reports_of_devices_it_has_just_lost(old: ResourceClaim, new: ResourceClaim) -> None:
    def keys(claim: ResourceClaim) -> set[tuple[str, str, str, str | None]]:
        allocation = claim.status.allocation
        results = allocation.devices.results if allocation else ()
        return {(each.driver, each.pool, each.device, each.share_id) for each in results}

    prepared = RESOURCE_CLAIM.prepare_status(new, old, NOW)

    reported = [(each.driver, each.pool, each.device, each.share_id) for each in prepared.status.devices]
    sent = [(each.driver, each.pool, each.device, each.share_id) for each in new.status.devices]
    assert reported == [key for key in sent if key not in keys(old) - keys(new)]


@given(drawn.claim_templates)
def test_a_template_has_the_defaults_of_its_claims(template: ResourceClaimTemplate) -> None:
    claim = ResourceClaim(spec=template.spec.spec)

    assert RESOURCE_CLAIM_TEMPLATE.default(template, NOW).spec.spec == RESOURCE_CLAIM.default(claim, NOW).spec
