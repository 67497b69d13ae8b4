import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from dray.api.core.kinds import NAMESPACE, NODE, POD, SERVICE_ACCOUNT
from dray.api.core.namespace import Namespace
from dray.api.core.node import Node
from dray.api.core.pod import Pod
from dray.api.core.podstatus import PodCondition, PodStatus
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.meta import ObjectMeta
from dray.client.retrying import Pace
from dray.driver.checkpoint import CheckpointMemory
from dray.drivers.sim.catalog import parse_equipment
from dray.drivers.sim.commanding import DevicePlace, hold_gpu, release_gpus
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.fleet import follow_faults, make_drivers
from dray.drivers.sim.nvidia.driver import NvidiaDriver
from dray.drivers.sim.nvidia.hardware import HARDWARE_PREFIX, ComputeMode, GpuState, find_states
from dray.drivers.sim.nvidia.mpsdaemon import DAEMON_NAMESPACE
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.errors import Forbidden
from tests.unit.controllers.cluster import Call, Cluster
from tests.unit.drivers.driving import NODE_NAME, Raw, Work, config, driving, turn

NV = "gpu.nvidia.com"
API = "resource.nvidia.com/v1beta1"


def gpu_config(*requests: str, source: str = "FromClaim", kind: str = "GpuConfig", **more: object) -> Raw:
    return config(NV, *requests, source=source, apiVersion=API, kind=kind, **more)


def slicing(interval: str, *requests: str, source: str = "FromClaim") -> Raw:
    sharing = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": interval}}
    return gpu_config(*requests, source=source, sharing=sharing)


def mps(*requests: str, **settings: object) -> Raw:
    return gpu_config(*requests, sharing={"strategy": "MPS", "mpsConfig": settings})


def run(
    profile: str,
    story: Callable[[Work, NvidiaDriver], Awaitable[None]],
    *,
    told: Mapping[str, str] | None = None,
    checkpoint: CheckpointMemory | None = None,
    pods: Sequence[Pod] = (),
) -> None:
    """`told` are annotations that the node has from before, `pods` are there from before."""

    async def play() -> None:
        board, cluster = FaultBoard(), Cluster()
        cluster.put(NODE, Node(metadata=ObjectMeta(name=NODE_NAME, annotations=told or {})))
        cluster.put(NAMESPACE, Namespace(metadata=ObjectMeta(name=DAEMON_NAMESPACE)))
        cluster.put(SERVICE_ACCOUNT, ServiceAccount(metadata=ObjectMeta(name="default", namespace=DAEMON_NAMESPACE)))
        for pod in pods:
            cluster.put(POD, pod)
        cluster.after_call = run_pods_of(cluster)
        driver = make_drivers(parse_equipment(profile), board)[0]
        assert isinstance(driver, NvidiaDriver)
        async with driving(driver, cluster, checkpoint=checkpoint) as work, asyncio.TaskGroup() as tasks:
            pace = Pace(cluster.clock, SeededEntropy(5))
            following = tasks.create_task(follow_faults(board, cluster.client, pace, MemoryLog(), node=NODE_NAME))
            await story(work, driver)
            following.cancel()

    asyncio.run(play())


def run_pods_of(cluster: Cluster) -> Callable[[Call], None]:
    """What makes pods ready as soon as they are created, as a node's agent would."""

    def after(call: Call) -> None:
        pod = cluster.find(POD, call.name, DAEMON_NAMESPACE) if (call.verb, call.kind) == ("create", POD) else None
        if pod is not None:
            ready = PodCondition(type="Ready", status="True")
            cluster.put(POD, replace(pod, status=PodStatus(phase="Running", conditions=(ready,))))

    return after


def states(work: Work) -> dict[str, GpuState]:
    """What the node tells of its GPUs."""
    node = work.cluster.find(NODE, NODE_NAME)
    assert node is not None
    return find_states(node.metadata.annotations)


def test_full_gpu_comes_with_its_nodes_and_its_name() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"r": "gpu-2"})
        uuid = (await work.devices())["gpu-2"].attributes["uuid"].string
        assert await work.prepare(claim) == ""
        assert await work.env(claim) == {"NVIDIA_VISIBLE_DEVICES": "void", "SIM_DEVICE_GPU_2": uuid}
        assert {"/dev/nvidia2", "/dev/nvidiactl", "/dev/dri/renderD130"} <= set(await work.nodes(claim))
        assert driver.hardware.gpu(2).compute_mode is ComputeMode.DEFAULT

    run("dgx-a100", story)


