"""One lock a key, which exists for as long as somebody holds it or waits for it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

__all__ = ["KeyedLocks"]


class KeyedLocks:
    """Keeps work on the same key apart; work on different keys goes side by side."""

    def __init__(self) -> None:
        self._locks: dict[str, asyncio.Lock] = {}
        self._interested: dict[str, int] = {}

    def is_held(self, key: str) -> bool:
        """Whether somebody works on the key, or is about to."""
        return key in self._locks

    @asynccontextmanager
    async def hold(self, key: str) -> AsyncGenerator[None, None]:
        """Wait until nobody else works on the key."""
        lock = self._locks.setdefault(key, asyncio.Lock())
        self._interested[key] = self._interested.get(key, 0) + 1
        try:
            async with lock:
                yield
        finally:
            self._interested[key] -= 1
            if not self._interested[key]:
                del self._interested[key], self._locks[key]
