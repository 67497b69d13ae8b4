"""What is told of pods never comes after their bindings."""

import asyncio
from collections.abc import Coroutine

import pytest

from dray.api.core.pod import Pod
from dray.api.meta import ObjectMeta
from dray.scheduler.core.orders import Bind, Order, Report
from dray.scheduler.crew import Crew

POD = Pod(metadata=ObjectMeta(name="p", namespace="ml", uid="u"))
OTHER = Pod(metadata=ObjectMeta(name="q", namespace="ml", uid="v"))


class Server:
    """Notes what is carried out; reports take until they are let go."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.done: list[str] = []
        self.lets_go = asyncio.Event()

    async def perform(self, order: Order) -> None:
        assert isinstance(order, Bind | Report)
        text = f"{type(order).__name__} {order.pod.metadata.name}"
        self.begun.append(text)
        if isinstance(order, Report):
            await self.lets_go.wait()
        self.done.append(text)


def report(pod: Pod) -> Report:
    return Report(pod, "Unschedulable", "no room", "no room")


async def turns(count: int = 20) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


async def carry_out(server: Server, crew: Crew, story: Coroutine[None, None, None]) -> None:
    async with asyncio.TaskGroup() as tasks:
        working = tasks.create_task(crew.run())
        await story
        server.lets_go.set()
        await turns()
        assert crew.is_idle
        working.cancel()


@pytest.fixture
def server() -> Server:
    return Server()


def test_a_report_that_waits_is_dropped_when_the_pod_is_bound(server: Server) -> None:
    async def story(crew: Crew) -> None:
        for number in range(8):
            crew.give(report(Pod(metadata=ObjectMeta(name=f"busy-{number}", uid=f"busy-{number}"))))
        await turns()
        crew.give(report(POD))
        crew.give(report(OTHER))
        crew.give(Bind(POD, "node"))

    crew = Crew(server.perform)
    asyncio.run(carry_out(server, crew, story(crew)))
    assert "Bind p" in server.done
    assert "Report q" in server.done
    assert "Report p" not in server.begun


def test_a_binding_waits_for_a_report_that_is_being_written(server: Server) -> None:
    async def story(crew: Crew) -> None:
        crew.give(report(POD))
        await turns()
        crew.give(Bind(POD, "node"))
        crew.give(Bind(OTHER, "node"))
        await turns()
        assert server.begun == ["Report p", "Bind q"]

    crew = Crew(server.perform)
    asyncio.run(carry_out(server, crew, story(crew)))
    assert server.done == ["Bind q", "Report p", "Bind p"]


def test_reports_of_one_pod_are_written_one_after_the_other_and_the_latest_stays(server: Server) -> None:
    async def story(crew: Crew) -> None:
        for _ in range(3):
            crew.give(report(POD))
            await turns()
        assert server.begun == ["Report p"]

    crew = Crew(server.perform)
    asyncio.run(carry_out(server, crew, story(crew)))
    assert server.done == ["Report p", "Report p"]