def test_time_slicing_holds_while_the_claim_is_prepared() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"gpu": "gpu-0"}, slicing("Long", "gpu"))
        assert await work.prepare(claim) == ""
        assert driver.hardware.gpu(0).time_slice == 3
        assert (await work.env(claim))["SIM_DEVICE_GPU_0_SHARING"] == "TimeSlicing/Long"
        assert await work.unprepare(claim) == ""
        assert driver.hardware.gpu(0).time_slice == 0

    run("t4-vm", story)


@pytest.mark.parametrize(
    ("configs", "want"),
    [
        ([slicing("Short", source="FromClass"), slicing("Long", "gpu")], 3),
        ([slicing("Long", "gpu"), slicing("Short", source="FromClass")], 3),
        ([slicing("Short", source="FromClass")], 1),
        ([slicing("Short"), slicing("Medium")], 2),
        ([slicing("Short"), gpu_config(kind="MigDeviceConfig")], 1),
        ([slicing("Short", "other")], 0),
        ([], 0),
    ],
)
def test_the_strongest_configuration_counts(configs: list[Raw], want: int) -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"gpu": "gpu-0"}, *configs)
        assert await work.prepare(claim) == ""
        assert driver.hardware.gpu(0).time_slice == want

    run("t4-vm", story)


def test_mps_runs_one_daemon_for_a_claim() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        settings: dict[str, Any] = {
            "defaultActiveThreadPercentage": 50,
            "defaultPinnedDeviceMemoryLimit": "10Gi",
            "defaultPerDevicePinnedMemoryLimit": {"0": "8Gi"},
        }
        claim = work.put_claim("c1", {"gpu": "gpu-0"}, mps("gpu", **settings))
        assert await work.prepare(claim) == ""
        assert await work.prepare(claim) == ""
        (daemon,) = driver.hardware.mps_daemons
        assert daemon.startswith("mps-control-daemon-c1-")
        assert work.cluster.names(POD, DAEMON_NAMESPACE) == [daemon]
        pod = work.cluster.find(POD, daemon, DAEMON_NAMESPACE)
        assert pod is not None
        assert pod.spec.node_name == NODE_NAME
        assert "set_default_active_thread_percentage 50;" in pod.spec.containers[0].command[-1]
        assert " 8192M;" in pod.spec.containers[0].command[-1]
        assert driver.hardware.gpu(0).compute_mode is ComputeMode.EXCLUSIVE_PROCESS
        env = await work.env(claim)
        assert env["CUDA_MPS_PIPE_DIRECTORY"] == "/tmp/nvidia-mps"
        assert env["SIM_DEVICE_GPU_0_SHARING"] == "MPS/50%/8192M"
        assert {each.container_path for each in (await work.edits(claim)).mounts} == {"/dev/shm", "/tmp/nvidia-mps"}
        assert await work.unprepare(claim) == ""
        assert work.cluster.names(POD, DAEMON_NAMESPACE) == []
        assert driver.hardware.mps_daemons == set()
        assert driver.hardware.gpu(0).compute_mode is ComputeMode.DEFAULT

    run("t4-vm", story)


def test_mps_daemon_that_does_not_come_up_fails_the_claim_until_it_does() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        make_ready, work.cluster.after_call = work.cluster.after_call, lambda call: None
        claim = work.put_claim("c1", {"gpu": "gpu-0"}, mps("gpu"))
        waiting = asyncio.create_task(work.prepare(claim))
        while not waiting.done():
            await turn()
            await work.cluster.clock.advance(1)
        (daemon,) = driver.hardware.mps_daemons
        assert await waiting == f"MPS control daemon kube-system/{daemon} is not ready: Pending"
        make_ready(Call("create", POD, daemon))
        assert await work.prepare(claim) == ""
        assert work.cluster.names(POD, DAEMON_NAMESPACE) == [daemon]

    run("t4-vm", story)


def test_mps_daemon_that_a_process_before_left_behind_is_ended() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        assert work.cluster.names(POD, DAEMON_NAMESPACE) == []
        assert driver.hardware.mps_daemons == set()
        assert states(work) == {}

    left = Pod(metadata=ObjectMeta(name="mps-control-daemon-c0-00000", namespace=DAEMON_NAMESPACE))
    told = {f"{HARDWARE_PREFIX}gpu-0": f'{{"mpsDaemons":["{left.metadata.name}"]}}'}
    run("t4-vm", story, told=told, pods=[left])


