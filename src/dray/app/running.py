"""Which dray runs on a data directory: a file that its process holds locked and in which it says how it is reached.

The system drops the lock when the process ends, however it ends. So a lock that is held is the proof that the number in
the file is still that process, and a file without a lock says nothing.
"""

import fcntl
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from dray.effects.clock import Clock
from dray.errors import DrayError

__all__ = ["AlreadyRunning", "NotEnding", "RunRecord", "end_running", "find_running", "hold_run_file", "log_path"]

_WHOLE: Final = "dray"
_POLL_SECONDS: Final = 0.05
_PATIENCE_SECONDS: Final = 60.0
"""Pods of a process runtime may take their grace period to end."""


class RunRecord(Struct, frozen=True, rename="camel"):
    """What a process says of itself. Without an address it is still on its way."""

    pid: int = 0
    since: str = ""
    """RFC 3339."""
    part: str = ""
    """What runs alone; empty for a whole cluster."""
    address: str = ""
    kubeconfig: str = ""
    log: str = ""
    """Where it writes, if it is in the background."""


class AlreadyRunning(DrayError):
    """Another process runs on the data directory."""

    def __init__(self, folder: Path, record: RunRecord) -> None:
        at = f" at {record.address}" if record.address else ""
        super().__init__(f"dray runs on {folder} already, as process {record.pid}{at}")
        self.hint = f"dray down --data-dir {folder}, or another --data-dir"


class NotEnding(DrayError):
    """A process does not end, or may not be asked to."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def log_path(folder: Path, part: str = "") -> Path:
    """Where a process in the background writes."""
    return folder / f"{part or _WHOLE}.log"


@contextmanager
def hold_run_file(folder: Path, part: str = "") -> Iterator[Callable[[RunRecord], None]]:
    """Be the one that runs there, for the length of a block; yields what to say it with. Raises AlreadyRunning."""
    descriptor = os.open(_place(folder, part), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as fault:
            raise AlreadyRunning(folder, _read(descriptor)) from fault

        def write(record: RunRecord) -> None:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, msgspec.json.encode(record), 0)

        write(RunRecord(pid=os.getpid(), part=part))
        yield write
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)


def find_running(folder: Path, part: str = "") -> RunRecord | None:
    """Who runs there, if anybody does. Raises OSError for a folder that cannot be looked at."""
    try:
        descriptor = os.open(_place(folder, part), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _read(descriptor)
    else:
        return None
    finally:
        os.close(descriptor)


async def end_running(folder: Path, part: str, clock: Clock) -> RunRecord | None:
    """Ask who runs there to end, and wait until that is done; who it was. Raises NotEnding."""
    record = find_running(folder, part)
    if record is None:
        return None
    try:
        os.kill(record.pid, signal.SIGTERM)
    except ProcessLookupError:
        return record
    except PermissionError as fault:
        raise NotEnding(f"process {record.pid} belongs to another user", f"kill {record.pid}, as that user") from fault
    deadline = clock.monotonic() + _PATIENCE_SECONDS
    while find_running(folder, part) is not None:
        if clock.monotonic() > deadline:
            raise NotEnding(f"process {record.pid} has not ended yet", f"look into its log, or kill -9 {record.pid}")
        await clock.sleep(_POLL_SECONDS)
    return record


def _place(folder: Path, part: str) -> Path:
    return folder / f"{part or _WHOLE}.run"


def _read(descriptor: int) -> RunRecord:
    """What a process has said so far; it may be writing just now."""
    try:
        return msgspec.json.decode(os.pread(descriptor, 65536, 0), type=RunRecord)
    except msgspec.DecodeError:
        return RunRecord()
