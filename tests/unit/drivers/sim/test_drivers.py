import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.resource.kinds import RESOURCE_CLAIM
from dray.api.resource.request import TaintEffect
from dray.client.port import ObjectName, Patch, PatchType
from dray.client.retrying import Pace
from dray.driver.claims import AllocatedDevice, Claim, Health, Prepared
from dray.driver.devices import Devices
from dray.driver.port import DriverFromCallbacks
from dray.drivers.sim.catalog import list_profiles, parse_equipment
from dray.drivers.sim.faults import FAULT_PREFIX, Fault, FaultBoard, format_fault, parse_fault
from dray.drivers.sim.fleet import follow_faults, list_shared_devices, make_attacher, make_drivers
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.unit.controllers.cluster import Cluster
from tests.unit.drivers.driving import NODE_NAME, Raw, Work, config, driving, turn

GPU_API, NET_API = "gpu.resource.example.com/v1alpha1", "net.resource.example.com/v1alpha1"
Story = Callable[[Work], Awaitable[None]]


def run(profile: str, story: Story, *, driver: int = 0, labels: Mapping[str, str] | None = None) -> None:
    async def play() -> None:
        board, cluster = FaultBoard(), Cluster()
        cluster.put(NODE, Node(metadata=ObjectMeta(name=NODE_NAME, labels=labels or {})))
        chosen = make_drivers(parse_equipment(profile), board)[driver]
        async with driving(chosen, cluster) as work, asyncio.TaskGroup() as tasks:
            pace = Pace(cluster.clock, SeededEntropy(5))
            following = tasks.create_task(follow_faults(board, cluster.client, pace, MemoryLog(), node=NODE_NAME))
            await story(work)
            following.cancel()

    asyncio.run(play())


def example(*requests: str, **sharing: Any) -> Raw:
    return config("gpu.example.com", *requests, apiVersion=GPU_API, kind="GpuConfig", sharing=sharing)


@pytest.mark.parametrize("profile", [each for each in list_profiles() if each != "fabric"])
def test_every_driver_publishes_and_prepares(profile: str) -> None:
    equipment = parse_equipment(profile)
    for index, (name, pool) in enumerate(equipment.pools(NODE_NAME)):

        async def story(work: Work, name: str = name, pool: Any = pool) -> None:
            assert set(await work.devices()) == {each.name for each in pool.devices}
            wanted = {f"r{index}": each.name for index, each in enumerate(pool.devices[:8])}
            entries = []
            if name == "compute-domain.nvidia.com":
                api = "resource.nvidia.com/v1beta1"
                entries = [
                    config(name, "r0", apiVersion=api, kind="ComputeDomainChannelConfig", domainID="d"),
                    config(name, "r1", apiVersion=api, kind="ComputeDomainDaemonConfig", domainID="d"),
                ]
            claim = work.put_claim("c1", wanted, *entries)
            assert await work.prepare(claim) == ""
            assert not (await work.edits(claim)).is_empty
            assert await work.unprepare(claim) == ""
            assert work.specs() == []

        run(profile, story, driver=index)


@pytest.mark.parametrize(
    ("entries", "want"),
    [
        ([], {"SHARING_STRATEGY": "TimeSlicing", "TIMESLICE_INTERVAL": "Default"}),
        (
            [example("r", strategy="TimeSlicing", timeSlicingConfig={"interval": "Long"})],
            {"SHARING_STRATEGY": "TimeSlicing", "TIMESLICE_INTERVAL": "Long"},
        ),
        (
            [example("r", strategy="SpacePartitioning", spacePartitioningConfig={"partitionCount": 10})],
            {"SHARING_STRATEGY": "SpacePartitioning", "PARTITION_COUNT": "10"},
        ),
        (
            [example("r", strategy="SpacePartitioning", unknown="dropped")],
            {"SHARING_STRATEGY": "SpacePartitioning", "PARTITION_COUNT": "1"},
        ),
    ],
)
def test_example_driver_tells_of_its_gpus(entries: list[Raw], want: dict[str, str]) -> None:
    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"r": "gpu-3"}, *entries)
        assert await work.prepare(claim) == ""
        assert await work.env(claim) == {
            "KUBERNETES_NODE_NAME": NODE_NAME,
            "DRA_RESOURCE_DRIVER_NAME": "gpu.example.com",
            "GPU_DEVICE_GPU_3_RESOURCE_CLAIM": "c1",
            "DRA_ADMIN_ACCESS": "false",
            "GPU_DEVICE_3": "gpu-3",
            **{f"GPU_DEVICE_3_{name}": value for name, value in want.items()},
        }

    run("example", story)