def test_two_sharings_in_one_claim_stay_apart() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"ts": "gpu-0", "mps": "gpu-1"}, slicing("Long", "ts"), mps("mps"))
        assert await work.prepare(claim) == ""
        assert (driver.hardware.gpu(0).time_slice, driver.hardware.gpu(1).time_slice) == (3, 0)
        assert driver.hardware.gpu(0).compute_mode is ComputeMode.DEFAULT
        assert driver.hardware.gpu(1).compute_mode is ComputeMode.EXCLUSIVE_PROCESS

    run("dgx-a100", story)


@pytest.mark.parametrize(
    ("entry", "want"),
    [
        (slicing("Huge", "gpu"), "sharing.timeSlicingConfig.interval"),
        (mps("gpu", defaultActiveThreadPercentage=101), "defaultActiveThreadPercentage must be from 0 to 100"),
        (mps("gpu", defaultPinnedDeviceMemoryLimit="512Ki"), "must be at least 1Mi"),
        (mps("gpu", defaultPerDevicePinnedMemoryLimit={"1": "8Gi"}), "neither a UUID nor the number"),
        (gpu_config("gpu", sharing={"strategy": "TimeSlicing", "mpsConfig": {}}), "cannot be used with strategy"),
        (gpu_config("gpu", sharing={"strategy": "MPS", "timeSlicingConfig": {}}), "cannot be used with strategy"),
        (gpu_config("gpu", shraing={}), "shraing: unknown field"),
        (gpu_config("gpu", kind="MigDeviceConfig"), "cannot apply MigDeviceConfig to request gpu"),
        (gpu_config("gpu", kind="GpuConfiguration"), "did you mean"),
        (config(NV, "gpu", apiVersion="resource.nvidia.com/v1alpha1", kind="GpuConfig"), "unknown configuration"),
    ],
)
def test_what_is_wrong_with_a_configuration_reaches_the_pod(entry: Raw, want: str) -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"gpu": "gpu-0"}, entry)
        assert want in await work.prepare(claim)
        assert driver.hardware.gpu(0).compute_mode is ComputeMode.DEFAULT
        assert driver.hardware.mps_daemons == set()

    run("t4-vm", story)


def test_configurations_of_other_drivers_are_none_of_ours() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"gpu": "gpu-0"}, config("gpu.amd.com", anything="goes"))
        assert await work.prepare(claim) == ""

    run("t4-vm", story)


def test_mig_devices_are_made_and_destroyed() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        claim = work.put_claim("c1", {"a": "gpu-1-mig-1g10gb-19-3", "b": "gpu-1-mig-3g40gb-9-4"})
        assert not driver.hardware.gpu(1).mig_mode
        assert await work.prepare(claim) == ""
        made = dict(driver.hardware.gpu(1).instances)
        assert sorted(made) == ["gpu-1-mig-1g10gb-19-3", "gpu-1-mig-3g40gb-9-4"]
        env = await work.env(claim)
        assert env["SIM_DEVICE_GPU_1_MIG_1G10GB_19_3"] == made["gpu-1-mig-1g10gb-19-3"]
        assert made["gpu-1-mig-1g10gb-19-3"].startswith("MIG-")
        nodes = await work.nodes(claim)
        assert "/dev/nvidia1" in nodes
        assert len([each for each in nodes if each.startswith("/dev/nvidia-caps/")]) == 4
        assert await work.unprepare(claim) == ""
        assert not driver.hardware.gpu(1).mig_mode

    run("dgx-h100:mig", story)


def test_mps_is_refused_for_mig_devices_made_on_demand() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        entry = gpu_config("r", kind="MigDeviceConfig", sharing={"strategy": "MPS"})
        claim = work.put_claim("c1", {"r": "gpu-1-mig-1g10gb-19-3"}, entry)
        assert "MPS cannot be used with MIG devices made on demand" in await work.prepare(claim)
        assert not driver.hardware.gpu(1).mig_mode

    run("dgx-h100:mig", story)


def test_mps_serves_mig_devices_that_were_there_before() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        entry = gpu_config("r", kind="MigDeviceConfig", sharing={"strategy": "MPS"})
        claim = work.put_claim("c1", {"r": "gpu-0-mig-3g20gb-9-4"}, entry)
        assert await work.prepare(claim) == ""
        assert len(driver.hardware.mps_daemons) == 1

    run("dgx-a100:static-mig", story)


