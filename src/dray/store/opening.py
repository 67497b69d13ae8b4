"""Opening the file of a store: whose it is, which version it has, whether it is whole, and that nobody else writes it.

Migrations are SQL files, `migrations/NNNN_name.sql`, each run once and in order; the number of the newest is the
version of the file, in SQLite's `user_version`.
"""

import fcntl
import os
import sqlite3
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Final

from dray.store.port import StoreError

__all__ = [
    "DATABASE_FILE",
    "MIGRATIONS",
    "FileLock",
    "NotAStore",
    "StoreCorrupted",
    "StoreInUse",
    "StoreTooNew",
    "check_identity",
    "check_version",
    "connect",
    "migrate",
    "open_for_writing",
]

DATABASE_FILE: Final = "dray.db"
"""The name of a store in its data directory."""
MIGRATIONS: Final[Traversable] = files("dray.store").joinpath("migrations")

_APPLICATION: Final = int.from_bytes(b"dray")
"""Marks a SQLite file as ours, in its header; set by the first migration."""

_PAGE_BYTES: Final = 8192
"""Objects of 2 KB, the usual size, fit three to a page; with SQLite's 4096 it would be one, and half the file empty."""

_CHECKPOINT_PAGES: Final = 2048
"""16 MB of log between checkpoints: the file itself is synced a few times a second at most, also under full load."""

_LOG_BYTES: Final = 64 * 2**20
"""To what size the log shrinks again after a reader held it up."""

_BUSY_SECONDS: Final = 10.0
"""How long a statement waits for a backup or a reader at work on the same page of the log's index."""


class NotAStore(StoreError):
    """The file is a database, or something else, that dray did not make."""


class StoreCorrupted(StoreError):
    """The file is damaged. Nothing was changed; restore a backup."""


class StoreInUse(StoreError):
    """Another process has the store open for writing."""


class StoreTooNew(StoreError):
    """A newer dray has written the file in a form that this one does not know."""


class FileLock:
    """That this process alone writes the store. The system drops the lock when the process ends, however it ends."""

    def __init__(self, database: Path) -> None:
        self._path = database.with_name(f"{database.name}.lock")
        # Never removed: a lock on a file that is no longer at its path would exclude nobody.
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as err:
            os.close(self._descriptor)
            raise StoreInUse(f"{database} is in use by another process") from err

    def release(self) -> None:
        """Let others in."""
        os.close(self._descriptor)


def connect(database: Path, *, is_writer: bool) -> sqlite3.Connection:
    """Open the file without looking into it. Statements are their own transactions until BEGIN."""
    connection = sqlite3.connect(
        database, timeout=_BUSY_SECONDS, isolation_level=None, cached_statements=64, check_same_thread=False
    )
    if not is_writer:
        connection.execute("PRAGMA query_only = 1")
    return connection


def open_for_writing(database: Path) -> sqlite3.Connection:
    """Open the file, made anew if there is none, and bring it up to date.

    Raises `NotAStore`, `StoreTooNew` or `StoreCorrupted`. The caller holds the `FileLock`.
    """
    if not database.exists():
        # Objects may be secrets: nobody else may read the file, nor the log, which inherits its mode.
        os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    connection = connect(database, is_writer=True)
    try:
        check_identity(connection, database, may_be_blank=True)
        check_version(connection, MIGRATIONS, database)
        _configure(connection)
        migrate(connection, MIGRATIONS)
    except sqlite3.DatabaseError as err:
        connection.close()
        raise StoreCorrupted(f"{database} is damaged: {err}; restore a backup") from err
    except BaseException:
        connection.close()
        raise
    return connection


def check_identity(connection: sqlite3.Connection, database: Path, *, may_be_blank: bool = False) -> None:
    """Refuse what is not a store of ours, and what is not whole as far as SQLite can tell."""
    try:
        application = _pragma(connection, "application_id")
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as err:
        if err.sqlite_errorname == "SQLITE_NOTADB":
            raise NotAStore(f"{database} is not a database, or its first page is damaged") from err
        raise
    # Blank is also what a first start leaves behind that was killed before its migrations.
    is_blank = tables == 0 and application == 0
    if application != _APPLICATION and not (is_blank and may_be_blank):
        raise NotAStore(f"{database} is not a store of dray")
    (verdict,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise StoreCorrupted(f"{database} is damaged: {verdict}; restore a backup")


def check_version(connection: sqlite3.Connection, folder: Traversable, database: Path) -> None:
    """Refuse a file that has seen migrations which are not in the folder."""
    version, newest = _pragma(connection, "user_version"), max(_scripts(folder))
    if version > newest:
        raise StoreTooNew(f"{database} has format {version}, this dray knows formats up to {newest}: run a newer dray")


def migrate(connection: sqlite3.Connection, folder: Traversable) -> None:
    """Run the migrations the file has not seen, each in a transaction of its own."""
    scripts = _scripts(folder)
    for number in range(_pragma(connection, "user_version") + 1, max(scripts) + 1):
        script = scripts[number].read_text(encoding="utf-8")
        try:
            connection.executescript(f"BEGIN IMMEDIATE;\n{script}\nPRAGMA user_version = {number};\nCOMMIT;")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _scripts(folder: Traversable) -> dict[int, Traversable]:
    """The migrations by number, from 1 without a gap."""
    return {int(file.name[:4]): file for file in folder.iterdir() if file.name.endswith(".sql")}


def _configure(connection: sqlite3.Connection) -> None:
    """What the durability of acknowledged writes rests on, and sizes."""
    connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")  # of no effect on a file that has pages
    connection.execute("PRAGMA journal_mode = WAL")
    # FULL syncs the log at every commit. NORMAL syncs at checkpoints alone: a power cut loses acknowledged writes.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = 1")  # macOS: through the disk's cache as well
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    connection.execute(f"PRAGMA journal_size_limit = {_LOG_BYTES}")


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)
