"""Mirrors: the objects of some kinds as last heard of, one informer a kind, shared by all controllers of a process.

What a mirror shows may be a moment old. Whoever is about to do what cannot be undone asks the server first.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.client.informer import Informer
from dray.client.port import Client, ObjectName
from dray.client.retrying import Pace
from dray.client.watching import Focus
from dray.controllers.runtime import Effects

__all__ = ["Listener", "Mirrors"]

K = TypeVar("K", bound=ApiObject)

Listener = Callable[[K | None, K | None], None]
"""Told of a change: what was there, and what is there now. Quick, and never fails."""


class Mirrors:
    """The latest objects of some kinds, and news of them."""

    def __init__(self, client: Client, kinds: Iterable[AnyKind], effects: Effects) -> None:
        pace = Pace(effects.clock, effects.entropy)
        self._informers: dict[AnyKind, Informer[Any]] = {
            kind: Informer(client, Focus(kind=kind), pace, effects.log) for kind in kinds
        }

    @property
    def kinds(self) -> Sequence[AnyKind]:
        """The kinds that are mirrored."""
        return tuple(self._informers)

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        """One object of a mirrored kind."""
        return self._get(kind).view.find(ObjectName(name, namespace))

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        """All objects of a mirrored kind, or those of a namespace."""
        return self._get(kind).view.select(namespace)

    def listen(self, kind: Kind[K], listener: Listener[K]) -> None:
        """Tell of everything there is of a kind, and of every change."""
        self._get(kind).add_handler(lambda change: listener(change.old, change.new))

    def _get(self, kind: Kind[K]) -> Informer[K]:
        return cast("Informer[K]", self._informers[kind])  # stored under its own kind

    async def run(self) -> None:
        """Keep all kinds up until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for kind, informer in self._informers.items():
                tasks.create_task(informer.run(), name=f"mirror of {kind.plural}")

    async def wait_synced(self) -> None:
        """Wait until everything was heard of that was there at the start."""
        for informer in self._informers.values():
            await informer.synced.wait()
