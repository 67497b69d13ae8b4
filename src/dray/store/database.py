"""The file of a store as its writer thread sees it: load once, then append, and forget what is superseded.

All methods block. One thread calls them; it alone owns the writing connection.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.store.opening import FileLock, StoreCorrupted, open_for_writing
from dray.store.port import FIRST_REVISION, Bounds, Change, Key, Record, StoreFailed
from dray.store.rows import COLUMNS, Row, StoredState, decode_row, encode_row

__all__ = ["Contents", "Database", "StoreFull", "forget_superseded", "load_contents"]

_CHUNKS: Final = (64, 16, 4, 1)
"""Rows a statement inserts. One call for many rows, because each call hands the interpreter lock to the event loop and
waits to get it back; a few fixed sizes, because each is a statement that SQLite keeps compiled."""

_INSERTS: Final = {
    size: f"INSERT INTO states ({', '.join(COLUMNS)}) VALUES "
    + ", ".join([f"({', '.join('?' * len(COLUMNS))})"] * size)
    for size in _CHUNKS
}


class StoreFull(StoreFailed):
    """There is no room for this write. Reads go on, and so do writes as soon as there is room."""


class Contents(Struct, frozen=True):
    """What a file holds when it is opened."""

    records: list[Record]
    """The latest state of every object."""
    bounds: Bounds


class Database:
    """The one writer of a file."""

    def __init__(self, path: Path) -> None:
        """Lock and open the file, created if there is none. Raises what `open_for_writing` and `FileLock` raise."""
        self._lock = FileLock(path)
        self._horizon = FIRST_REVISION
        """As it is on disk, which lags behind what readers are told when a step fails: the next one makes up for it."""
        try:
            self._connection = open_for_writing(path)
        except BaseException:
            self._lock.release()
            raise

    def load(self) -> Contents:
        """Read the file whole, and judge every row of it. Called once, before anything is written."""
        contents = load_contents(self._connection)
        self._horizon = contents.bounds.horizon
        return contents

    def append(self, changes: Sequence[Change]) -> None:
        """Write the changes, in one transaction; when this returns they are on disk.

        Raises `StoreFull` if none of them was written, and `StoreFailed` if that cannot be told.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            rows = [encode_row(change) for change in changes]
            for chunk in _in_chunks(rows):
                self._connection.execute(_INSERTS[len(chunk)], tuple(chain.from_iterable(chunk)))
            self._connection.execute("COMMIT")
        except sqlite3.Error as err:
            self._roll_back()
            if getattr(err, "sqlite_errorname", "") == "SQLITE_FULL":
                raise StoreFull("there is no room left for the store") from err
            raise StoreFailed(f"cannot write the store: {err}") from err

    def forget(self, through: int, newest: int) -> None:
        """Move the horizon: remove the states that changes after the old and up to the new one have superseded.

        `newest` is the revision not to fall behind, although the row that has it may be among those removed.
        """
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            forget_superseded(self._connection, self._horizon, through, newest)
            self._connection.execute("COMMIT")
            self._horizon = through
        except sqlite3.Error as err:
            self._roll_back()
            raise StoreFailed(f"cannot compact the store: {err}") from err

    def close(self) -> None:
        """Bring the log into the file, if no reader is in the way, and let others open it."""
        try:
            self._connection.close()
        finally:
            self._lock.release()

    def _roll_back(self) -> None:
        # SQLite has rolled some failures back by itself. What fails here fails the next transaction too, and loudly.
        with suppress(sqlite3.Error):
            self._connection.execute("ROLLBACK")


def load_contents(connection: sqlite3.Connection) -> Contents:
    """Replay the history of a file. Raises `StoreCorrupted` for a damaged, missing or repeated row."""
    latest: dict[Key, Record] = {}
    try:
        revision, horizon = connection.execute("SELECT revision, horizon FROM bounds").fetchone()
        for state in _states(connection):
            _replay(state, latest, horizon)
            revision = max(revision, state.revision)
    except sqlite3.DatabaseError as err:
        raise StoreCorrupted(f"the store is damaged: {err}; restore a backup") from err
    return Contents(list(latest.values()), Bounds(horizon, revision))


def forget_superseded(connection: sqlite3.Connection, horizon: int, through: int, newest: int) -> None:
    """What `Database.forget` promises, within a transaction."""
    span = (horizon, through)
    connection.execute(
        "DELETE FROM states WHERE since IN (SELECT previous FROM states WHERE since > ? AND since <= ?)", span
    )
    connection.execute("DELETE FROM states WHERE since > ? AND since <= ? AND body IS NULL", span)
    connection.execute("UPDATE bounds SET revision = max(revision, ?), horizon = ?", (newest, through))


def _states(connection: sqlite3.Connection) -> Iterator[StoredState]:
    row: Row
    for row in connection.execute(f"SELECT {', '.join(COLUMNS)} FROM states ORDER BY since"):
        yield decode_row(row)


def _replay(state: StoredState, latest: dict[Key, Record], horizon: int) -> None:
    """Make the step of a row, which must continue what the rows before it say."""
    current = latest.get(state.key)
    found = 0 if current is None else current.revision
    # The states that held at the horizon are the first of their objects: what they replaced is compacted.
    want = state.previous if state.revision > horizon else 0
    if found != want:
        raise StoreCorrupted(f"the history of {state.key} has a gap before revision {state.revision}; restore a backup")
    if state.record is None:
        latest.pop(state.key, None)
    else:
        latest[state.key] = state.record


def _in_chunks(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Cut into pieces of the sizes there are statements for, in order."""
    start = 0
    while start < len(rows):
        size = next(size for size in _CHUNKS if size <= len(rows) - start)
        yield rows[start : start + size]
        start += size
