from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from dray.api.checks import AccessQuestion, ExpressionVerdict
from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import AllocationResult, ResourceClaimStatus
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.deviceclass import DeviceClass, DeviceClassSpec
from dray.api.resource.kinds import DEVICE_CLASS, DEVICE_TAINT_RULE, RESOURCE_CLAIM
from dray.api.resource.taintrule import DeviceTaintRule
from dray.api.writing import (
    plan_create,
    plan_status_update,
    plan_update,
    require_name,
    settle_namespace,
    settle_resource_version,
)
from dray.errors import ApiError, BadRequest, Conflict, Invalid
from dray.values.times import Time

NOW = Time(1_800_000_000)


@dataclass(frozen=True)
class Context:
    now: Time = NOW
    verb: str = "create"
    caller_node: str | None = None

    def judge_selector(self, expression: str) -> ExpressionVerdict:
        return ExpressionVerdict(None, 1)

    def judge_derived_attribute(self, expression: str) -> ExpressionVerdict:
        return ExpressionVerdict(None, 1)

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        return {}

    def deny(self, question: AccessQuestion) -> str | None:
        return None


STORED = ResourceClaim(
    metadata=ObjectMeta(name="c", namespace="n", uid="u", resource_version="5", creation_timestamp=Time(1)),
)


def test_create_sets_what_the_server_owns() -> None:
    sent = ObjectMeta(name="g", generation=7, creation_timestamp=Time(3), deletion_timestamp=Time(4), self_link="/x")
    plan = plan_create(DEVICE_CLASS, DeviceClass(metadata=sent), Context())
    assert plan.require_valid().metadata == ObjectMeta(name="g", generation=1, creation_timestamp=NOW)


def test_create_keeps_the_generation_of_kinds_that_do_not_count() -> None:
    claim = ResourceClaim(metadata=ObjectMeta(name="c", namespace="n", generation=7))
    assert plan_create(RESOURCE_CLAIM, claim, Context()).require_valid().metadata.generation == 7


def test_create_ignores_the_status() -> None:
    status = ResourceClaimStatus(allocation=AllocationResult())
    claim = ResourceClaim(metadata=ObjectMeta(name="c", namespace="n"), status=status)
    assert plan_create(RESOURCE_CLAIM, claim, Context()).require_valid().status == ResourceClaimStatus()


def test_create_refuses_a_resource_version_as_the_server_does() -> None:
    with pytest.raises(ApiError, match="should not be set") as caught:
        plan_create(RESOURCE_CLAIM, STORED, Context())
    assert caught.value.code == 500


def test_faults_of_metadata_come_first_and_all_come() -> None:
    bad = DeviceTaintRule(metadata=ObjectMeta(name="A"))
    plan = plan_create(DEVICE_TAINT_RULE, bad, Context())
    assert str(plan.faults[0].path) == "metadata.name"
    assert len(plan.faults) > 1
    with pytest.raises(Invalid, match=r'DeviceTaintRule\.resource\.k8s\.io "A" is invalid'):
        plan.require_valid()


def test_update_restores_what_clients_cannot_change() -> None:
    sent = ResourceClaim(metadata=ObjectMeta(name="c", namespace="n", labels={"a": "b"}, creation_timestamp=Time(9)))
    plan = plan_update(RESOURCE_CLAIM, sent, STORED, Context(verb="update"))
    assert plan.require_valid().metadata == replace(STORED.metadata, labels={"a": "b"})


def test_update_of_another_uid_is_invalid() -> None:
    sent = replace(STORED, metadata=replace(STORED.metadata, uid="other"))
    plan = plan_update(RESOURCE_CLAIM, sent, STORED, Context(verb="update"))
    assert [str(fault) for fault in plan.faults] == ['metadata.uid: Invalid value: "other": field is immutable']