def test_shares_of_a_gpu_need_one_configuration() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        first = work.put_claim("c1", {"r": "gpu-0"}, slicing("Long"), shareID="6f1c0000-0000-4000-8000-000000000001")
        same = work.put_claim("c2", {"r": "gpu-0"}, slicing("Long"), shareID="6f1c0000-0000-4000-8000-000000000002")
        other = work.put_claim("c3", {"r": "gpu-0"}, slicing("Short"), shareID="6f1c0000-0000-4000-8000-000000000003")
        spatial = work.put_claim("c4", {"r": "gpu-0"}, mps(), shareID="6f1c0000-0000-4000-8000-000000000004")
        assert await work.prepare(first) == ""
        assert await work.prepare(same) == ""
        assert "shared with a claim of another configuration" in await work.prepare(other)
        assert "MPS cannot be used with shares" in await work.prepare(spatial)
        assert await work.unprepare(first) == ""
        assert driver.hardware.gpu(0).time_slice == 3
        assert await work.unprepare(same) == ""
        assert driver.hardware.gpu(0).time_slice == 0

    run("t4-vm:shares", story)


def test_gpu_changes_over_to_a_virtual_machine_and_back() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        entry = gpu_config(
            "vm", kind="VfioDeviceConfig", iommu={"backendPolicy": "PreferIommuFD", "enableAPIDevice": True}
        )
        machine = work.put_claim("c1", {"vm": "gpu-vfio-3"}, entry)
        cuda = work.put_claim("c2", {"r": "gpu-3"})
        assert {"gpu-3", "gpu-vfio-3"} <= set(await work.devices())
        assert await work.prepare(machine) == ""
        assert driver.hardware.gpu(3).kernel_driver == "vfio-pci"
        assert await work.nodes(machine) == ["/dev/vfio/devices/vfio3", "/dev/iommu"]
        assert (await work.env(machine))["NVIDIA_VISIBLE_DEVICES"] == "void"
        assert "gpu-3" not in await work.devices()
        assert "in use by another driver of the kernel" in await work.prepare(cuda)
        assert await work.unprepare(machine) == ""
        assert driver.hardware.gpu(3).kernel_driver == "nvidia"
        assert "gpu-3" in await work.devices()
        assert await work.prepare(cuda) == ""
        assert "gpu-vfio-3" not in await work.devices()

    run("dgx-h100:vfio", story)


def test_administrators_see_without_changing() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        user = work.put_claim("c1", {"r": "gpu-0"}, slicing("Long"))
        admin = work.put_claim("c2", {"r": "gpu-0"}, adminAccess=True)
        assert await work.prepare(user) == ""
        assert await work.prepare(admin) == ""
        assert await work.unprepare(admin) == ""
        assert driver.hardware.gpu(0).time_slice == 3

    run("t4-vm", story)


def test_unknown_device_is_refused() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        assert "requested device is not allocatable: gpu-9" in await work.prepare(work.put_claim("c1", {"r": "gpu-9"}))

    run("t4-vm", story)


def test_node_tells_what_claims_made_of_its_gpus_until_they_are_taken_back() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        assert states(work) == {}
        long = work.put_claim("c1", {"r": "gpu-0"}, slicing("Long"))
        spatial = work.put_claim("c2", {"r": "gpu-1"}, mps())
        plain = work.put_claim("c3", {"r": "gpu-2"})
        assert [await work.prepare(each) for each in (long, spatial, plain)] == ["", "", ""]
        (daemon,) = driver.hardware.mps_daemons
        assert states(work) == {
            "gpu-0": GpuState(time_slice=3),
            "gpu-1": GpuState(compute_mode=ComputeMode.EXCLUSIVE_PROCESS, mps_daemons=[daemon]),
        }
        assert [await work.unprepare(each) for each in (long, spatial, plain)] == ["", "", ""]
        assert states(work) == {}

    run("dgx-a100", story)


def test_mig_mode_goes_with_the_last_instance() -> None:
    async def story(work: Work, _driver: NvidiaDriver) -> None:
        first, second = (work.put_claim(f"c{at}", {"r": f"gpu-1-mig-1g10gb-19-{at}"}) for at in (3, 4))
        assert [await work.prepare(each) for each in (first, second)] == ["", ""]
        assert sorted(states(work)["gpu-1"].instances) == ["gpu-1-mig-1g10gb-19-3", "gpu-1-mig-1g10gb-19-4"]
        assert await work.unprepare(first) == ""
        assert list(states(work)["gpu-1"].instances) == ["gpu-1-mig-1g10gb-19-4"]
        assert states(work)["gpu-1"].mig_mode
        assert await work.unprepare(second) == ""
        assert states(work) == {}

    run("dgx-h100:mig", story)


