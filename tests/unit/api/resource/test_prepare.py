import pytest
from msgspec import Raw

from dray.api.meta import Condition, ObjectMeta
from dray.api.resource.allocation import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.device import DeviceTaint
from dray.api.resource.deviceclass import DeviceClass, DeviceClassConfiguration, DeviceClassSpec
from dray.api.resource.poolstatus import ResourcePoolStatusRequest, ResourcePoolStatusRequestStatus
from dray.api.resource.prepare import (
    prepare_claim_create,
    prepare_claim_status,
    prepare_claim_update,
    prepare_class_update,
    prepare_pool_status_request_create,
    prepare_pool_status_request_update,
    prepare_taint_rule_create,
    prepare_taint_rule_status,
    prepare_taint_rule_update,
    restore_metadata,
)
from dray.api.resource.request import DeviceRequest, OpaqueDeviceConfiguration
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintRuleStatus
from dray.values.times import Time

EARLIER, LATER, NOW = Time(1_700_000_000), Time(1_700_000_060), Time(1_800_000_000)
SPEC = ResourceClaimSpec(devices=DeviceClaim(requests=(DeviceRequest(name="r"),)))


def status(*devices: str, reported: tuple[str, ...] = ()) -> ResourceClaimStatus:
    results = tuple(DeviceRequestAllocationResult(device=each) for each in devices)
    return ResourceClaimStatus(
        allocation=AllocationResult(devices=DeviceAllocationResult(results=results)) if devices else None,
        devices=tuple(AllocatedDeviceStatus(device=each) for each in reported),
    )


def test_a_claim_is_born_without_status() -> None:
    assert prepare_claim_create(ResourceClaim(spec=SPEC, status=status("d"))) == ResourceClaim(spec=SPEC)


def test_updating_a_claim_leaves_its_status() -> None:
    prepared = prepare_claim_update(ResourceClaim(spec=SPEC), ResourceClaim(status=status("d")), NOW)

    assert prepared == ResourceClaim(spec=SPEC, status=status("d"))


def test_updating_the_status_of_a_claim_leaves_the_rest() -> None:
    old = ResourceClaim(metadata=ObjectMeta(name="c", labels={"a": "1"}), spec=SPEC)
    new = ResourceClaim(metadata=ObjectMeta(name="c", labels={"a": "2"}, resource_version="7"), status=status("d"))

    prepared = prepare_claim_status(new, old, NOW)

    assert prepared == ResourceClaim(
        metadata=ObjectMeta(name="c", labels={"a": "1"}, resource_version="7"), spec=SPEC, status=status("d")
    )


@pytest.mark.parametrize(
    ("before", "after", "reported", "want"),
    [
        pytest.param(("a", "b"), (), ("a", "b"), (), id="deallocated"),
        pytest.param(("a", "b"), ("b",), ("a", "b"), ("b",), id="one device less"),
        pytest.param(("a",), (), ("never-had",), ("never-had",), id="a report for a check to refuse"),
        pytest.param((), (), ("a",), ("a",), id="no allocation at all"),
        pytest.param(("a",), ("a",), ("a",), ("a",), id="unchanged"),
    ],
)
def test_reports_of_lost_devices_go(
    before: tuple[str, ...], after: tuple[str, ...], reported: tuple[str, ...], want: tuple[str, ...]
) -> None:
    old = ResourceClaim(status=status(*before))
    new = ResourceClaim(status=status(*after, reported=reported))

    prepared = prepare_claim_status(new, old, NOW)

    assert tuple(each.device for each in prepared.status.devices) == want


def test_a_share_is_a_device_of_its_own() -> None:
    results = tuple(DeviceRequestAllocationResult(device="d", share_id=share) for share in ("s1", "s2"))
    reports = tuple(AllocatedDeviceStatus(device="d", share_id=share) for share in ("s1", "s2"))

    def claim(kept: int) -> ResourceClaim:
        allocation = AllocationResult(devices=DeviceAllocationResult(results=results[:kept]))
        return ResourceClaim(status=ResourceClaimStatus(allocation=allocation, devices=reports))

    assert prepare_claim_status(claim(1), claim(2), NOW).status.devices == reports[:1]


def rule(effect: str, time_added: Time = EARLIER) -> DeviceTaintRule:
    taint = DeviceTaint(key="example.com/broken", effect=effect, time_added=time_added)
    return DeviceTaintRule(metadata=ObjectMeta(generation=4), spec=DeviceTaintRuleSpec(taint=taint))


@pytest.mark.parametrize(
    ("new", "want_time", "want_generation"),
    [
        pytest.param(rule("NoSchedule"), EARLIER, 4, id="unchanged"),
        pytest.param(rule("NoExecute"), NOW, 5, id="another effect"),
        pytest.param(rule("NoExecute", LATER), LATER, 5, id="another effect and date"),
        pytest.param(rule("NoSchedule", LATER), LATER, 5, id="another date"),
    ],
)
def test_a_taint_with_another_effect_is_dated_anew(new: DeviceTaintRule, want_time: Time, want_generation: int) -> None:
    prepared = prepare_taint_rule_update(new, rule("NoSchedule"), NOW)

    assert prepared.spec.taint.time_added == want_time
    assert prepared.metadata.generation == want_generation


def test_a_rule_and_its_status_are_written_apart() -> None:
    known = DeviceTaintRuleStatus(conditions=(Condition(type="EvictionInProgress", status="True"),))
    old = DeviceTaintRule(spec=rule("None").spec)
    new = DeviceTaintRule(spec=rule("NoExecute").spec, status=known)

    assert prepare_taint_rule_create(new).status == DeviceTaintRuleStatus()
    assert prepare_taint_rule_update(new, old, NOW).status == DeviceTaintRuleStatus()
    assert prepare_taint_rule_status(new, old, NOW) == DeviceTaintRule(spec=old.spec, status=known)


def test_an_answer_about_pools_is_written_as_status_only() -> None:
    answered = ResourcePoolStatusRequest(status=ResourcePoolStatusRequestStatus(pool_count=1))

    assert prepare_pool_status_request_create(answered).status is None
    assert prepare_pool_status_request_update(ResourcePoolStatusRequest(), answered, NOW) == answered


@pytest.mark.parametrize(
    ("parameters", "want"),
    [(b'{"a":1,"b":2}', 1), (b'{ "b": 2, "a": 1.0 }', 1), (b'{"a":1,"b":3}', 2), (b"{", 2)],
)
def test_only_what_json_says_counts_as_a_change(parameters: bytes, want: int) -> None:
    def device_class(parameters: bytes) -> DeviceClass:
        opaque = OpaqueDeviceConfiguration(driver="d", parameters=Raw(parameters))
        spec = DeviceClassSpec(config=(DeviceClassConfiguration(opaque=opaque),))
        return DeviceClass(metadata=ObjectMeta(generation=1), spec=spec)

    prepared = prepare_class_update(device_class(parameters), device_class(b'{"a":1,"b":2}'), NOW)

    assert prepared.metadata.generation == want


def test_a_generation_that_the_client_sent_counts_for_nothing() -> None:
    sent = DeviceClass(metadata=ObjectMeta(generation=99))

    assert prepare_class_update(sent, DeviceClass(metadata=ObjectMeta(generation=1)), NOW).metadata.generation == 1


def test_what_the_server_knows_of_an_object_is_not_restored() -> None:
    sent = ObjectMeta(name="n", uid="u", resource_version="5", finalizers=("a/b",))

    assert restore_metadata(sent, ObjectMeta(name="n")) == ObjectMeta(name="n", uid="u", resource_version="5")
