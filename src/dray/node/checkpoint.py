"""Where the agent keeps its memory of prepared claims and of devices' health: files, or nothing at all."""

import asyncio
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Final, Protocol

from dray.driver.files import write_atomically
from dray.effects.log import Log
from dray.node.core.checkpoint import CheckpointCorrupt, Recalled, decode_checkpoint, encode_checkpoint
from dray.node.core.health import HealthBook, decode_health, encode_health
from dray.node.core.prepared_claims import PreparedClaims

__all__ = ["Checkpoint", "FileCheckpoint", "NoCheckpoint"]

_CLAIMS_FILE: Final = "dra_manager_state"
_JOURNAL_FILE: Final = "dra_manager_state.journal"
_DISK_SECONDS: Final = 0.5
"""How long changes gather before the disk is waited for: pods that start together share one wait."""
_MOST_JOURNAL_BYTES: Final = 1 << 20
"""Past this the journal is begun anew, at a calm moment."""
_HEALTH_FILE: Final = "dra_health_state"


class Checkpoint(Protocol):
    """The agent's memory across restarts."""

    def load_claims(self) -> PreparedClaims:
        """What was saved last. Raises CheckpointCorrupt."""
        ...

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Keep the claims as they are now; returns once they survive the death of the process."""
        ...

    def load_health(self, log: Log) -> HealthBook:
        """What was saved last; what cannot be read is forgotten, and said so."""
        ...

    async def save_health(self, book: HealthBook) -> None:
        """Keep what is known of devices."""
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
        self._durable_generation = 0
        self._journal_bytes = 0
        self._writing = asyncio.Lock()  # one write of the journal at a time, in order
        self._writing_health = asyncio.Lock()  # one write of the health file at a time
        self._is_closing = threading.Event()
        self._disk = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")

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
        self._generation = self._saved_generation = self._durable_generation = best.generation
        write_atomically(file, encode_checkpoint(best.claims, best.generation), mode=0o600)
        (self._root / _JOURNAL_FILE).unlink(missing_ok=True)
        return best.claims

    def _read_journal(self) -> Recalled | None:
        """The last entry that is whole."""
        with suppress(FileNotFoundError):
            for line in reversed((self._root / _JOURNAL_FILE).read_bytes().splitlines()):
                with suppress(CheckpointCorrupt):
                    return decode_checkpoint(line)
        return None

    async def save_claims(self, claims: PreparedClaims) -> None:
        """Write both files; returns once the first write is done. Saves that come together share one."""
        self._generation += 1
        mine = self._generation
        async with self._writing:
            if self._saved_generation >= mine:
                return
            # What the journal holds may be dropped once it is on the disk. Rarely: truncating waits for the disk, too.
            is_on_disk = self._durable_generation >= self._saved_generation
            is_fresh = is_on_disk and self._journal_bytes > _MOST_JOURNAL_BYTES
            generation = self._generation
            text = encode_checkpoint(claims, generation)
            await asyncio.to_thread(_append, self._root / _JOURNAL_FILE, text, is_fresh=is_fresh)
            self._journal_bytes = len(text) + (0 if is_fresh else self._journal_bytes)
            self._saved_generation = generation
            self._disk.submit(self._write_durably, text, generation)

    def _write_durably(self, text: bytes, generation: int) -> None:
        """Runs in the thread of the disk. What was overtaken meanwhile is not written."""
        self._is_closing.wait(_DISK_SECONDS)
        if generation == self._saved_generation:
            write_atomically(self._root / _CLAIMS_FILE, text, mode=0o600)
            self._durable_generation = generation

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
            await asyncio.to_thread(write_atomically, self._root / _HEALTH_FILE, text, mode=0o600, durable=False)

    def close(self) -> None:
        """Wait until everything is on the disk."""
        self._is_closing.set()
        self._disk.shutdown()


def _append(file: Path, text: bytes, *, is_fresh: bool) -> None:
    """Put an entry at the end of a journal, or begin it anew."""
    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if is_fresh else os.O_APPEND)
    descriptor = os.open(file, flags, 0o600)
    try:
        os.write(descriptor, text + b"\n")
    finally:
        os.close(descriptor)
