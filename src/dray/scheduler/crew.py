"""The hands that carry out orders: bindings first, what is merely told when there is time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from dray.scheduler.core.orders import GroupReport, Order, Report, Tell

__all__ = ["Crew"]

_BINDERS: Final = 96
"""Orders carried out at once. Many wait for the same sync of the server's disk, so more of them cost it little."""
_TELLERS: Final = 8
"""The same for reports."""

Perform = Callable[[Order], Awaitable[None]]


class Crew:
    """Workers that take orders. Owns what waits for them."""

    def __init__(self, perform: Perform) -> None:
        self._perform = perform
        self._urgent = _Shelf()
        self._patient = _Shelf()

    @property
    def is_idle(self) -> bool:
        """Whether all orders were carried out."""
        return self._urgent.is_idle and self._patient.is_idle

    @property
    def waiting(self) -> int:
        """Orders that nobody has taken yet."""
        return len(self._urgent.orders) + len(self._patient.orders)

    def give(self, order: Order) -> None:
        """Have an order carried out."""
        shelf = self._patient if isinstance(order, Report | GroupReport | Tell) else self._urgent
        shelf.orders.append(order)
        shelf.filled.set()

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as tasks:
            for shelf, hands in ((self._urgent, _BINDERS), (self._patient, _TELLERS)):
                for number in range(hands):
                    tasks.create_task(self._work(shelf), name=f"scheduler orders {number}")

    async def _work(self, shelf: "_Shelf") -> None:
        while True:
            while not shelf.orders:
                shelf.filled.clear()
                await shelf.filled.wait()
            order = shelf.orders.popleft()
            shelf.busy += 1
            try:
                await self._perform(order)
            finally:
                shelf.busy -= 1


class _Shelf:
    """Orders that wait."""

    def __init__(self) -> None:
        self.orders: deque[Order] = deque()
        self.filled = asyncio.Event()
        self.busy = 0

    @property
    def is_idle(self) -> bool:
        return not self.orders and not self.busy
