"""The durable store: one writer, group commit, reads from memory.

Writes are judged and numbered on the event loop, against memory; then the only thread that writes brings them to disk,
many with one sync. The latest state is read from memory, on the event loop; older ones by a second thread with a
connection of its own. Why: docs/adr/0011-one-writer-to-sqlite.md.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from dray.store.database import Contents, Database
from dray.store.groupcommit import GroupCommit
from dray.store.history import HistoryReader
from dray.store.latest import LatestState, PageQuery, share_records
from dray.store.listeners import Listeners
from dray.store.port import (
    Bounds,
    Change,
    Compacted,
    FutureRevision,
    Key,
    Listener,
    Page,
    Record,
    Selection,
    Write,
)
from dray.store.transactions import Transactions

__all__ = ["SqliteStore", "open_sqlite_store"]

_COMPACTION_STEP: Final = 2000
"""Revisions that one turn of the writer forgets: a commit waits for one turn, about 10 ms, not for all of them."""


class SqliteStore:
    """A `Store` in one SQLite file; made by `open_sqlite_store`. Holds the latest state of every object in memory."""

    def __init__(
        self, database: Database, contents: Contents, reader: HistoryReader, writer: ThreadPoolExecutor
    ) -> None:
        self._database = database
        self._reader = reader
        self._writer = writer
        self._reading = ThreadPoolExecutor(1, "dray-store-reader")
        self._loop = asyncio.get_running_loop()
        self._latest = LatestState()
        self._latest.load(contents.records)
        self._horizon = contents.bounds.horizon
        self._listeners = Listeners()
        self._transactions = Transactions(self._latest, contents.bounds.revision)
        self._groups = GroupCommit(database, writer, self._transactions, self._listeners.tell)

    async def commit(self, writes: Sequence[Write]) -> tuple[Change, ...]:
        """See `Store.commit`."""
        return await self._groups.commit(writes)

    async def find(self, key: Key) -> Record | None:
        """See `Store.find`."""
        return self._latest.find(key)

    async def page(
        self, selection: Selection, *, at: int | None = None, limit: int | None = None, after: Key | None = None
    ) -> Page:
        """See `Store.page`. An earlier revision costs a read of the changes since."""
        query = PageQuery(selection, limit, after)
        newest = self._transactions.revision
        if at is None or at == newest:
            return self._latest.page(query, newest)
        if at > newest:
            raise FutureRevision(at, newest)
        self._refuse_compacted(at)
        # Begun and bounded at one moment: what is committed while the disk is read belongs to neither half.
        page = self._latest.begin_page_at(query, at)
        superseded = await self._loop.run_in_executor(
            self._reading, self._reader.superseded, selection.resource, at, newest
        )
        return page.complete(superseded)

    async def changes(self, since: int, *, limit: int | None = None) -> tuple[Change, ...]:
        """See `Store.changes`."""
        self._refuse_compacted(since)
        newest = self._transactions.revision
        if since >= newest:
            return ()
        changes = await self._loop.run_in_executor(self._reading, self._reader.changes, since, newest, limit)
        return tuple(share_records(changes, self._latest))

    def follow(self, listener: Listener) -> Callable[[], None]:
        """See `Store.follow`."""
        return self._listeners.add(listener)

    def bounds(self) -> Bounds:
        """See `Store.bounds`."""
        return Bounds(self._horizon, self._transactions.revision)

    async def compact(self, through: int) -> None:
        """See `Store.compact`. Commits are let through between its steps."""
        newest = self._transactions.revision
        if through > newest:
            raise FutureRevision(through, newest)
        while self._horizon < through:
            # First for readers, then on disk: nobody starts to read what is about to go.
            self._horizon = min(self._horizon + _COMPACTION_STEP, through)
            await self._loop.run_in_executor(self._writer, self._database.forget, self._horizon, newest)

    async def close(self) -> None:
        """Bring what is under way to disk, then give the file back."""
        await self._groups.drain()
        await self._loop.run_in_executor(self._reading, self._reader.close)
        self._reading.shutdown(wait=False)
        await self._loop.run_in_executor(self._writer, self._database.close)
        self._writer.shutdown(wait=False)

    def _refuse_compacted(self, revision: int) -> None:
        if revision < self._horizon:
            raise Compacted(revision, self._horizon)


@asynccontextmanager
async def open_sqlite_store(path: Path) -> AsyncIterator[SqliteStore]:
    """The store in a file, which is made if there is none, for the length of a block.

    Raises `StoreInUse`, `NotAStore`, `StoreTooNew` or `StoreCorrupted` instead of touching a file that it should not.
    """
    writer = ThreadPoolExecutor(1, "dray-store-writer")
    try:
        opened = await asyncio.get_running_loop().run_in_executor(writer, _open, path)
    except BaseException:
        writer.shutdown(wait=False)
        raise
    store = SqliteStore(*opened, writer)
    try:
        yield store
    finally:
        await store.close()


def _open(path: Path) -> tuple[Database, Contents, HistoryReader]:
    database = Database(path)
    try:
        return database, database.load(), HistoryReader(path)
    except BaseException:
        database.close()
        raise
