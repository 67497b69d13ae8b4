"""Copies of a store: taken while it runs, put back while it does not, and judged both times.

All functions block. A copy is one file, whole and checked before it appears under its name.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.store.database import forget_superseded, load_contents
from dray.store.opening import (
    MIGRATIONS,
    FileLock,
    NotAStore,
    StoreCorrupted,
    check_identity,
    check_version,
    connect,
    migrate,
)
from dray.store.port import Bounds

__all__ = ["StoreSummary", "back_up", "restore", "verify"]

_REVISION_STEP: Final = 1_000_000_000
"""How far the revision is moved on by a restore. The replaced store may be unreadable, and no client may meet one
revision with two meanings: this is more than four days of writing at full speed."""


class StoreSummary(Struct, frozen=True):
    """What is in a file."""

    objects: int
    bounds: Bounds
    size_bytes: int


def verify(database: Path) -> StoreSummary:
    """Read a file from end to end. Raises `NotAStore`, `StoreTooNew` or `StoreCorrupted`; it may be in use."""
    _refuse_missing(database)
    with closing(connect(database, is_writer=False)) as connection, _damage_named(database):
        return _judge(connection, database)


def back_up(database: Path, target: Path) -> StoreSummary:
    """Copy a store as of now into a file, which is replaced if it is there. Neither readers nor writers are held up."""
    _refuse_missing(database)
    with _partial(target) as partial, _damage_named(database):
        _copy(database, partial)
        with closing(connect(partial, is_writer=False)) as connection:
            summary = _judge(connection, database)
        _put_in_place(partial, target)
    return summary


def restore(backup: Path, database: Path) -> StoreSummary:
    """Put a copy in the place of a store that nobody has open, else raise `StoreInUse`.

    Revisions go on above all that the replaced store has given out, and the history is compacted: every watcher, and
    every page that is continued, is told to list again. What was replaced stays beside it, as `<name>.replaced`. A
    crash at any moment leaves the one or the other.
    """
    _refuse_missing(backup)
    lock = FileLock(database)
    try:
        with _partial(database) as partial, _damage_named(backup):
            _copy(backup, partial)
            with closing(connect(partial, is_writer=True)) as connection:
                migrate(connection, MIGRATIONS)
                _renumber(connection, above=_newest_revision(database))
                summary = _judge(connection, backup)
            _put_aside(database)
            _put_in_place(partial, database)
    finally:
        lock.release()
    return summary


def _judge(connection: sqlite3.Connection, database: Path) -> StoreSummary:
    """Everything that can be checked: structure, the checksum of every row, and that the history has no gap."""
    check_identity(connection, database)
    check_version(connection, MIGRATIONS, database)
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise StoreCorrupted(f"{database} is damaged: {verdict}")
    contents = load_contents(connection)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return StoreSummary(len(contents.records), contents.bounds, pages * page_bytes)


def _copy(source: Path, target: Path) -> None:
    """Copy one consistent state, log included, into a file that needs no log beside it."""
    with closing(connect(source, is_writer=False)) as reading, closing(connect(target, is_writer=True)) as writing:
        check_identity(reading, source)
        check_version(reading, MIGRATIONS, source)
        reading.backup(writing)
        writing.execute("PRAGMA journal_mode = DELETE")


def _renumber(connection: sqlite3.Connection, above: int) -> None:
    """Compact the whole history, and go on far above both its end and `above`."""
    bounds = load_contents(connection).bounds
    revision = max(bounds.revision, above) + _REVISION_STEP
    connection.execute("BEGIN IMMEDIATE")
    forget_superseded(connection, bounds.horizon, bounds.revision, bounds.revision)
    connection.execute("UPDATE bounds SET revision = ?, horizon = ?", (revision, revision))
    connection.execute("COMMIT")


def _newest_revision(database: Path) -> int:
    """As far as it can be read: the store to be replaced may be damaged, or not be there."""
    if not database.exists():
        return 0
    with closing(connect(database, is_writer=False)) as connection:
        try:
            (given,) = connection.execute("SELECT revision FROM bounds").fetchone()
            (stored,) = connection.execute("SELECT max(since) FROM states").fetchone()
        except sqlite3.DatabaseError:
            return 0
    return max(int(given), int(stored or 0))


def _put_aside(database: Path) -> None:
    """Give the store to be replaced a second name. Its log must not meet the file that takes its place."""
    if not database.exists():
        return
    # A damaged store is kept as it is, file and log.
    with suppress(sqlite3.DatabaseError), closing(connect(database, is_writer=True)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    aside = database.with_name(f"{database.name}.replaced")
    aside.unlink(missing_ok=True)
    os.link(database, aside)
    log = _beside(database, "-wal")
    if log.exists():
        log.replace(_beside(aside, "-wal"))
    _beside(database, "-shm").unlink(missing_ok=True)


@contextmanager
def _partial(target: Path) -> Iterator[Path]:
    """A file beside the target that only its owner may read; gone afterwards unless it was moved."""
    partial = target.with_name(f"{target.name}.partial")
    partial.unlink(missing_ok=True)
    os.close(os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        yield partial
    finally:
        partial.unlink(missing_ok=True)


def _put_in_place(partial: Path, target: Path) -> None:
    """Let a finished file appear under its name at once, for good."""
    _sync(partial)
    partial.replace(target)
    _sync(target.parent)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _beside(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)


def _refuse_missing(database: Path) -> None:
    # SQLite would make an empty file of that name.
    if not database.is_file():
        raise NotAStore(f"{database} does not exist")


@contextmanager
def _damage_named(database: Path) -> Iterator[None]:
    """Tell what SQLite finds as ours."""
    try:
        yield
    except sqlite3.DatabaseError as err:
        raise StoreCorrupted(f"{database} cannot be read: {err}") from err
