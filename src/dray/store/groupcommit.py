"""Group commit: many transactions wait together and share one sync of the disk.

One group is with the writer thread; the next gathers meanwhile, and leaves as soon as the writer is back. So a lone
write leaves at once, and under load a group is as large as what came during one sync. Runs on the event loop by
callbacks, not as a task: there is nothing to start, to stop or to find dead.
"""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from typing import Final

from msgspec import Struct

from dray.errors import InternalError
from dray.store.database import Database, StoreFull
from dray.store.port import Change, StoreBusy, StoreFailed, Write
from dray.store.transactions import Transactions, Undecided

__all__ = ["GroupCommit"]

_MAX_WAITING_BYTES: Final = 64 * 2**20
"""Bodies that may wait for the disk before writes are refused with `StoreBusy`: some 30,000 objects of the usual size,
a second or two of writing. Raising it trades memory for the length of a stall that nobody notices."""

_MAX_GROUP_CHANGES: Final = 1024
"""Where a group is cut, between two transactions: what one sync may hold up. About 15 ms of writing (bench: store)."""


class _Accepted(Struct, gc=False):
    """A transaction on its way: its changes, their weight, and who waits for it."""

    changes: tuple[Change, ...]
    size_bytes: int
    durable: asyncio.Future[None]


class GroupCommit:
    """The way of a write to the disk. Owns what is accepted and not durable yet.

    `publish` is called with the changes of each durable group, before its writers are woken.
    """

    def __init__(
        self,
        database: Database,
        writer: Executor,
        transactions: Transactions,
        publish: Callable[[Sequence[Change]], None],
    ) -> None:
        self._database = database
        self._writer = writer
        self._transactions = transactions
        self._publish = publish
        self._loop = asyncio.get_running_loop()
        self._waiting: list[_Accepted] = []
        self._waiting_bytes = 0
        self._in_flight: list[_Accepted] = []
        self._settled: asyncio.Future[None] = self._loop.create_future()
        self._refusal: StoreFailed | None = None

    async def commit(self, writes: Sequence[Write]) -> tuple[Change, ...]:
        """Return when the writes are durable; see `Store.commit`."""
        while True:
            if self._refusal is not None:
                raise StoreFailed(str(self._refusal)) from self._refusal
            if self._waiting_bytes > _MAX_WAITING_BYTES:
                raise StoreBusy("too many writes wait for the disk")
            try:
                changes = self._transactions.accept(writes)
            except Undecided:
                await asyncio.shield(self._settled)
                continue
            if changes:
                await self._join(changes)
            return changes

    async def drain(self) -> None:
        """Take no more writes, and return when those under way are settled."""
        self._refusal = self._refusal or StoreFailed("the store is closed")
        while self._waiting or self._in_flight:
            await asyncio.shield(self._settled)

    def _join(self, changes: tuple[Change, ...]) -> asyncio.Future[None]:
        """Wait with the next group."""
        size_bytes = sum(len(change.record.body) for change in changes if change.record is not None)
        accepted = _Accepted(changes, size_bytes, self._loop.create_future())
        self._waiting.append(accepted)
        self._waiting_bytes += size_bytes
        if len(self._waiting) == 1 and not self._in_flight:
            # Not at once: what other tasks commit in this turn of the loop comes along.
            self._loop.call_soon(self._send)
        return accepted.durable

    def _send(self) -> None:
        """Hand what waits, or the first part of it, to the writer thread."""
        if self._in_flight or not self._waiting:
            return
        count = total = 0
        while count < len(self._waiting) and total < _MAX_GROUP_CHANGES:
            total += len(self._waiting[count].changes)
            count += 1
        self._in_flight, self._waiting = self._waiting[:count], self._waiting[count:]
        self._waiting_bytes -= sum(each.size_bytes for each in self._in_flight)
        changes = [change for each in self._in_flight for change in each.changes]
        written = self._loop.run_in_executor(self._writer, self._database.append, changes)
        written.add_done_callback(lambda done: self._settle(changes, done.exception()))

    def _settle(self, changes: Sequence[Change], failure: BaseException | None) -> None:
        """The writer is back: show the changes, wake who waited, and send the next group."""
        if failure is not None:
            self._abandon(failure)
            return
        try:
            self._transactions.settle(changes)
            self._publish(changes)
        except Exception as err:
            # A bug, here or in a listener: memory and disk no longer agree. The event loop reports it.
            self._abandon(InternalError(f"committed changes could not be shown: {err}"))
            raise
        group, self._in_flight = self._in_flight, []
        for accepted in group:
            if not accepted.durable.done():  # else its caller was cancelled
                accepted.durable.set_result(None)
        self._tell_settled()
        self._send()

    def _abandon(self, failure: BaseException) -> None:
        """Nothing of the group was written, and what waits was judged on it: let all of it fail."""
        group = self._in_flight + self._waiting
        self._in_flight, self._waiting, self._waiting_bytes = [], [], 0
        self._transactions.abandon()
        if not isinstance(failure, StoreFull):
            # What the disk holds is not known for sure. Only a new start, which reads it anew, may go on writing.
            self._refusal = StoreFailed(f"the store failed and takes no more writes: {failure}")
            self._refusal.__cause__ = failure
        for accepted in group:
            if not accepted.durable.done():
                error = StoreFull(str(failure)) if isinstance(failure, StoreFull) else StoreFailed(str(failure))
                error.__cause__ = failure
                accepted.durable.set_exception(error)
        self._tell_settled()

    def _tell_settled(self) -> None:
        settled, self._settled = self._settled, self._loop.create_future()
        settled.set_result(None)
