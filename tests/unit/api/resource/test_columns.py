from typing import Any

import pytest

from dray.api.kind import Kind
from dray.api.meta import Condition, ObjectMeta
from dray.api.resource.allocation import AllocationResult, ResourceClaimConsumerReference, ResourceClaimStatus
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.claimtemplate import ResourceClaimTemplate
from dray.api.resource.columns import claim_state
from dray.api.resource.device import DeviceTaint
from dray.api.resource.deviceclass import DeviceClass
from dray.api.resource.kinds import (
    DEVICE_CLASS,
    DEVICE_TAINT_RULE,
    RESOURCE_CLAIM,
    RESOURCE_CLAIM_TEMPLATE,
    RESOURCE_POOL_STATUS_REQUEST,
    RESOURCE_SLICE,
)
from dray.api.resource.poolstatus import (
    PoolStatus,
    ResourcePoolStatusRequest,
    ResourcePoolStatusRequestSpec,
    ResourcePoolStatusRequestStatus,
)
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintRuleSpec
from dray.values.times import Time

NOW = Time(1_800_000_000)
META = ObjectMeta(name="thing", creation_timestamp=NOW.plus_seconds(-3))


def row(kind: Kind[Any], thing: object) -> dict[str, object]:
    return {column.name: column.cell(thing, NOW) for column in kind.columns}


@pytest.mark.parametrize("is_deleted", [False, True])
@pytest.mark.parametrize(
    ("is_allocated", "is_reserved", "want"),
    [
        (False, False, {False: "pending", True: "deleted"}),
        (True, False, {False: "allocated", True: "deleted,allocated"}),
        (True, True, {False: "allocated,reserved", True: "deleted,allocated,reserved"}),
    ],
)
def test_state_of_a_claim(*, is_deleted: bool, is_allocated: bool, is_reserved: bool, want: dict[bool, str]) -> None:
    claim = ResourceClaim(
        metadata=ObjectMeta(deletion_timestamp=NOW if is_deleted else None),
        status=ResourceClaimStatus(
            allocation=AllocationResult() if is_allocated else None,
            reserved_for=(ResourceClaimConsumerReference(name="pod"),) if is_reserved else (),
        ),
    )

    assert claim_state(claim) == want[is_deleted]


def test_claim() -> None:
    assert row(RESOURCE_CLAIM, ResourceClaim(metadata=META)) == {"Name": "thing", "State": "pending", "Age": "3s"}


@pytest.mark.parametrize(
    ("kind", "thing"),
    [(RESOURCE_CLAIM_TEMPLATE, ResourceClaimTemplate(metadata=META)), (DEVICE_CLASS, DeviceClass(metadata=META))],
)
def test_kinds_with_nothing_to_show(kind: Kind[Any], thing: object) -> None:
    assert row(kind, thing) == {"Name": "thing", "Age": "3s"}


@pytest.mark.parametrize(("node_name", "want"), [("node-1", "node-1"), (None, "")])
def test_slice(node_name: str | None, want: str) -> None:
    spec = ResourceSliceSpec(driver="gpu.example.com", pool=ResourcePool(name="pool"), node_name=node_name)

    assert row(RESOURCE_SLICE, ResourceSlice(metadata=META, spec=spec)) == {
        "Name": "thing",
        "Node": want,
        "Driver": "gpu.example.com",
        "Pool": "pool",
        "Age": "3s",
    }


@pytest.mark.parametrize(("time_added", "want"), [(NOW.plus_seconds(-7200), "120m"), (None, "")])
def test_taint_rule(time_added: Time | None, want: str) -> None:
    taint = DeviceTaint(key="example.com/broken", value="yes", effect="NoExecute", time_added=time_added)

    assert row(DEVICE_TAINT_RULE, DeviceTaintRule(metadata=META, spec=DeviceTaintRuleSpec(taint=taint))) == {
        "Name": "thing",
        "Key": "example.com/broken",
        "Value": "yes",
        "Effect": "NoExecute",
        "TimeAdded": want,
        "Age": "3s",
    }


COUNTS = ("Total", "Available", "Allocated", "Unavailable", "Errors", "Pools", "Status", "Completed")
POOLS = (
    PoolStatus(total_devices=8, available_devices=5, allocated_devices=2, unavailable_devices=1),
    PoolStatus(total_devices=4, available_devices=4),
    PoolStatus(validation_error="incomplete"),
)


def outcome(type_: str, status: str = "True") -> Condition:
    return Condition(type=type_, status=status, last_transition_time=NOW.plus_seconds(-90))


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param(None, ("-", "-", "-", "-", "-", 0, "Pending", "<none>"), id="not answered"),
        pytest.param(
            ResourcePoolStatusRequestStatus(pool_count=3, pools=POOLS, conditions=(outcome("Complete"),)),
            ("12", "9", "2", "1", "1", 3, "Complete", "90s"),
            id="complete",
        ),
        pytest.param(
            ResourcePoolStatusRequestStatus(pool_count=7, pools=POOLS, conditions=(outcome("Complete"),)),
            ("12", "9", "2", "1", "1", 7, "Complete (3/7 pools)", "90s"),
            id="truncated",
        ),
        pytest.param(
            ResourcePoolStatusRequestStatus(pool_count=0, conditions=(outcome("Failed"),)),
            ("-", "-", "-", "-", "-", 0, "Failed", "<none>"),
            id="failed",
        ),
        pytest.param(
            ResourcePoolStatusRequestStatus(conditions=(outcome("Complete", "False"),)),
            ("0", "0", "0", "0", "0", 0, "Pending", "<none>"),
            id="a condition that is not true",
        ),
        pytest.param(
            ResourcePoolStatusRequestStatus(pool_count=0, conditions=(outcome("Failed"), outcome("Complete"))),
            ("-", "-", "-", "-", "-", 0, "Failed", "90s"),
            id="the first outcome counts",
        ),
    ],
)
def test_pool_status_request(status: ResourcePoolStatusRequestStatus | None, want: tuple[object, ...]) -> None:
    spec = ResourcePoolStatusRequestSpec(driver="gpu.example.com")
    cells = row(RESOURCE_POOL_STATUS_REQUEST, ResourcePoolStatusRequest(metadata=META, spec=spec, status=status))

    assert cells["Driver"] == "gpu.example.com"
    assert tuple(cells[name] for name in COUNTS) == want
