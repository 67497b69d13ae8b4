"""Small files that someone else replaces while we run: rotated tokens and certificates."""

from pathlib import Path

__all__ = ["FileContent"]


class FileContent:
    """The content of a file, read again whenever the file was changed or replaced."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._content = b""

    def read(self) -> bytes:
        """What the file holds now. Raises OSError; a file that is gone keeps its last content, as it may come back."""
        try:
            found = self.path.stat()
            seen = (found.st_mtime_ns, found.st_ino, found.st_size)
            if seen != self._seen:
                self._content = self.path.read_bytes()
                self._seen = seen
        except OSError:
            if self._seen is None:
                raise
        return self._content