@pytest.mark.parametrize(
    ("entry", "want"),
    [
        (example("r", strategy="TimeSlicing", spacePartitioningConfig={}), "cannot use SpacePartitioningConfig"),
        (example("r", strategy="SpacePartitioning", timeSlicingConfig={}), "cannot use TimeSlicingConfig"),
        (example("r", strategy="Some"), "strategy"),
        (example("r", strategy="SpacePartitioning", spacePartitioningConfig={"partitionCount": -1}), "partition count"),
        (config("gpu.example.com", apiVersion=GPU_API, kind="NetConfig"), "unknown configuration"),
    ],
)
def test_example_driver_refuses(entry: Raw, want: str) -> None:
    async def story(work: Work) -> None:
        assert want in await work.prepare(work.put_claim("c1", {"r": "gpu-3"}, entry))

    run("example", story)


def test_example_driver_tells_shares_partitions_and_administrators() -> None:
    async def story(work: Work) -> None:
        share = "6f1c0000-0000-4000-8000-000000000001"
        more: dict[str, Any] = {
            "shareID": share,
            "consumedCapacity": {"memory": "16Gi", "compute": "20"},
            "adminAccess": True,
        }
        claim = work.put_claim("c1", {"r": "gpu-0-partition-1"}, **more)
        assert await work.prepare(claim) == ""
        env = await work.env(claim)
        assert env["GPU_DEVICE_0_PARTITION_1"] == "gpu-0-partition-1"
        assert (env["GPU_DEVICE_0_PARTITION_1_MEMORY"], env["GPU_DEVICE_0_PARTITION_1_COMPUTE"]) == ("16Gi", "20")
        assert env["DRA_ADMIN_ACCESS"] == "true"
        (spec,) = work.specs()
        assert spec.kind == "k8s.gpu.example.com/gpu"
        assert f"c1-gpu-0-partition-1-{share}" in [each.name for each in spec.devices]

    run("example:partitions=4,shares", story)


def test_example_driver_tells_rates_and_bursts() -> None:
    async def story(work: Work) -> None:
        entry = config("net.example.com", apiVersion=NET_API, kind="NetConfig", bwBurst={"ingressBurst": 4096})
        more: dict[str, Any] = {
            "shareID": "6f1c0000-0000-4000-8000-000000000001",
            "consumedCapacity": {"ingressBandwidth": "10G", "egressBandwidth": "5G", "vfs": "1"},
        }
        claim = work.put_claim("c1", {"r": "nic-2"}, entry, **more)
        assert await work.prepare(claim) == ""
        env = await work.env(claim)
        assert env["NET_DEVICE_2_INGRESS_RATE"] == "10000000000"
        assert env["NET_DEVICE_2_EGRESS_RATE"] == "5000000000"
        assert env["NET_DEVICE_2_INGRESS_BURST"] == "4096"
        assert "NET_DEVICE_2_EGRESS_BURST" not in env

    run("example:net", story)


def test_example_driver_tells_processors() -> None:
    async def story(work: Work) -> None:
        more: dict[str, Any] = {
            "shareID": "6f1c0000-0000-4000-8000-000000000001",
            "consumedCapacity": {"cpu.example.com/cpu": "1"},
        }
        claim = work.put_claim("c1", {"r": "numa-0"}, **more)
        assert await work.prepare(claim) == ""
        env = await work.env(claim)
        assert (env["CPU_DEVICE_0"], env["CPU_DEVICE_0_CONSUMED_CPU"]) == ("numa-0", "1")
        refused = work.put_claim("c2", {"r": "numa-1"}, config("cpu.example.com", apiVersion="a/v1", kind="K"))
        assert "takes no configuration" in await work.prepare(refused)

    run("example:cpu", story)


def test_example_driver_reports_what_it_prepared() -> None:
    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"r": "gpu-3"})
        assert await work.prepare(claim) == ""
        (reported,) = (await work.claim(claim)).status.devices
        told = msgspec.json.decode(bytes(reported.data))
        assert told["model"] == {"string": "LATEST-GPU-MODEL"}
        assert told["driverVersion"] == {"version": "1.0.0"}

    run("example:status", story)


