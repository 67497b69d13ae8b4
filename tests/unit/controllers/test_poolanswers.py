from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from dray.api.meta import ObjectMeta
from dray.api.resource.allocation import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaimStatus,
)
from dray.api.resource.claim import ResourceClaim
from dray.api.resource.device import (
    Counter,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceCounterConsumption,
    DeviceTaint,
)
from dray.api.resource.poolstatus import PoolStatus, ResourcePoolStatusRequest, ResourcePoolStatusRequestSpec
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.api.resource.taintrule import DeviceTaintRule, DeviceTaintRuleSpec, DeviceTaintSelector
from dray.controllers.poolanswers import PoolIncomplete, answer_request, is_over, list_holdings
from dray.values.quantity import parse_quantity
from dray.values.times import Time

DRIVER = "gpu.x.io"
PROFILE = f"{DRIVER}/profile"
NOW = Time(1_000_000)


def pool_slice(
    name: str, *devices: Device, pool: str = "n", generation: int = 1, of: int = 1, node: str | None = "n"
) -> ResourceSlice:
    edition = ResourcePool(name=pool, generation=generation, resource_slice_count=of)
    spec = ResourceSliceSpec(driver=DRIVER, pool=edition, node_name=node, devices=devices)
    return ResourceSlice(metadata=ObjectMeta(name=name), spec=spec)


def counters(name: str, memory: str, of: int = 2) -> ResourceSlice:
    shared = CounterSet(name="card", counters={"memory": Counter(value=parse_quantity(memory))})
    base = pool_slice(name, of=of)
    return replace(base, spec=replace(base.spec, devices=None, shared_counters=(shared,)))


def partition(name: str, type_: str, memory: str) -> Device:
    cost = DeviceCounterConsumption(counter_set="card", counters={"memory": Counter(value=parse_quantity(memory))})
    return Device(name=name, attributes={"profile": DeviceAttribute(string=type_)}, consumes_counters=(cost,))


def holder(*devices: str, pool: str = "n", admin: bool = False, memory: str = "") -> ResourceClaim:
    consumed = {"memory": parse_quantity(memory)} if memory else {}
    results = tuple(
        DeviceRequestAllocationResult(
            request="r", driver=DRIVER, pool=pool, device=device, admin_access=admin or None, consumed_capacity=consumed
        )
        for device in devices
    )
    allocation = AllocationResult(devices=DeviceAllocationResult(results=results))
    return ResourceClaim(metadata=ObjectMeta(name="c"), status=ResourceClaimStatus(allocation=allocation))


def ask(
    slices: Sequence[ResourceSlice],
    *claims: ResourceClaim,
    pool: str | None = None,
    limit: int | None = None,
    attribute: str | None = None,
    rules: Sequence[DeviceTaintRule] = (),
) -> tuple[PoolStatus, ...]:
    spec = ResourcePoolStatusRequestSpec(
        driver=DRIVER, pool_name=pool, limit=limit, default_partition_type_attribute=attribute
    )
    request = ResourcePoolStatusRequest(metadata=ObjectMeta(name="q"), spec=spec)
    return answer_request(request, slices, list_holdings(claims, DRIVER), rules, NOW).pools


def counts(pool: PoolStatus) -> tuple[int | None, ...]:
    return pool.total_devices, pool.allocated_devices, pool.unavailable_devices, pool.available_devices


def test_devices_are_counted_once_however_many_hold_them() -> None:
    devices = [Device(name=name) for name in ("a", "b", "c")]
    (pool,) = ask([pool_slice("s", *devices)], holder("a"), holder("a"), holder("b", admin=True))
    assert counts(pool) == (3, 1, 0, 2)
    assert (pool.generation, pool.resource_slice_count, pool.node_name) == (1, 1, "n")


def test_tainted_devices_are_unavailable_by_driver_or_by_rule() -> None:
    blocked = DeviceTaint(key="k", effect="NoSchedule")
    told = DeviceTaint(key="k", effect="None")
    rule = DeviceTaintRule(spec=DeviceTaintRuleSpec(device_selector=DeviceTaintSelector(device="c"), taint=blocked))
    devices = [Device(name="a", taints=(blocked,)), Device(name="b", taints=(told,)), Device(name="c")]
    (pool,) = ask([pool_slice("s", *devices)], rules=[rule])
    assert counts(pool) == (3, 0, 2, 1)


def test_more_held_and_blocked_than_there_is_leaves_nothing() -> None:
    blocked = DeviceTaint(key="k", effect="NoExecute")
    (pool,) = ask([pool_slice("s", Device(name="a", taints=(blocked,)))], holder("a"))
    assert counts(pool) == (1, 1, 1, 0)


def test_only_the_newest_edition_counts() -> None:
    old = pool_slice("old", Device(name="a"), Device(name="b"))
    new = pool_slice("new", Device(name="a"), generation=2)
    (pool,) = ask([old, new])
    assert counts(pool) == (1, 0, 0, 1)


