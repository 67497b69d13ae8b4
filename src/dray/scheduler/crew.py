"""The hands that carry out orders: bindings first, what is merely told when there is time."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final

from dray.scheduler.core.orders import Bind, GroupReport, Order, Report, Tell

__all__ = ["Crew"]

_BINDERS: Final = 96
"""Orders carried out at once. Many wait for the same sync of the server's disk, so more of them cost it little."""
_TELLERS: Final = 8
"""The same for reports."""

Perform = Callable[[Order], Awaitable[None]]


class Crew:
    """Workers that take orders. Owns what waits for them.

    What is reported of a pod that found no node is never written after its binding: a report that waits is dropped when
    the pod is to be bound, and one that is being written is waited for.
    """

    def __init__(self, perform: Perform) -> None:
        self._perform = perform
        self._urgent = _Shelf()
        self._patient = _Shelf()
        self._due: dict[str, Report] = {}
        """The latest report of each pod that waits."""
        self._telling: dict[str, asyncio.Event] = {}
        """Set once the report of a pod is written."""

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
        if isinstance(order, Report):
            self._due[order.pod.metadata.uid] = order
        elif isinstance(order, Bind):
            self._due.pop(order.pod.metadata.uid, None)
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
                await self._carry_out(order)
            finally:
                shelf.busy -= 1

    async def _carry_out(self, order: Order) -> None:
        if isinstance(order, Report):
            await self._report(order)
            return
        if isinstance(order, Bind) and (told := self._telling.get(order.pod.metadata.uid)) is not None:
            await told.wait()
        await self._perform(order)

    async def _report(self, order: Report) -> None:
        uid = order.pod.metadata.uid
        while (told := self._telling.get(uid)) is not None:
            await told.wait()
        if self._due.get(uid) is not order:
            return
        del self._due[uid]
        told = self._telling[uid] = asyncio.Event()
        try:
            await self._perform(order)
        finally:
            told.set()
            del self._telling[uid]


class _Shelf:
    """Orders that wait."""

    def __init__(self) -> None:
        self.orders: deque[Order] = deque()
        self.filled = asyncio.Event()
        self.busy = 0

    @property
    def is_idle(self) -> bool:
        return not self.orders and not self.busy