def test_chips_of_a_host_work_only_together() -> None:
    async def story(work: Work) -> None:
        some = work.put_claim("c1", {"a": "0", "b": "1"})
        assert "all 8 chips of the node must be in the claim" in await work.prepare(some)
        assert await work.unprepare(some) == ""
        every = work.put_claim("c2", {f"r{chip}": str(chip) for chip in range(8)})
        assert await work.prepare(every) == ""
        env = await work.env(every)
        assert env["TPU_ACCELERATOR_TYPE"] == "v5litepod-8"
        assert env["TPU_CHIPS_PER_HOST_BOUNDS"] == "2,4,1"
        assert await work.unprepare(every) == ""
        part = work.put_claim("c3", {"r": "slice-2x2-1"})
        assert await work.prepare(part) == ""
        assert (await work.env(part))["TPU_TOPOLOGY"] == "2x2"
        assert [each for each in await work.nodes(part) if each != "/dev/vfio/vfio"] == [
            "/dev/vfio/2",
            "/dev/vfio/3",
            "/dev/vfio/6",
            "/dev/vfio/7",
        ]

    run("tpu-v5e-8", story)


def test_channels_need_a_domain() -> None:
    async def story(work: Work) -> None:
        def entry(kind: str, **more: Any) -> Raw:
            return config("compute-domain.nvidia.com", apiVersion="resource.nvidia.com/v1beta1", kind=kind, **more)

        bare = work.put_claim("c1", {"ch": "channel-0"})
        assert "needs a configuration that names the domain" in await work.prepare(bare)
        assert await work.unprepare(bare) == ""
        nameless = work.put_claim("c2", {"ch": "channel-0"}, entry("ComputeDomainChannelConfig", domainID=""))
        assert "domainID must be set" in await work.prepare(nameless)
        every = work.put_claim(
            "c3", {"ch": "channel-0"}, entry("ComputeDomainChannelConfig", domainID="d", allocationMode="All")
        )
        assert await work.prepare(every) == ""
        assert (await work.nodes(every))[-1] == "/dev/nvidia-caps-imex-channels/channel2047"
        daemon = work.put_claim("c4", {"d": "daemon-0"}, entry("ComputeDomainDaemonConfig", domainID="d"))
        assert await work.prepare(daemon) == ""
        assert await work.env(daemon) == {"COMPUTE_DOMAIN_UUID": "d", "CLIQUE_ID": "rack.0"}

    run("gb200-nvl72", story, driver=1, labels={"nvidia.com/gpu.clique": "rack.0"})


@pytest.mark.parametrize("fault", [Fault(), Fault(TaintEffect.NONE, "31"), Fault(TaintEffect.NO_SCHEDULE)])
def test_faults_are_read_as_they_are_written(fault: Fault) -> None:
    assert parse_fault(format_fault(fault)) == fault


def test_a_fault_that_makes_no_sense_is_the_worst() -> None:
    assert parse_fault("perhaps") == Fault()


async def annotate(work: Work, device: str, text: str | None) -> None:
    patch = {"metadata": {"annotations": {f"{FAULT_PREFIX}{device}": text}}}
    await work.cluster.client.patch(NODE, ObjectName(NODE_NAME), Patch(PatchType.MERGE, msgspec.json.encode(patch)))
    await turn()


@pytest.mark.parametrize(
    ("profile", "device", "command", "key", "value"),
    [
        ("dgx-h100", "gpu-3", "NoExecute:79", "gpu.nvidia.com/xid", "79"),
        ("dgx-h100", "gpu-3", "NoSchedule", "gpu.nvidia.com/xid", "79"),
        ("dgx-h100", "gpu-3", "NoSchedule:lost", "gpu.nvidia.com/gpu-lost", ""),
        ("dgx-h100", "gpu-3", "None:31", "gpu.nvidia.com/xid", "31"),
        ("intel-flex", "0000-03-00-0-0x56c0", "NoExecute:memory", "HealthIssues-memory", ""),
        ("gaudi3", "0000-19-00-0-0x1060", "NoExecute", "gaudi.intel.com/unhealthy", ""),
    ],
)
def test_devices_fail_and_heal_on_command(profile: str, device: str, command: str, key: str, value: str) -> None:
    async def story(work: Work) -> None:
        sound = await work.devices()
        await annotate(work, device, command)
        failed = await work.devices()
        (taint,) = failed[device].taints
        assert (taint.key, taint.value, taint.effect) == (key, value, command.partition(":")[0])
        assert [name for name, each in failed.items() if each.taints] == [device]
        assert (await work.health())[device].health is Health.UNHEALTHY
        await annotate(work, device, None)
        healed = await work.devices()
        assert healed == sound
        assert {each.health for each in (await work.health()).values()} == {Health.HEALTHY}

    run(profile, story)


