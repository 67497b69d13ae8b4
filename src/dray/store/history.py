"""The history on disk, read beside the writer: its own connection, its own thread, each answer from one snapshot."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from dray.store.opening import connect
from dray.store.port import Change, Compacted, Record, StoreFailed
from dray.store.rows import COLUMNS, decode_row

__all__ = ["HistoryReader"]


def _columns_of(table: str) -> str:
    return ", ".join(f"{table}.{column}" for column in COLUMNS)


_CHANGES: Final = (
    f"SELECT {_columns_of('after')}, {_columns_of('before')}"
    " FROM states AS after LEFT JOIN states AS before ON before.since = after.previous"
    " WHERE after.since > ? AND after.since <= ? ORDER BY after.since LIMIT ?"
)

_SUPERSEDED: Final = (
    f"SELECT {_columns_of('before')}"
    " FROM states AS after JOIN states AS before ON before.since = after.previous"
    " WHERE after.since > ? AND after.since <= ? AND after.resource = ? AND before.since <= ?"
)


class HistoryReader:
    """Older states and changes. All methods block, for as long as reading takes; no writer is waited for."""

    def __init__(self, database: Path) -> None:
        self._connection = connect(database, is_writer=False)

    def changes(self, since: int, through: int, limit: int | None) -> tuple[Change, ...]:
        """Changes after one revision and up to another."""
        with self._snapshot(since):
            rows = self._connection.execute(_CHANGES, (since, through, -1 if limit is None else limit)).fetchall()
        return tuple(map(_decode_change, rows))

    def superseded(self, resource: str, since: int, through: int) -> list[Record]:
        """States of a resource that held at one revision and were replaced or removed up to another."""
        with self._snapshot(since):
            rows = self._connection.execute(_SUPERSEDED, (since, through, resource, since)).fetchall()
        return [state.record for state in map(decode_row, rows) if state.record is not None]

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    @contextmanager
    def _snapshot(self, since: int) -> Iterator[None]:
        """One state of the file in which everything after `since` is there, or `Compacted`."""
        try:
            self._connection.execute("BEGIN")
            try:
                (horizon,) = self._connection.execute("SELECT horizon FROM bounds").fetchone()
                if since < horizon:
                    raise Compacted(since, horizon)
                yield
            finally:
                self._connection.execute("COMMIT")
        except sqlite3.Error as err:
            raise StoreFailed(f"cannot read the store: {err}") from err


def _decode_change(row: tuple[object, ...]) -> Change:
    width = len(COLUMNS)
    state = decode_row(row[:width])  # type: ignore[arg-type]  # the two halves of a joined row
    previous = decode_row(row[width:]).record if state.previous else None  # type: ignore[arg-type]
    return Change(state.revision, state.key, state.record, previous)
