import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

import pytest

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP
from dray.client.sharing import SharedInformers
from dray.effects.clock import FakeClock
from dray.effects.log import MemoryLog
from tests.unit.client.modelclient import History, ModelClient, make_pace, settle


def by_colour(thing: ConfigMap) -> list[str]:
    return list(thing.data.values())


class Scene(NamedTuple):
    history: History
    client: ModelClient
    informers: SharedInformers


def make_scene() -> Scene:
    history = History()
    history.put("a", "red")
    client = ModelClient(history)
    return Scene(history, client, SharedInformers(client, make_pace(FakeClock()), MemoryLog()))


@asynccontextmanager
async def running(scene: Scene) -> AsyncGenerator[None, None]:
    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(scene.informers.run())
        await settle()
        yield
        run.cancel()


async def test_all_who_ask_for_a_kind_share_one_watch() -> None:
    scene = make_scene()
    first, second = scene.informers.get(CONFIG_MAP), scene.informers.get(CONFIG_MAP)
    assert first is second
    async with running(scene):
        await scene.informers.wait_synced()
        assert [thing.metadata.name for thing in scene.informers.get(CONFIG_MAP).view] == ["a"]
        assert len(scene.client.watches) == 1


async def test_nothing_is_watched_that_nobody_asked_for() -> None:
    scene = make_scene()
    async with running(scene):
        assert scene.client.watches == []
        assert scene.informers.kinds == ()


async def test_a_kind_asked_for_late_is_followed_from_then_on() -> None:
    scene = make_scene()
    async with running(scene):
        informer = scene.informers.get(CONFIG_MAP)
        assert not informer.synced.is_set()
        await scene.informers.wait_synced([CONFIG_MAP])
        assert [thing.metadata.name for thing in informer.view] == ["a"]


async def test_an_index_added_late_holds_what_is_there_and_what_comes() -> None:
    scene = make_scene()
    view = scene.informers.get(CONFIG_MAP).view
    async with running(scene):
        view.add_index("by colour", by_colour)
        scene.history.put("b", "red")
        await settle()
        assert [thing.metadata.name for thing in view.select_by("by colour", "red")] == ["a", "b"]
        scene.history.put("a", "blue")
        await settle()
        assert view.list_values("by colour") == ["blue", "red"]
        view.add_index("by colour", by_colour)
        with pytest.raises(ValueError, match="there is another index"):
            view.add_index("by colour", lambda thing: ())
