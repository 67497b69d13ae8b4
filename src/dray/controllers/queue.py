"""A queue of keys: each waits at most once and is worked on by one worker at a time."""

import asyncio
from collections.abc import Hashable
from typing import Generic, TypeVar

__all__ = ["KeyedQueue"]

Key = TypeVar("Key", bound=Hashable)


class KeyedQueue(Generic[Key]):
    """Keys in the order they were added. Bounded by the number of things there are keys for.

    A key that is added while it is worked on waits until that is finished, so that no change is missed and no two
    workers meet on one key.
    """

    def __init__(self) -> None:
        self._waiting: dict[Key, None] = {}
        self._active: set[Key] = set()
        self._again: set[Key] = set()
        self._filled = asyncio.Semaphore(0)
        """Counts what waits: each key wakes one taker, not all of them."""
        self.added = 0
        """How often a key came that did not wait already."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits and nothing is worked on."""
        return not self._waiting and not self._active

    def add(self, key: Key) -> None:
        """Have the key worked on, once more if it is being worked on."""
        if key in self._active:
            self.added += key not in self._again
            self._again.add(key)
        elif key not in self._waiting:
            self.added += 1
            self._waiting[key] = None
            self._filled.release()

    async def take(self) -> Key:
        """The key that waits longest; `finish` must follow."""
        await self._filled.acquire()
        key = next(iter(self._waiting))
        del self._waiting[key]
        self._active.add(key)
        return key

    def finish(self, key: Key) -> None:
        """The key was worked on."""
        self._active.discard(key)
        if key in self._again:
            self._again.discard(key)
            self._waiting[key] = None
            self._filled.release()
