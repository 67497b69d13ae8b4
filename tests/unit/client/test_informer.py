import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from dray.api.core.configmap import ConfigMap
from dray.client.changes import Change
from dray.client.informer import Informer
from dray.client.port import ObjectName, Unreachable
from dray.effects.clock import FakeClock
from dray.effects.log import Level, MemoryLog
from dray.errors import Forbidden
from tests.unit.client.modelclient import CONFIG_MAPS, History, ModelClient, make_pace, settle


@dataclass
class Scene:
    history: History
    client: ModelClient
    clock: FakeClock
    log: MemoryLog
    informer: Informer[ConfigMap]
    changes: list[Change[ConfigMap]] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [each.metadata.name for each in self.informer.view]

    def summarise(self) -> list[tuple[str, str, str]]:
        return [(each.name.name, colour(each.old), colour(each.new)) for each in self.changes]


def colour(thing: ConfigMap | None) -> str:
    return "-" if thing is None else thing.data.get("colour", "")


@asynccontextmanager
async def running(*names: str, knows_initial_events: bool = True) -> AsyncGenerator[Scene, None]:
    history = History()
    for name in names:
        history.put(name, "red")
    clock, log = FakeClock(), MemoryLog()
    client = ModelClient(history, knows_initial_events=knows_initial_events)
    informer = Informer(client, CONFIG_MAPS, make_pace(clock), log)
    scene = Scene(history, client, clock, log, informer)
    informer.add_handler(scene.changes.append)
    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(informer.run())
        await settle()
        yield scene
        run.cancel()


@pytest.mark.parametrize("knows_initial_events", [True, False], ids=["streamed", "listed"])
async def test_begins_with_what_is_there_and_follows(knows_initial_events: bool) -> None:
    async with running("a", "b", knows_initial_events=knows_initial_events) as scene:
        assert scene.informer.synced.is_set()
        assert scene.names == ["a", "b"]
        scene.history.put("c", "blue")
        scene.history.put("a", "green")
        scene.history.delete("b")
        await settle()
        assert scene.names == ["a", "c"]
        assert scene.summarise() == [
            ("a", "-", "red"),
            ("b", "-", "red"),
            ("c", "-", "blue"),
            ("a", "red", "green"),
            ("b", "red", "-"),
        ]
        assert scene.client.lists == (0 if knows_initial_events else 1)
        assert scene.informer.revision == str(scene.history.revision)


async def test_bookmarks_move_the_revision_alone() -> None:
    async with running("a") as scene:
        scene.history.bookmark()
        await settle()
        assert scene.informer.revision == str(scene.history.revision)
        assert len(scene.changes) == 1


async def test_indexes_follow() -> None:
    async with running("a", "b") as scene:
        view = scene.informer.view
        scene.history.put("a", "blue")
        await settle()
        assert [each.metadata.name for each in view.select_by("colour", "red")] == ["b"]
        assert view.list_values("colour") == ["blue", "red"]
        assert view.select("default") == view.select()
        assert view.select("other") == []
        assert ObjectName("a", "default") in view
        assert len(view) == 2


async def test_resumes_where_a_watch_broke_off() -> None:
    async with running("a") as scene:
        scene.history.cut(Unreachable("the connection broke"))
        await settle()
        scene.history.put("b", "blue")
        await settle()
        assert scene.names == ["a"]  # not before the pause is over
        await settle(scene.clock, 2)
        assert scene.names == ["a", "b"]
        assert scene.client.watches[-1].resource_version == "2"
        assert scene.client.lists == 0


async def test_watches_again_at_once_where_the_server_ended_a_long_watch() -> None:
    async with running("a") as scene:
        await scene.clock.advance(400)
        scene.history.cut()
        await settle()
        scene.history.put("b")
        await settle()
        assert scene.names == ["a", "b"]
        assert scene.log.entries[-1].level is Level.DEBUG


async def test_tells_what_went_while_history_was_forgotten() -> None:
    async with running("a", "b", "c") as scene:
        scene.changes.clear()
        scene.history.cut(Unreachable("the connection broke"))
        scene.history.delete("a")
        scene.history.put("b", "blue")
        scene.history.delete("c")
        scene.history.put("c", "green")
        scene.history.forget()
        await settle(scene.clock, 2)
        assert scene.names == ["b", "c"]
        # c is another object now: it went and came.
        assert scene.summarise() == [("a", "red", "-"), ("b", "red", "blue"), ("c", "red", "-"), ("c", "-", "green")]
        assert scene.changes[0].latest.metadata.resource_version == "2"


async def test_waits_longer_each_time_and_complains_once() -> None:
    async with running("a") as scene:
        scene.client.refusal = Forbidden("configmaps is forbidden")
        scene.history.cut()
        await settle()
        seen = []
        for _ in range(120):
            await settle(scene.clock, 1)
            seen.append(len(scene.client.watches))
        in_first_minute, in_second_minute = seen[59] - 1, seen[119] - seen[59]
        assert 4 <= in_first_minute <= 6
        assert 1 <= in_second_minute <= 2
        assert [entry.message for entry in scene.log.entries if entry.level is Level.ERROR] == ["watch is refused"]
        scene.client.refusal = None
        scene.history.put("b")
        await settle(scene.clock, 60)
        assert scene.names == ["a", "b"]


async def test_lists_where_a_streamed_beginning_does_not_end() -> None:
    history = History()
    history.put("a")
    clock = FakeClock()
    client = ModelClient(history)
    informer = Informer(client, CONFIG_MAPS, make_pace(clock), MemoryLog())
    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(informer.run())
        await asyncio.sleep(0)
        history.cut()
        await settle(clock, 2)
        assert client.lists == 1
        assert informer.synced.is_set()
        run.cancel()


async def test_slow_consumers_get_one_change_an_object() -> None:
    async with running("a") as scene:
        queue = scene.informer.subscribe()
        for shade in ("blue", "green"):
            scene.history.put("a", shade)
            scene.history.put("b", shade)
        scene.history.put("gone")
        scene.history.delete("gone")
        await settle()
        assert len(queue) == 2
        first = await queue.get()
        assert (first.name.name, colour(first.old), colour(first.new)) == ("a", "-", "green")
        scene.history.put("a", "black")
        await settle()
        assert [(each.name.name, colour(each.old), colour(each.new)) for each in queue.take_all()] == [
            ("b", "-", "green"),
            ("a", "green", "black"),
        ]
        assert len(queue) == 0
        scene.informer.unsubscribe(queue)
        scene.history.put("c")
        await settle()
        assert len(queue) == 0


async def test_queues_can_be_iterated() -> None:
    async with running("a", "b") as scene:
        queue = scene.informer.subscribe()
        names = []
        async for change in queue:
            names.append(change.name.name)
            if len(names) == 2:
                break
        assert names == ["a", "b"]


async def test_a_failing_handler_ends_the_run() -> None:
    history = History()
    history.put("a")
    informer = Informer(ModelClient(history), CONFIG_MAPS, make_pace(FakeClock()), MemoryLog())

    def fail(change: Change[ConfigMap]) -> None:
        raise ZeroDivisionError

    informer.add_handler(fail)
    with pytest.raises(ZeroDivisionError):
        await informer.run()