def test_an_incomplete_pool_has_to_be_waited_for() -> None:
    with pytest.raises(PoolIncomplete, match=r"pool gpu\.x\.io/n is incomplete: observed 1/2 slices at generation 1"):
        ask([pool_slice("s", Device(name="a"), of=2)])


def test_pools_come_in_order_and_no_more_than_wanted() -> None:
    slices = [pool_slice(name, Device(name="a"), pool=name) for name in ("c", "a", "b")]
    assert [pool.pool_name for pool in ask(slices)] == ["a", "b", "c"]
    assert [pool.pool_name for pool in ask(slices, limit=2)] == ["a", "b"]
    assert [pool.pool_name for pool in ask(slices, pool="b")] == ["b"]
    assert ask(slices, pool="z") == ()


def test_a_pool_of_several_nodes_names_none() -> None:
    spread = [pool_slice("s", Device(name="a"), of=2, node="m"), pool_slice("t", Device(name="b"), of=2)]
    assert ask(spread)[0].node_name is None
    assert ask([pool_slice("s", Device(name="a"), node=None)])[0].node_name is None


def test_partitions_are_counted_by_what_the_counters_leave() -> None:
    devices = [partition("full", "full", "80Gi"), *(partition(f"half-{n}", "half", "40Gi") for n in range(2))]
    slices = [pool_slice("s", *devices, of=2), counters("t", "80Gi")]

    def summary(*claims: ResourceClaim) -> dict[str | None, tuple[int | None, int | None]]:
        (pool,) = ask(slices, *claims, attribute=PROFILE)
        assert pool.validation_error is None
        return {each.type: (each.total, each.allocatable) for each in pool.partition_summary}

    assert summary() == {"full": (1, 1), "half": (2, 2)}
    assert summary(holder("half-0")) == {"full": (1, 0), "half": (2, 1)}
    assert summary(holder("full")) == {"full": (1, 0), "half": (2, 0)}


def test_the_attribute_of_a_slice_beats_that_of_the_question() -> None:
    base = pool_slice("s", partition("half", "half", "40Gi"), of=2)
    declared = replace(base, spec=replace(base.spec, partition_type_attribute=PROFILE))
    (pool,) = ask([declared, counters("t", "80Gi")], attribute=f"{DRIVER}/other")
    assert [each.attribute for each in pool.partition_summary] == [PROFILE]


@pytest.mark.parametrize(
    ("devices", "attribute", "want"),
    [
        ([partition("a", "x", "1Gi"), partition("b", "x", "2Gi")], PROFILE, "PartitionCostMismatch: "),
        ([partition("a", "x", "1Gi")], f"{DRIVER}/other", "PartitionTypeMissing: "),
        ([partition(f"d{n}", f"t{n}", "1Gi") for n in range(33)], PROFILE, "PartitionSummaryOverCap: "),
    ],
)
def test_what_contradicts_itself_is_told_beside_the_counts(devices: list[Device], attribute: str, want: str) -> None:
    (pool,) = ask([pool_slice("s", *devices, of=2), counters("t", "80Gi")], attribute=attribute)
    assert pool.validation_error is not None
    assert pool.validation_error.startswith(want)
    assert pool.partition_summary == ()
    assert pool.total_devices == len(devices)


def test_a_pool_without_counters_has_no_partitions_to_tell() -> None:
    (pool,) = ask([pool_slice("s", Device(name="a"))], attribute=PROFILE)
    assert (pool.validation_error or "").startswith("PartitionTypeMissing: ")
    (pool,) = ask([pool_slice("s", Device(name="a"))])
    assert pool.validation_error is None


def test_devices_that_are_shared_tell_what_is_left() -> None:
    capacity = {"memory": DeviceCapacity(value=parse_quantity("8Gi"))}
    devices = [Device(name=name, capacity=capacity, allow_multiple_allocations=True) for name in ("a", "b")]
    (pool,) = ask([pool_slice("s", *devices)], holder("a", memory="2Gi"), holder("a", memory="3Gi"))
    summary = pool.shareable_summary
    assert summary is not None
    assert (summary.fully_available_devices, summary.partially_available_devices) == (1, 1)
    (memory,) = summary.capacity
    assert [str(each) for each in (memory.total, memory.consumed, memory.available)] == ["16Gi", "5Gi", "11Gi"]
    (pool,) = ask([pool_slice("s", *devices)], holder("a", memory="20Gi"))
    assert pool.shareable_summary is not None
    assert str(pool.shareable_summary.capacity[0].available) == "0"


@pytest.mark.parametrize(
    ("age", "answered_for", "want"), [(0, 3600, False), (0, 3601, True), (86_400, None, False), (86_401, None, True)]
)
def test_questions_go_after_a_while(age: int, answered_for: int | None, want: bool) -> None:
    meta = ObjectMeta(name="q", creation_timestamp=NOW.plus_seconds(-age))
    spec = ResourcePoolStatusRequestSpec(driver=DRIVER)
    request = ResourcePoolStatusRequest(metadata=meta, spec=spec)
    if answered_for is not None:
        answered = answer_request(request, [], {}, (), NOW.plus_seconds(-answered_for))
        request = replace(request, status=answered)
    assert is_over(request, NOW) is want
