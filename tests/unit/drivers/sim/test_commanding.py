import asyncio
from collections.abc import Awaitable, Callable

import pytest

from dray.api.core.kinds import NODE
from dray.api.resource.request import TaintEffect
from dray.drivers.sim.catalog import parse_equipment
from dray.drivers.sim.commanding import (
    DevicePlace,
    PlaceError,
    fail_device,
    heal_devices,
    parse_place,
)
from dray.drivers.sim.faults import Fault, FaultBoard, find_faults
from dray.drivers.sim.fleet import make_drivers
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
