"""Hints help a stranger: the closest name, what to set, what to remove."""

import msgspec
import pytest

from dray.api.resource.checks import claim as claim_checks
from dray.api.resource.claim import DeviceClaim, DeviceConstraint, ResourceClaim, ResourceClaimSpec
from dray.api.resource.request import DeviceRequest, DeviceSubRequest, ExactDeviceRequest
from dray.errors import FieldError
from tests.cases.api.resource.world import World

EXACTLY = ExactDeviceRequest(device_class_name="gpu.example.com", allocation_mode="ExactCount", count=1)
GPU = DeviceRequest(name="gpu", exactly=EXACTLY)
ALT = DeviceRequest(
    name="alternative",
    first_available=(
        DeviceSubRequest(name="big", device_class_name="c", allocation_mode="All"),
        DeviceSubRequest(name="small", device_class_name="c", allocation_mode="All"),
    ),
)


def faults_of(*requests: DeviceRequest, reference: str | None = None) -> list[FieldError]:
    constraints = (
        (DeviceConstraint(requests=(reference,), match_attribute="example.com/a"),) if reference is not None else ()
    )
    claim = ResourceClaim(spec=ResourceClaimSpec(devices=DeviceClaim(requests=requests, constraints=constraints)))
    return [fault for check in claim_checks.create_checks for fault in check(claim, None, World({}))]


@pytest.mark.parametrize(
    ("reference", "want_hint"),
    [
        ("gpus", "did you mean gpu?"),
        ("alternative/smal", "did you mean alternative/small?"),
        ("alternativ/big", "did you mean alternative/big?"),
        ("zzz", "use gpu, alternative, alternative/big, alternative/small"),
    ],
)
def test_unknown_reference_gets_the_closest_request(reference: str, want_hint: str) -> None:
    assert [fault.hint for fault in faults_of(GPU, ALT, reference=reference)] == [want_hint]


def test_unknown_reference_in_a_claim_without_requests_asks_for_one() -> None:
    assert [fault.hint for fault in faults_of(reference="gpu")] == ["add a request of that name"]


def test_unknown_reference_names_few_of_many_requests() -> None:
    many = [msgspec.structs.replace(GPU, name=f"gpu-{number}") for number in range(9)]
    assert [fault.hint for fault in faults_of(*many, reference="zzz")] == ["use gpu-0, gpu-1, gpu-2, gpu-3, gpu-4 ..."]


def test_count_in_mode_all_says_what_to_remove() -> None:
    request = msgspec.structs.replace(GPU, exactly=msgspec.structs.replace(EXACTLY, allocation_mode="All"))
    assert [fault.hint for fault in faults_of(request)] == ["remove count, or set allocationMode to ExactCount"]