def test_parts_fail_with_their_card() -> None:
    async def story(work: Work) -> None:
        await annotate(work, "gpu-1", "NoExecute")
        tainted = {name for name, each in (await work.devices()).items() if each.taints}
        assert len(tainted) == 26
        assert all(name == "gpu-1" or name.startswith("gpu-1-mig-") for name in tainted)

    run("dgx-h100:mig", story)


def test_vendors_tell_of_failures_in_attributes() -> None:
    async def story(work: Work) -> None:
        await annotate(work, "0000-19-00-0-0x1060", "NoExecute")
        devices = await work.devices()
        assert devices["0000-19-00-0-0x1060"].attributes["healthy"].bool is False
        assert devices["0000-1a-00-0-0x1060"].attributes["healthy"].bool is True

    run("gaudi3", story)


def test_devices_on_a_fabric_are_published_once_and_attached() -> None:
    async def play() -> None:
        equipment, cluster = parse_equipment("fabric"), Cluster()
        ((name, shared),) = list_shared_devices([equipment, equipment]).items()

        async def tell() -> Devices:
            return shared

        async def prepare(claim: Claim, devices: Sequence[AllocatedDevice]) -> Prepared:
            raise AssertionError("serves no node")

        publisher = DriverFromCallbacks(name, devices=tell, prepare=prepare)
        async with driving(publisher, cluster, node="") as work, asyncio.TaskGroup() as tasks:
            pace = Pace(cluster.clock, SeededEntropy(5))
            attacher = make_attacher([equipment], cluster.client, pace, MemoryLog())
            assert attacher is not None
            running = tasks.create_task(attacher.run())
            assert len(await work.devices()) == 8
            conditions: dict[str, Any] = {
                "bindingConditions": ["sim.dray.dev/attached"],
                "bindingFailureConditions": ["sim.dray.dev/attach-failed"],
            }
            claim = work.put_claim("c1", {"r": "gpu-0"}, **conditions)
            (reported,) = (await work.claim(claim)).status.devices
            assert [(each.type, each.status) for each in reported.conditions or ()] == [
                ("sim.dray.dev/attached", "True")
            ]
            before = (await work.claim(claim)).metadata.resource_version
            await turn()
            assert (await work.claim(claim)).metadata.resource_version == before
            running.cancel()

    asyncio.run(play())


def test_node_on_a_fabric_prepares_without_publishing() -> None:
    async def story(work: Work) -> None:
        assert await work.devices() == {}
        claim = work.put_claim("c1", {"r": "gpu-2"})
        assert await work.prepare(claim) == ""
        assert (await work.env(claim))["SIM_DEVICE_GPU_2"].startswith("FAB-")

    run("fabric", story)


def test_attaching_leaves_reports_of_others_alone() -> None:
    async def play() -> None:
        equipment, cluster = parse_equipment("example:binding-conditions"), Cluster()
        (driver,) = make_drivers(equipment, FaultBoard())
        async with driving(driver, cluster) as work, asyncio.TaskGroup() as tasks:
            claim = work.put_claim("c1", {"r": "gpu-0"}, bindingConditions=["BindingConditions"])
            stored = await work.claim(claim)
            (result,) = stored.status.allocation.devices.results if stored.status.allocation else ()
            other = replace(result, driver="other.example.com", binding_conditions=("Other",), request="o")
            assert stored.status.allocation is not None
            devices = replace(stored.status.allocation.devices, results=(result, other))
            allocation = replace(stored.status.allocation, devices=devices)
            cluster.put(RESOURCE_CLAIM, replace(stored, status=replace(stored.status, allocation=allocation)))
            pace = Pace(cluster.clock, SeededEntropy(5))
            attacher = make_attacher([equipment], cluster.client, pace, MemoryLog())
            assert attacher is not None
            running = tasks.create_task(attacher.run())
            reported = (await work.claim(claim)).status.devices
            assert [(each.driver, [one.type for one in each.conditions or ()]) for each in reported] == [
                ("gpu.example.com", ["BindingConditions"])
            ]
            running.cancel()

    asyncio.run(play())


def test_equipment_without_conditions_needs_nobody_to_attach() -> None:
    cluster = Cluster()
    pace = Pace(cluster.clock, SeededEntropy(5))
    assert make_attacher([parse_equipment("t4-vm")], None, pace, MemoryLog()) is None  # type: ignore[arg-type]
