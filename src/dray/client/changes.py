"""Changes of objects on their way to a consumer that may be slower than they come."""

import asyncio
from typing import Generic, TypeVar

from msgspec import Struct

from dray.api.meta import ApiObject
from dray.client.port import ObjectName

__all__ = ["Change", "ChangeQueue"]

K = TypeVar("K", bound=ApiObject)


class Change(Struct, Generic[K], frozen=True):
    """What became of one object. At least one of `old` and `new` is there; `old` is None if it came, `new` if it went.

    Changes of one object form a chain: the `new` of one is the `old` of the next.
    """

    name: ObjectName
    old: K | None
    new: K | None
    latest: K
    """The last state known: `new`, or the one in which the object went, which may be later than `old`."""


class ChangeQueue(Generic[K]):
    """Changes for one consumer, merged by object while they wait, so that there are never more than objects.

    What merged shows the whole way: the `old` of the first and the `new` of the last. What came and went unseen is
    never told. An object keeps the place in the queue that its first untold change took, so none is starved; between
    objects no order is promised. If the object was deleted and created again meanwhile, `old` and `new` differ in uid.
    """

    def __init__(self) -> None:
        self._waiting: dict[ObjectName, Change[K]] = {}
        self._arrived = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, change: Change[K]) -> None:
        """Add a change; called by whoever makes them."""
        earlier = self._waiting.get(change.name)
        old = change.old if earlier is None else earlier.old
        if old is None and change.new is None:
            del self._waiting[change.name]
        else:
            self._waiting[change.name] = Change(change.name, old, change.new, change.latest)
        if self._waiting:
            self._arrived.set()
        else:
            self._arrived.clear()

    def take_all(self) -> list[Change[K]]:
        """Everything that waits, without waiting for more."""
        taken = list(self._waiting.values())
        self._waiting.clear()
        self._arrived.clear()
        return taken

    async def get(self) -> Change[K]:
        """The next change; waits until there is one. For one consumer only."""
        await self._arrived.wait()
        name = next(iter(self._waiting))
        change = self._waiting.pop(name)
        if not self._waiting:
            self._arrived.clear()
        return change

    def __aiter__(self) -> "ChangeQueue[K]":
        return self

    async def __anext__(self) -> Change[K]:
        return await self.get()
