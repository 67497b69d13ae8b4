import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dray.drivers.sim.catalog import parse_equipment
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.fleet import make_drivers
from dray.drivers.sim.nvidia.driver import NvidiaDriver
from dray.drivers.sim.nvidia.hardware import ComputeMode
from tests.unit.drivers.driving import Raw, Work, config, driving

NV = "gpu.nvidia.com"
API = "resource.nvidia.com/v1beta1"


def gpu_config(*requests: str, source: str = "FromClaim", kind: str = "GpuConfig", **more: object) -> Raw:
    return config(NV, *requests, source=source, apiVersion=API, kind=kind, **more)


def slicing(interval: str, *requests: str, source: str = "FromClaim") -> Raw:
    sharing = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": interval}}
    return gpu_config(*requests, source=source, sharing=sharing)


def mps(*requests: str, **settings: object) -> Raw:
    return gpu_config(*requests, sharing={"strategy": "MPS", "mpsConfig": settings})


def run(profile: str, story: Callable[[Work, NvidiaDriver], Awaitable[None]]) -> None:
    async def play() -> None:
        driver = make_drivers(parse_equipment(profile), FaultBoard())[0]
        assert isinstance(driver, NvidiaDriver)
        async with driving(driver) as work:
            await story(work, driver)

    asyncio.run(play())


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
        assert driver.hardware.gpu(0).compute_mode is ComputeMode.EXCLUSIVE_PROCESS
        env = await work.env(claim)
        assert env["CUDA_MPS_PIPE_DIRECTORY"] == "/tmp/nvidia-mps"
        assert env["SIM_DEVICE_GPU_0_SHARING"] == "MPS/50%/8192M"
        assert {each.container_path for each in (await work.edits(claim)).mounts} == {"/dev/shm", "/tmp/nvidia-mps"}
        assert await work.unprepare(claim) == ""
        assert driver.hardware.mps_daemons == set()
        assert driver.hardware.gpu(0).compute_mode is ComputeMode.DEFAULT

    run("t4-vm", story)


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
        assert not driver.hardware.gpu(1).is_mig_enabled
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
        assert not driver.hardware.gpu(1).is_mig_enabled

    run("dgx-h100:mig", story)


def test_mps_is_refused_for_mig_devices_made_on_demand() -> None:
    async def story(work: Work, driver: NvidiaDriver) -> None:
        entry = gpu_config("r", kind="MigDeviceConfig", sharing={"strategy": "MPS"})
        claim = work.put_claim("c1", {"r": "gpu-1-mig-1g10gb-19-3"}, entry)
        assert "MPS cannot be used with MIG devices made on demand" in await work.prepare(claim)
        assert not driver.hardware.gpu(1).is_mig_enabled

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