def test_gpus_that_reset_when_mig_is_switched_stay_in_it() -> None:
    async def story(work: Work, _driver: NvidiaDriver) -> None:
        at_rest = {f"gpu-{minor}": GpuState(mig_mode=True) for minor in range(8)}
        assert states(work) == at_rest
        claim = work.put_claim("c1", {"r": "gpu-1-mig-1g5gb-19-3"})
        assert await work.prepare(claim) == ""
        assert states(work) != at_rest
        assert await work.unprepare(claim) == ""
        assert states(work) == at_rest

    run("dgx-a100:mig", story)


def test_what_is_told_of_claims_that_are_gone_is_taken_back() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        assert states(work) == {}
        assert driver.hardware.gpu(0).kernel_driver == "nvidia"

    told = {f"{HARDWARE_PREFIX}gpu-0": '{"kernelDriver":"vfio-pci"}', f"{HARDWARE_PREFIX}gpu-x": "no JSON"}
    run("dgx-h100:vfio", story, told=told)


def test_driver_that_starts_again_finds_gpus_as_it_left_them() -> None:
    kept, told = CheckpointMemory(), dict[str, str]()

    async def begin(work: Work, _driver: NvidiaDriver) -> None:
        assert await work.prepare(work.put_claim("c1", {"r": "gpu-vfio-3"})) == ""
        node = work.cluster.find(NODE, NODE_NAME)
        assert node is not None
        told.update(node.metadata.annotations)

    async def go_on(work: Work, driver: NvidiaDriver) -> None:
        assert driver.hardware.gpu(3).kernel_driver == "vfio-pci"
        assert "gpu-3" not in await work.devices()
        assert await work.unprepare(work.put_claim("c1", {"r": "gpu-vfio-3"})) == ""
        assert "gpu-3" in await work.devices()
        assert states(work) == {}

    run("dgx-h100:vfio", begin, checkpoint=kept)
    run("dgx-h100:vfio", go_on, told=told, checkpoint=kept)


def test_node_that_cannot_be_written_fails_no_claim() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        def refuse(call: Call) -> None:
            if call.kind is NODE and call.verb == "patch":
                raise Forbidden("nodes may not be written")

        work.cluster.before_call = refuse
        claim = work.put_claim("c1", {"r": "gpu-0"}, slicing("Long"))
        assert await work.prepare(claim) == ""
        assert driver.hardware.gpu(0).time_slice == 3
        assert states(work) == {}
        work.cluster.before_call = lambda call: None
        assert await work.prepare(work.put_claim("c2", {"r": "gpu-1"})) == ""
        assert states(work) == {"gpu-0": GpuState(time_slice=3)}

    run("dgx-a100", story)


def test_gpu_that_a_program_has_open_is_waited_for_and_refused_in_the_end() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        await hold_gpu(work.cluster.client, DevicePlace(NODE_NAME, "gpu-3"), "xorg (812)")
        await turn()
        claim = work.put_claim("c1", {"r": "gpu-vfio-3"})
        waiting = asyncio.create_task(work.prepare(claim))
        await turn()
        await work.cluster.clock.advance(59)
        await turn()
        assert not waiting.done()
        await work.cluster.clock.advance(1)
        assert await waiting == "gpu-3 is busy: xorg (812) has it open, also after 60 s"
        assert driver.hardware.gpu(3).kernel_driver == "nvidia"
        assert await work.prepare(work.put_claim("c2", {"r": "gpu-vfio-4"})) == ""

    run("dgx-h100:vfio", story)


def test_gpu_that_is_released_in_time_is_passed_through() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        place = DevicePlace(NODE_NAME, "gpu-3")
        await hold_gpu(work.cluster.client, place, "xorg (812)")
        await turn()
        waiting = asyncio.create_task(work.prepare(work.put_claim("c1", {"r": "gpu-vfio-3"})))
        await turn()
        assert await release_gpus(work.cluster.client, place) == ["gpu-3"]
        await turn()
        await work.cluster.clock.advance(1)
        assert await waiting == ""
        assert driver.hardware.gpu(3).kernel_driver == "vfio-pci"

    run("dgx-h100:vfio,busy-wait=2", story)


def test_without_an_iommu_nothing_is_passed_through() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        problem = await work.prepare(work.put_claim("c1", {"r": "gpu-vfio-3"}))
        assert problem.startswith(f"gpu-vfio-3 cannot be passed through: node {NODE_NAME} has no IOMMU; ")
        assert driver.hardware.gpu(3).kernel_driver == "nvidia"
        assert await work.prepare(work.put_claim("c2", {"r": "gpu-3"})) == ""

    run("dgx-h100:vfio,no-iommu", story)
