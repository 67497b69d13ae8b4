import asyncio
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from dray.api.core.kinds import CONFIG_MAP
from dray.client.informer import Informer
from dray.client.port import Client, ListOptions, ObjectName, WatchEventType, WatchOptions
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.effects.clock import SystemClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from tests.contract.client.objects import NAMESPACE, config_map, opened, read_events, told

FOLLOWED = Focus(kind=CONFIG_MAP, namespace=NAMESPACE, label_selector="app=t")
LABELS = {"app": "t"}


async def now(client: Client) -> str:
    return (await client.list(CONFIG_MAP, ListOptions(namespace=NAMESPACE))).metadata.resource_version


async def test_a_watch_tells_what_happened_since(client: Client) -> None:
    since = await now(client)
    made = await client.create(CONFIG_MAP, config_map("a"))
    changed = await client.update(CONFIG_MAP, replace(made, data={"n": "1"}))
    await client.delete(CONFIG_MAP, ObjectName("a", NAMESPACE))
    async with opened(client, WatchOptions(namespace=NAMESPACE, resource_version=since)) as events:
        found = await read_events(events, 3)
        assert told(found) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]
        assert [each.thing for each in found[:2]] == [made, changed]
        assert int(found[2].thing.metadata.resource_version) > int(changed.metadata.resource_version)
        await client.create(CONFIG_MAP, config_map("b"))
        assert told(await read_events(events, 1)) == [("ADDED", "b")]


async def test_a_watch_goes_on_from_any_version(client: Client) -> None:
    made = await client.create(CONFIG_MAP, config_map("a"))
    await client.create(CONFIG_MAP, config_map("b"))
    since = WatchOptions(namespace=NAMESPACE, resource_version=made.metadata.resource_version)
    async with opened(client, since) as events:
        assert told(await read_events(events, 1)) == [("ADDED", "b")]


async def test_a_watch_can_begin_with_everything(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a", labels=LABELS))
    await client.create(CONFIG_MAP, config_map("b", labels=LABELS))
    options = WatchOptions(namespace=NAMESPACE, label_selector="app=t", send_initial_events=True)
    async with opened(client, options) as events, asyncio.timeout(10):
        assert {told([await anext(events)])[0] for _ in range(2)} == {("ADDED", "a"), ("ADDED", "b")}
        mark = await anext(events)
        assert mark.type is WatchEventType.BOOKMARK
        assert mark.ends_initial_events
        assert int(mark.thing.metadata.resource_version) > 0


async def test_selectors_make_objects_come_and_go(client: Client) -> None:
    since = await now(client)
    made = await client.create(CONFIG_MAP, config_map("a", labels=LABELS))
    without = await client.update(CONFIG_MAP, replace(made, metadata=replace(made.metadata, labels={"app": "u"})))
    await client.update(CONFIG_MAP, replace(without, metadata=replace(without.metadata, labels=LABELS)))
    options = WatchOptions(namespace=NAMESPACE, label_selector="app=t", resource_version=since)
    async with opened(client, options) as events:
        found = await read_events(events, 3)
    assert told(found) == [("ADDED", "a"), ("DELETED", "a"), ("ADDED", "a")]
    # What leaves is told as it was, with the version of the change.
    assert found[1].thing.metadata.labels == LABELS
    assert found[1].thing.metadata.resource_version == without.metadata.resource_version


async def test_the_server_ends_a_watch_in_time(client: Client) -> None:
    since = await now(client)
    options = WatchOptions(namespace=NAMESPACE, resource_version=since, timeout_seconds=1)
    async with asyncio.timeout(10), opened(client, options) as events:
        assert [each async for each in events if each.type is not WatchEventType.BOOKMARK] == []


async def test_a_watch_can_be_left_at_any_time(client: Client) -> None:
    async with asyncio.timeout(10):
        async with aclosing(client.watch(CONFIG_MAP, WatchOptions(namespace=NAMESPACE))):
            pass
        async with opened(client, WatchOptions(namespace=NAMESPACE, send_initial_events=True)) as events:
            await anext(events)
        async with opened(client, WatchOptions(namespace=NAMESPACE, resource_version=await now(client))) as events:
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(events), 0.05)


async def test_an_informer_follows(client: Client) -> None:
    await client.create(CONFIG_MAP, config_map("a", labels=LABELS))
    informer = Informer(client, FOLLOWED, Pace(SystemClock(), SeededEntropy(1)), MemoryLog())
    queue = informer.subscribe()
    async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
        run = tasks.create_task(informer.run())
        await informer.synced.wait()
        assert [each.metadata.name for each in informer.view] == ["a"]
        assert (await queue.get()).old is None
        made = await client.create(CONFIG_MAP, config_map("b", labels=LABELS))
        assert (await queue.get()).new == made
        await client.delete(CONFIG_MAP, ObjectName("a", NAMESPACE))
        gone = await queue.get()
        assert (gone.name.name, gone.new) == ("a", None)
        assert [each.metadata.name for each in informer.view] == ["b"]
        run.cancel()
