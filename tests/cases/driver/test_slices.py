"""Planning slices, as a table."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from dray.api.meta import ObjectMeta
from dray.api.resource.device import Device, DeviceAttribute, DeviceTaint
from dray.api.resource.slice import ResourcePool, ResourceSlice, ResourceSliceSpec
from dray.driver.devices import Pool
from dray.driver.slices import Publisher, plan_slice_writes
from dray.values.times import Time

PUBLISHER = Publisher(driver="gpu.example.com", node_name="node-a", node_uid="uid-a")
CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("slices.yaml").read_text(encoding="utf-8"))
STORED_TIME = Time(1_767_225_600)


def parse_device(number: int, marks: str) -> Device:
    time = None if "?" in marks else STORED_TIME
    taint = DeviceTaint(key="example.com/sick", effect="NoSchedule", time_added=time)
    return Device(
        name=f"gpu-{number}",
        attributes={"edition": DeviceAttribute(int=marks.count("!"))},
        taints=(taint,) if "t" in marks else (),
    )


def parse_devices(text: str) -> tuple[Device, ...]:
    devices: list[Device] = []
    for part in filter(None, text.split(",")):
        digits = part.rstrip("t?!")
        first, _, last = digits.partition("-")
        devices += [parse_device(number, part[len(digits) :]) for number in range(int(first), int(last or first) + 1)]
    return tuple(devices)


def parse_slice(row: list[Any]) -> ResourceSlice:
    index, generation, count, devices = row
    prefix = f"{index:05x}" if isinstance(index, int) else index
    return ResourceSlice(
        metadata=ObjectMeta(name=f"{prefix}-gpu.example.com-node-a-abcde", uid=str(index)),
        spec=ResourceSliceSpec(
            driver="gpu.example.com",
            pool=ResourcePool(name="node-a", generation=generation, resource_slice_count=count),
            node_name="node-a",
            devices=parse_devices(devices) or None,
        ),
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_slices_are_planned(case: dict[str, Any]) -> None:
    published = [parse_slice(row) for row in case["published"]]
    names = {each.metadata.name: row[0] for each, row in zip(published, case["published"], strict=True)}
    pools = {}
    if case["offered"] is not None:
        pool = Pool(devices=parse_devices(case["offered"]), least_generation=case.get("least-generation", 0))
        pools["node-a"] = pool
    plan = plan_slice_writes(PUBLISHER, pools, published, {})
    want = case["want"]
    assert [names[each.metadata.name] for each in plan.deletes_before] == want.get("delete-before", [])
    assert [names[each.metadata.name] for each in plan.deletes_after] == want.get("delete-after", [])
    assert [write.index for write in plan.updates] == want.get("update", [])
    assert [write.index for write in plan.creates] == want.get("create", [])
    for write in (*plan.updates, *plan.creates):
        pool_written = write.resource.spec.pool
        assert (pool_written.generation, pool_written.resource_slice_count) == (want["generation"], want["count"])
        assert write.resource.spec.node_name == "node-a"
    for write in plan.creates:
        assert write.resource.metadata.generate_name == f"{write.index:05x}-gpu.example.com-node-a-"
        assert [owner.uid for owner in write.resource.metadata.owner_references] == ["uid-a"]