def test_update_counts_changes_of_the_spec() -> None:
    stored = DeviceClass(metadata=ObjectMeta(name="g", resource_version="1", generation=3))
    same = plan_update(DEVICE_CLASS, stored, stored, Context(verb="update")).require_valid()
    changed = replace(stored, spec=DeviceClassSpec(extended_resource_name="x.org/gpu"))
    more = plan_update(DEVICE_CLASS, changed, stored, Context(verb="update")).require_valid()
    assert (same.metadata.generation, more.metadata.generation) == (3, 4)


def test_status_update_changes_nothing_else() -> None:
    sent = replace(STORED, metadata=replace(STORED.metadata, labels={"a": "b"}))
    plan = plan_status_update(RESOURCE_CLAIM, sent, STORED, Context(verb="update"))
    assert plan.require_valid() == STORED


def test_namespace_of_the_request_is_the_namespace_of_the_object() -> None:
    claim = ResourceClaim(metadata=ObjectMeta(name="c"))
    assert settle_namespace(RESOURCE_CLAIM, claim, "n").metadata.namespace == "n"
    assert settle_namespace(RESOURCE_CLAIM, STORED, "n") is STORED
    with pytest.raises(BadRequest, match="does not match the namespace sent on the request"):
        settle_namespace(RESOURCE_CLAIM, STORED, "other")


def test_a_cluster_wide_object_loses_its_namespace() -> None:
    rule = DeviceTaintRule(metadata=ObjectMeta(name="r", namespace="n"))
    assert settle_namespace(DEVICE_TAINT_RULE, rule, "").metadata.namespace == ""


def test_an_update_bears_the_name_in_its_path() -> None:
    assert require_name(RESOURCE_CLAIM, STORED, "c") is STORED
    with pytest.raises(BadRequest, match=r"the name of the object \(c based on URL\) was undeterminable"):
        require_name(RESOURCE_CLAIM, ResourceClaim(), "c")
    with pytest.raises(BadRequest, match=r"the name of the object \(c\) does not match the name on the URL \(d\)"):
        require_name(RESOURCE_CLAIM, STORED, "d")


def test_a_stale_update_conflicts() -> None:
    stale = replace(STORED, metadata=replace(STORED.metadata, resource_version="4"))
    with pytest.raises(Conflict, match="the object has been modified"):
        settle_resource_version(RESOURCE_CLAIM, "v1", stale, STORED)


@pytest.mark.parametrize("version", ["0", "00"])
def test_version_0_is_any(version: str) -> None:
    new = replace(STORED, metadata=replace(STORED.metadata, resource_version=version))
    assert settle_resource_version(RESOURCE_CLAIM, "v1", new, STORED) == STORED


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("abc", "invalid syntax"),
        ("-1", "invalid syntax"),
        ("1.5", "invalid syntax"),
        (str(2**64), "value out of range"),
    ],
)
def test_a_version_that_is_no_number_fails_an_update(version: str, why: str) -> None:
    new = replace(STORED, metadata=replace(STORED.metadata, resource_version=version))
    with pytest.raises(ApiError) as refusal:
        settle_resource_version(RESOURCE_CLAIM, "v1", new, STORED)
    assert (refusal.value.code, refusal.value.message) == (500, f'strconv.ParseUint: parsing "{version}": {why}')


@pytest.mark.parametrize(("version", "is_refused"), [("v1", True), ("v1beta2", False)])
def test_an_update_of_no_version_depends_on_the_kind(version: str, is_refused: bool) -> None:
    old = DeviceTaintRule(metadata=ObjectMeta(name="r", resource_version="5"))
    new = DeviceTaintRule(metadata=ObjectMeta(name="r"))
    if is_refused:
        with pytest.raises(Invalid, match="must be specified for an update"):
            settle_resource_version(DEVICE_TAINT_RULE, version, new, old)
    else:
        settled = settle_resource_version(DEVICE_TAINT_RULE, version, new, old)
        assert settled.metadata.resource_version == "5"
