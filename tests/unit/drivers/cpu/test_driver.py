import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dray.driver.claims import ClaimRef
from dray.driver.sysfs import Sysfs, parse_cpu_list
from dray.drivers.cpu.driver import CpuDriver, CpuDriverOptions
from dray.drivers.cpu.offers import Grouping
from tests.unit.drivers.cpu.test_topology import TWO_SOCKETS
from tests.unit.drivers.driving import Raw, Work, config, driving
from tests.unit.drivers.systree import plant_cpus

SHARE = "6f1c0000-0000-4000-8000-00000000000{}"


def claim(work: Work, uid: str, device: str, count: int | None, *configs: Raw) -> ClaimRef:
    more: dict[str, Any] = {}
    if count is not None:
        more = {"shareID": SHARE.format(uid[-1]), "consumedCapacity": {"dra.cpu/cpu": str(count)}}
    return work.put_claim(uid, {"cpus": device}, *configs, **more)


def run(driver: CpuDriver, story: Callable[[Work], Awaitable[None]]) -> None:
    async def play() -> None:
        async with driving(driver) as work:
            await story(work)

    asyncio.run(play())


def made(tmp_path: Path, **options: Any) -> CpuDriver:
    return CpuDriver(CpuDriverOptions(**options), plant_cpus(tmp_path, TWO_SOCKETS))


def test_claims_have_processors_for_themselves(tmp_path: Path) -> None:
    async def story(work: Work) -> None:
        assert set(await work.devices()) == {"cpudevnuma000", "cpudevnuma001"}
        first, second = claim(work, "c1", "cpudevnuma000", 4), claim(work, "c2", "cpudevnuma000", 4)
        assert await work.prepare(first) == ""
        assert await work.prepare(second) == ""
        assert await work.env(first) == {"DRA_CPUSET_c1": "0-1,8-9"}
        assert await work.env(second) == {"DRA_CPUSET_c2": "2-3,10-11"}
        third = claim(work, "c3", "cpudevnuma000", 1)
        assert "cpudevnuma000 has 0 processors left, 1 are wanted" in await work.prepare(third)
        assert await work.unprepare(first) == ""
        assert await work.prepare(third) == ""
        assert (await work.env(third))["DRA_CPUSET_c3"] in {"0", "1", "8", "9"}

    run(made(tmp_path), story)


def test_prepared_claims_keep_their_processors(tmp_path: Path) -> None:
    async def story(work: Work) -> None:
        one = claim(work, "c1", "cpudevnuma001", 3)
        assert await work.prepare(one) == ""
        before = await work.env(one)
        assert await work.prepare(one) == ""
        assert await work.env(one) == before

    run(made(tmp_path), story)


def test_who_names_no_number_has_the_group(tmp_path: Path) -> None:
    async def story(work: Work) -> None:
        whole = claim(work, "c1", "cpudevsocket001", None)
        assert await work.prepare(whole) == ""
        assert await work.env(whole) == {"DRA_CPUSET_c1": "4-7,12-15"}

    run(made(tmp_path, grouping=Grouping.SOCKET), story)


def test_individual_processors_are_those_of_their_devices(tmp_path: Path) -> None:
    async def story(work: Work) -> None:
        two = work.put_claim("c1", {"a": "cpudev000", "b": "cpudev003"})
        assert await work.prepare(two) == ""
        assert await work.env(two) == {"DRA_CPUSET_c1": "0,9"}

    run(made(tmp_path, grouping=Grouping.INDIVIDUAL), story)


def test_reserved_processors_are_never_given_away(tmp_path: Path) -> None:
    async def story(work: Work) -> None:
        whole = claim(work, "c1", "cpudevnuma000", None)
        assert await work.prepare(whole) == ""
        assert await work.env(whole) == {"DRA_CPUSET_c1": "1-3,9-11"}

    run(made(tmp_path, reserved=(0, 8)), story)


@pytest.mark.parametrize(
    ("cpuset", "want"),
    [
        ("4-5", ""),
        ("4-6", "names 3 processors, the claim has 2"),
        ("40-41", "40-41 cannot be given away"),
        ("0-1", "0-1 in use by other claims"),
        ("some", "must be such as 0-3,8"),
        ("", "must be named: cpuConfig.cpuset"),
    ],
)
def test_processors_of_the_machine_are_named(tmp_path: Path, cpuset: str, want: str) -> None:
    async def story(work: Work) -> None:
        def named(text: str) -> Raw:
            return config("dra.cpu", "cpus", cpuConfig={"cpuset": text})

        first = claim(work, "c1", "cpudevmachine", 2, named("0-1"))
        assert await work.prepare(first) == ""
        second = claim(work, "c2", "cpudevmachine", 2, named(cpuset))
        answer = await work.prepare(second)
        assert want in answer if want else answer == ""

    run(made(tmp_path, grouping=Grouping.MACHINE), story)


def test_device_that_is_not_there_is_refused(tmp_path: Path) -> None:
    async def story(work: Work) -> None:
        assert "not allocatable: cpudevnuma007" in await work.prepare(claim(work, "c1", "cpudevnuma007", 1))

    run(made(tmp_path), story)


@pytest.mark.skipif(sys.platform != "linux", reason="pins a process of this machine")
def test_processes_can_be_pinned_to_what_claims_have_on_this_machine() -> None:
    async def story(work: Work) -> None:
        name = min(await work.devices())
        one = claim(work, "c1", name, 1)
        assert await work.prepare(one) == ""
        numbers = parse_cpu_list((await work.env(one))["DRA_CPUSET_c1"])
        assert len(numbers) == 1
        program = f"import os; os.sched_setaffinity(0, {numbers}); print(sorted(os.sched_getaffinity(0)))"
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE)
        told, _ = await process.communicate()
        assert told.decode().strip() == str(numbers)

    if Sysfs().read("devices/system/cpu/online") is None or len(os.sched_getaffinity(0)) < 1:
        pytest.skip("this machine tells nothing of its processors")
    run(CpuDriver(), story)
