"""Files that survive a crash at any moment: there as a whole, or not at all; and locks between processes."""

import errno
import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

__all__ = ["FileLock", "write_atomically"]


def write_atomically(file: Path, text: bytes, *, mode: int, durable: bool = True) -> None:
    """Replace a file's content. After a crash the file has the old content or the new one, never a part.

    A durable one survives a loss of power as well, at the cost of waiting for the disk.

    The temporary file begins with a dot and ends in `.tmp`, which readers of such folders pass over; one that a crash
    left behind is overwritten by the next attempt.
    """
    temporary = file.with_name(f".{file.name}.tmp")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(text)
            stream.flush()
            if durable:
                os.fsync(stream.fileno())
        os.replace(temporary, file)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(file.parent)


def _sync_folder(folder: Path) -> None:
    """Make a rename durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class FileLock:
    """An exclusive lock on a file between processes; the kernel releases it when its holder dies.

    It belongs to the open file, not to the process (`F_OFD_SETLK`), so two holders in one process exclude each other
    too, and it meets the lock of drivers written with Kubernetes' library.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = None

    def try_take(self) -> bool:
        """Take the lock unless somebody has it."""
        descriptor = os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            # struct flock: type, whence, start, length 0 (the whole file), pid 0, as open file locks demand.
            fcntl.fcntl(descriptor, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        except OSError as fault:
            os.close(descriptor)
            if fault.errno in (errno.EACCES, errno.EAGAIN):
                return False
            raise
        self._descriptor = descriptor
        return True

    def release(self) -> None:
        """Let go. Not holding the lock is no error."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
