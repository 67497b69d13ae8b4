"""Where the agent keeps its memory of prepared claims and of devices' health: files, or nothing at all."""

import asyncio
import errno
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, Protocol

from dray.driver.files import write_atomically
from dray.effects.log import Log
from dray.errors import DrayError
from dray.node.core.checkpoint import CheckpointCorrupt, Recalled, decode_checkpoint, encode_checkpoint
from dray.node.core.health import HealthBook, decode_health, encode_health
from dray.node.core.prepared_claims import PreparedClaims

__all__ = ["Checkpoint", "CheckpointFailed", "FileCheckpoint", "NoCheckpoint"]

_CLAIMS_FILE: Final = "dra_manager_state"
_JOURNAL_FILE: Final = "dra_manager_state.journal"
_DISK_SECONDS: Final = 0.5
"""How long changes gather before the disk is waited for: pods that start together share one wait."""
_MOST_JOURNAL_BYTES: Final = 4 << 20
"""Past this the journal is begun anew."""
_HEALTH_FILE: Final = "dra_health_state"


class CheckpointFailed(DrayError):
    """What was to be kept is not: the next save tries again."""


class Checkpoint(Protocol):
    """The agent's memory across restarts."""

    def load_claims(self) -> PreparedClaims:
        """What was saved last. Raises CheckpointCorrupt."""
        ...

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Keep the claims as they are now; returns once they survive the death of the process.

        Raises CheckpointFailed.
        """
        ...

    def load_health(self, log: Log) -> HealthBook:
        """What was saved last; what cannot be read is forgotten, and said so."""
        ...

    async def save_health(self, book: HealthBook) -> None:
        """Keep what is known of devices. Raises CheckpointFailed."""
        ...

    def close(self) -> None:
        """Keep nothing more, once what was saved is as safe as it gets. May wait for the disk, and be repeated."""
        ...


class NoCheckpoint:
    """For nodes that end with the process, drivers included."""

    def load_claims(self) -> PreparedClaims:
        """Nothing is prepared at the start."""
        return PreparedClaims()

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Nothing survives, so there is nothing to wait for."""

    def load_health(self, log: Log) -> HealthBook:
        """Nothing is known at the start."""
        return HealthBook()

    async def save_health(self, book: HealthBook) -> None:
        """Nothing survives."""

    def close(self) -> None:
        """Nothing is open."""


class FileCheckpoint:
    """Files below the agent's root, as a kubelet has them, and one more.

    Claims are written twice: at once to the end of a journal, which survives the agent's own death, and a little later,
    forced to the disk, to the file that survives the machine's. Nobody waits for the disk; of the two the later is
    read. Why: docs/adr/0017.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._generation = 0
        self._saved_generation = 0
        self._journal_bytes = 0
        self._writing = asyncio.Lock()  # one write of the journal at a time, in order
        self._writing_health = asyncio.Lock()  # one write of the health file at a time
        self._is_closing = threading.Event()
        self._disk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")
        self._for_disk: bytes | None = None
        self._for_disk_lock = threading.Lock()  # guards `_for_disk`: the loop puts it down, the disk's thread takes it

    def load_claims(self) -> PreparedClaims:
        """Read the later of the files, or begin with an empty one.

        Raises CheckpointCorrupt if the durable one cannot be read; of the other, a power failure may leave anything.
        """
        self._root.mkdir(mode=0o750, parents=True, exist_ok=True)
        file = self._root / _CLAIMS_FILE
        try:
            best = decode_checkpoint(file.read_bytes())
        except FileNotFoundError:
            best = Recalled(PreparedClaims(), 0)
        except CheckpointCorrupt as fault:
            hint = "drain the node, delete the file, and start again"
            raise CheckpointCorrupt(f"{file}: {fault}; {hint}") from fault
        journal = self._read_journal()
        if journal is not None and journal.generation > best.generation:
            best = journal
        self._generation = self._saved_generation = best.generation
        write_atomically(file, encode_checkpoint(best.claims, best.generation), mode=0o600)
        (self._root / _JOURNAL_FILE).unlink(missing_ok=True)
        return best.claims

    def _read_journal(self) -> Recalled | None:
        """The latest entry that is whole. A save that was given up may have come after a later one."""
        entries: list[Recalled] = []
        with suppress(FileNotFoundError):
            for line in (self._root / _JOURNAL_FILE).read_bytes().splitlines():
                with suppress(CheckpointCorrupt):
                    entries.append(decode_checkpoint(line))
        return max(entries, key=lambda each: each.generation, default=None)

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Write both files; returns once the first write is done. Saves that come together share one."""
        self._generation += 1
        mine = self._generation
        async with self._writing:
            if self._saved_generation >= mine:
                return
            generation = self._generation
            text = encode_checkpoint(claims, generation)
            is_fresh = self._journal_bytes > _MOST_JOURNAL_BYTES
            write = _begin_anew if is_fresh else _append
            with _complaining():
                await asyncio.to_thread(write, self._root / _JOURNAL_FILE, text + b"\n")
            self._journal_bytes = len(text) + (0 if is_fresh else self._journal_bytes)
            self._saved_generation = generation
            self._hand_to_disk(text)

    def _hand_to_disk(self, text: bytes) -> None:
        """Have the disk's thread write this, in place of what it has not begun with: one write catches up with all."""
        if self._is_closing.is_set():
            return
        with self._for_disk_lock:
            is_due = self._for_disk is not None
            self._for_disk = text
        if not is_due:
            self._disk.submit(self._write_durably)

    def _write_durably(self) -> None:
        """Runs in the thread of the disk. What fails is left to the journal, and to the next save."""
        self._is_closing.wait(_DISK_SECONDS)
        with self._for_disk_lock:
            text, self._for_disk = self._for_disk, None
        if text is not None:
            with suppress(OSError):
                write_atomically(self._root / _CLAIMS_FILE, text, mode=0o600)

    def load_health(self, log: Log) -> HealthBook:
        """Read the file if there is one."""
        file = self._root / _HEALTH_FILE
        try:
            return decode_health(file.read_bytes())
        except FileNotFoundError:
            return HealthBook()
        except ValueError as fault:
            log.error("health of devices is not readable", err=fault)
            return HealthBook()

    async def save_health(self, book: HealthBook) -> None:
        """Write the file. It need not survive the machine: reports are old by then."""
        async with self._writing_health:
            text = encode_health(book)
            with _complaining():
                await asyncio.to_thread(write_atomically, self._root / _HEALTH_FILE, text, mode=0o600, durable=False)

    def close(self) -> None:
        """Wait until everything is on the disk."""
        self._is_closing.set()
        self._disk.shutdown()


@contextmanager
def _complaining() -> Iterator[None]:
    """A disk that is full, or gone, in our words."""
    try:
        yield
    except OSError as fault:
        raise CheckpointFailed(str(fault)) from fault


def _append(file: Path, entry: bytes) -> None:
    """Put an entry at the end of a journal. One that a full disk cut short is no entry: the next begins a line."""
    descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if os.write(descriptor, entry) < len(entry):
            os.write(descriptor, b"\n")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(file))
    finally:
        os.close(descriptor)


def _begin_anew(file: Path, entry: bytes) -> None:
    """Put an entry in the place of a journal: it holds all that the ones before it do."""
    write_atomically(file, entry, mode=0o600, durable=False)
