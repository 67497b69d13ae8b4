import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dray.api.core.kinds import NODE
from dray.api.resource.request import TaintEffect
from dray.drivers.sim.catalog import parse_equipment
from dray.drivers.sim.commanding import (
    DevicePlace,
    GpuSight,
    PlaceError,
    fail_device,
    heal_devices,
    hold_gpu,
    look_at_gpus,
    parse_place,
    release_gpus,
)
from dray.drivers.sim.faults import Fault, FaultBoard, find_faults
from dray.drivers.sim.fleet import make_drivers
from dray.drivers.sim.nvidia.hardware import GpuState
from tests.unit.drivers.driving import NODE_NAME, Work, driving


def run(story: Callable[[Work], Awaitable[None]], profile: str = "dgx-a100") -> None:
    async def play() -> None:
        async with driving(make_drivers(parse_equipment(profile), FaultBoard())[0]) as work:
            await story(work)

    asyncio.run(play())


def faults(work: Work) -> dict[str, Fault]:
    node = work.cluster.find(NODE, NODE_NAME)
    assert node is not None
    return find_faults(node)


@pytest.mark.parametrize(
    ("text", "want"), [("a/gpu-0", DevicePlace("a", "gpu-0")), ("a", DevicePlace("a")), ("a/", DevicePlace("a"))]
)
def test_places_are_read(text: str, want: DevicePlace) -> None:
    assert parse_place(text) == want


def test_devices_fail_one_beside_another_and_heal_together() -> None:
    async def story(work: Work) -> None:
        client = work.cluster.client
        assert await fail_device(client, DevicePlace(NODE_NAME, "gpu-3"), Fault()) == ["gpu.nvidia.com"]
        await fail_device(client, DevicePlace(NODE_NAME, "gpu-5"), Fault(TaintEffect.NONE, "31"))
        assert faults(work) == {"gpu-3": Fault(), "gpu-5": Fault(TaintEffect.NONE, "31")}
        assert await heal_devices(client, DevicePlace(NODE_NAME, "gpu-3")) == ["gpu-3"]
        assert await heal_devices(client, DevicePlace(NODE_NAME, "gpu-3")) == []
        assert list(faults(work)) == ["gpu-5"]
        assert await heal_devices(client, DevicePlace(NODE_NAME)) == ["gpu-5"]
        assert faults(work) == {}

    run(story)


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        (DevicePlace(NODE_NAME, "gpu-33"), f"{NODE_NAME}/gpu-3"),
        (DevicePlace(NODE_NAME, "anything"), f"{NODE_NAME}/gpu-0"),
        (DevicePlace("nodea", "gpu-3"), NODE_NAME),
        (DevicePlace("elsewhere", "gpu-3"), NODE_NAME),
        (DevicePlace(NODE_NAME), f"{NODE_NAME}/DEVICE; `dray devices` shows them"),
    ],
)
def test_what_is_not_there_cannot_fail(place: DevicePlace, hint: str) -> None:
    async def story(work: Work) -> None:
        with pytest.raises(PlaceError) as caught:
            await fail_device(work.cluster.client, place, Fault())
        assert caught.value.hint == hint
        assert faults(work) == {}

    run(story)


def test_gpus_are_seen_under_whatever_name_they_are_offered() -> None:
    async def story(work: Work) -> None:
        client = work.cluster.client
        assert await work.prepare(work.put_claim("c1", {"r": "gpu-vfio-3"})) == ""
        assert "gpu-3" not in await work.devices()
        await hold_gpu(client, DevicePlace(NODE_NAME, "gpu-5"), "xorg (812)")
        sights = await look_at_gpus(client, DevicePlace(NODE_NAME))
        assert [each.gpu for each in sights] == [f"gpu-{minor}" for minor in range(8)]
        unlike = [each for each in sights if each != GpuSight(NODE_NAME, each.gpu, GpuState())]
        assert unlike == [
            GpuSight(NODE_NAME, "gpu-3", GpuState(kernel_driver="vfio-pci")),
            GpuSight(NODE_NAME, "gpu-5", GpuState(), "xorg (812)"),
        ]
        assert await look_at_gpus(client, DevicePlace(NODE_NAME, "gpu-3")) == unlike[:1]
        assert await release_gpus(client, DevicePlace(NODE_NAME, "gpu-4")) == []
        assert await release_gpus(client, DevicePlace(NODE_NAME)) == ["gpu-5"]

    run(story, "dgx-h100:vfio")


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        (DevicePlace(NODE_NAME, "gpu-33"), f"{NODE_NAME}/gpu-3"),
        (DevicePlace(NODE_NAME, "gpu-vfio-0"), f"{NODE_NAME}/gpu-0"),
        (DevicePlace("nodea", "gpu-3"), NODE_NAME),
        (DevicePlace(NODE_NAME), f"{NODE_NAME}/gpu-0; `dray device show {NODE_NAME}` shows them"),
    ],
)
def test_gpu_that_is_not_there_cannot_be_held(place: DevicePlace, hint: str) -> None:
    async def story(work: Work) -> None:
        with pytest.raises(PlaceError) as caught:
            await hold_gpu(work.cluster.client, place, "a program")
        assert caught.value.hint == hint
        assert await release_gpus(work.cluster.client, DevicePlace(NODE_NAME)) == []

    run(story, "dgx-h100:vfio")
