"""What simulated drivers of processors and of network interfaces do for claims."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from dray.driver.claims import ClaimRef
from dray.drivers.sim.catalog import parse_equipment
from dray.drivers.sim.faults import FaultBoard
from dray.drivers.sim.fleet import make_drivers
from dray.drivers.sim.part import ProfileError
from tests.unit.drivers.driving import Raw, Work, config, driving

NIC = "pci-0000-08-00-0"


def run(profile: str, story: Callable[[Work], Awaitable[None]]) -> None:
    async def play() -> None:
        (chosen,) = make_drivers(parse_equipment(profile), FaultBoard())
        async with driving(chosen) as work:
            await story(work)

    asyncio.run(play())


def put_share(work: Work, uid: str, **more: Any) -> ClaimRef:
    return work.put_claim(uid, {"r": "cpudevnuma001"}, shareID=f"00000000-0000-4000-8000-0000000000{uid}", **more)


def test_processors_are_given_as_whole_cores_and_once() -> None:
    async def story(work: Work) -> None:
        first, second = (put_share(work, uid, consumedCapacity={"dra.cpu/cpu": "4"}) for uid in ("c1", "c2"))
        assert await work.prepare(first) == await work.prepare(second) == ""
        assert await work.env(first) == {"DRA_CPUSET_c1": "4-5,12-13"}
        assert await work.env(second) == {"DRA_CPUSET_c2": "6-7,14-15"}
        all_of_it = put_share(work, "c3")
        assert "cpudevnuma001 has too few processors left" in await work.prepare(all_of_it)
        assert await work.unprepare(first) == await work.unprepare(second) == ""
        assert await work.prepare(all_of_it) == ""
        assert await work.env(all_of_it) == {"DRA_CPUSET_c3": "4-7,12-15"}

    run("cpu:cores=4", story)


@pytest.mark.parametrize("text", ["cpu:cores=0", "cpu:cores=many", "cpu:mig"])
def test_processors_refuse_options(text: str) -> None:
    with pytest.raises(ProfileError):
        parse_equipment(text)


def net(**interface: object) -> Raw:
    return config("dra.net", interface=interface)


def test_interface_is_told_to_container_and_claim() -> None:
    async def story(work: Work) -> None:
        claim = work.put_claim("c1", {"r": NIC}, net(name="net1", addresses=["192.168.1.5/24"]))
        assert await work.prepare(claim) == ""
        (moved,) = (await work.edits(claim)).net_devices
        assert (moved.host_interface_name, moved.name) == ("ens8np0", "net1")
        (told,) = (await work.claim(claim)).status.devices
        assert told.network_data is not None
        assert (told.network_data.interface_name, told.network_data.ips) == ("net1", ("192.168.1.5/24",))
        assert {each.type: each.status for each in told.conditions or ()} == {"Ready": "True", "NetworkReady": "True"}

    run("dranet", story)


@pytest.mark.parametrize(
    ("configs", "pods", "want"),
    [
        ([net(mtu=60)], ["p"], "mtu must be at least 68"),
        ([net(nme="net1")], ["p"], "nme"),
        ([], ["p", "q"], "claim must be reserved for one pod, is for 2 consumers"),
    ],
)
def test_interface_is_refused(configs: list[Raw], pods: list[str], want: str) -> None:
    async def story(work: Work) -> None:
        assert want in await work.prepare(work.put_claim("c1", {"r": NIC}, *configs, pods=pods))

    run("dranet", story)
