"""Objects that the tests of the contract write, and a reader of watches that does not wait for ever."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from typing import TypeVar

from dray.api.core.configmap import ConfigMap
from dray.api.core.containers import Container
from dray.api.core.kinds import CONFIG_MAP, POD, SERVICE_ACCOUNT
from dray.api.core.pod import Pod
from dray.api.core.podspec import PodSpec
from dray.api.core.serviceaccount import ServiceAccount
from dray.api.meta import ApiObject, ObjectMeta
from dray.client.port import Client, WatchEvent, WatchEventType, WatchOptions
from dray.errors import AlreadyExists

__all__ = ["NAMESPACE", "config_map", "create_pod", "names", "opened", "read_events", "told"]

K = TypeVar("K", bound=ApiObject)
NAMESPACE = "default"


def config_map(name: str, *, labels: Mapping[str, str] | None = None, **content: str) -> ConfigMap:
    metadata = ObjectMeta(name=name, namespace=NAMESPACE, labels=labels or {})
    return ConfigMap(metadata=metadata, data=content)


async def create_pod(client: Client, name: str) -> Pod:
    """A pod, and the account that every pod needs."""
    account = ServiceAccount(metadata=ObjectMeta(name="default", namespace=NAMESPACE))
    with suppress(AlreadyExists):
        await client.create(SERVICE_ACCOUNT, account)
    spec = PodSpec(containers=(Container(name="main", image="registry.example/app"),))
    return await client.create(POD, Pod(metadata=ObjectMeta(name=name, namespace=NAMESPACE), spec=spec))


def names(things: tuple[K, ...]) -> list[str]:
    return [each.metadata.name for each in things]


def told(events: list[WatchEvent[K]]) -> list[tuple[str, str]]:
    return [(each.type.value, each.thing.metadata.name) for each in events]


async def read_events(events: AsyncGenerator[WatchEvent[K], None], count: int) -> list[WatchEvent[K]]:
    """The next changes, bookmarks left out."""
    found: list[WatchEvent[K]] = []
    async with asyncio.timeout(10):
        while len(found) < count:
            event = await anext(events)
            if event.type is not WatchEventType.BOOKMARK:
                found.append(event)
    return found


def opened(client: Client, options: WatchOptions) -> "aclosing[AsyncGenerator[WatchEvent[ConfigMap], None]]":
    """A watch on config maps, closed at the end of the block."""
    return aclosing(client.watch(CONFIG_MAP, options))
