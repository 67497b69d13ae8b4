import pytest

from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import DeviceClaim, ResourceClaim, ResourceClaimSpec
from dray.api.resource.defaults import (
    default_claim,
    default_pool_status_request,
    default_slice,
    default_taint_rule,
)
from dray.api.resource.device import Device, DeviceTaint
from dray.api.resource.poolstatus import ResourcePoolStatusRequest, ResourcePoolStatusRequestSpec
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, DeviceToleration, ExactDeviceRequest
from dray.api.resource.slice import ResourceSlice, ResourceSliceSpec
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintRuleSpec
from dray.values.times import Time

EARLIER, NOW = Time(1_700_000_000), Time(1_800_000_000)


def default_request(request: DeviceRequest) -> DeviceRequest:
    claim = ResourceClaim(spec=ResourceClaimSpec(devices=DeviceClaim(requests=(request,))))
    (defaulted,) = default_claim(claim, NOW).spec.devices.requests or ()
    return defaulted


@pytest.mark.parametrize(
    ("mode", "count", "want"),
    [
        ("", 0, ("ExactCount", 1)),
        ("", 3, ("ExactCount", 3)),
        ("ExactCount", 0, ("ExactCount", 1)),
        ("ExactCount", -1, ("ExactCount", -1)),
        ("All", 0, ("All", 0)),
        ("All", 2, ("All", 2)),
        ("Some", 0, ("Some", 0)),
    ],
)
def test_mode_and_count(mode: str, count: int, want: tuple[str, int]) -> None:
    request = default_request(
        DeviceRequest(
            exactly=ExactDeviceRequest(allocation_mode=mode, count=count),
            first_available=(DeviceSubRequest(allocation_mode=mode, count=count),),
        )
    )

    assert request.exactly is not None
    assert (request.exactly.allocation_mode, request.exactly.count) == want
    (alternative,) = request.first_available
    assert (alternative.allocation_mode, alternative.count) == want


def test_a_request_without_demand_stays_so() -> None:
    assert default_request(DeviceRequest(name="r")) == DeviceRequest(name="r")


def test_tolerations_compare_by_default() -> None:
    tolerations = (DeviceToleration(key="a"), DeviceToleration(key="b", operator="Exists"))

    request = default_request(DeviceRequest(exactly=ExactDeviceRequest(tolerations=tolerations)))

    assert request.exactly is not None
    assert [each.operator for each in request.exactly.tolerations] == ["Equal", "Exists"]


def test_tolerations_in_an_allocation_compare_by_default() -> None:
    result = DeviceRequestAllocationResult(device="d", tolerations=(DeviceToleration(key="a"),))
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(result,)))

    claim = default_claim(ResourceClaim(status=ResourceClaimStatus(allocation=allocation)), NOW)

    assert claim.status.allocation is not None
    (defaulted,) = claim.status.allocation.devices.results
    assert [each.operator for each in defaulted.tolerations] == ["Equal"]


def test_an_empty_claim_has_nothing_to_fill_in() -> None:
    assert default_claim(ResourceClaim(), NOW) == ResourceClaim()


def test_taints_of_devices_are_dated() -> None:
    taints = (DeviceTaint(key="a"), DeviceTaint(key="b", time_added=EARLIER))
    spec = ResourceSliceSpec(devices=(Device(name="d", taints=taints),))

    (device,) = default_slice(ResourceSlice(spec=spec), NOW).spec.devices or ()

    assert [each.time_added for each in device.taints] == [NOW, EARLIER]


def test_a_slice_without_undated_taints_is_left_alone() -> None:
    dated = ResourceSlice(spec=ResourceSliceSpec(devices=(Device(taints=(DeviceTaint(time_added=EARLIER),)),)))

    assert default_slice(dated, NOW) is dated
    assert default_slice(counters := ResourceSlice(), NOW) is counters


@pytest.mark.parametrize(("sent", "want"), [(None, NOW), (EARLIER, EARLIER)])
def test_the_taint_of_a_rule_is_dated(sent: Time | None, want: Time) -> None:
    rule = DeviceTaintRule(spec=DeviceTaintRuleSpec(taint=DeviceTaint(time_added=sent)))

    assert default_taint_rule(rule, NOW).spec.taint.time_added == want


@pytest.mark.parametrize(("sent", "want"), [(None, 100), (0, 0), (7, 7)])
def test_the_answer_about_pools_is_limited(sent: int | None, want: int) -> None:
    request = ResourcePoolStatusRequest(spec=ResourcePoolStatusRequestSpec(limit=sent))

    assert default_pool_status_request(request, NOW).spec.limit == want
