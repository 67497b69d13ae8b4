"""Logs of containers in files, as container runtimes write them: a line each, with its time; rotated as they grow."""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from pathlib import Path
from typing import Final

from dray.client.port import LogOptions
from dray.effects.clock import Clock
from dray.node.runtime.lines import LogLine, decode_line, encode_line, render_lines, select_lines

__all__ = ["LogFile"]

_MOST_BYTES: Final = 10 << 20
_MOST_FILES: Final = 5
"""Those of a kubelet: 10 MiB a file, five files."""
_MOST_LINE_BYTES: Final = 16 << 10
"""Longer lines are written in parts."""


class LogFile:
    """The log of one run of a container. Owned by the runtime that runs it; any number of readers may follow."""

    def __init__(self, file: Path, clock: Clock, *, most_bytes: int = _MOST_BYTES) -> None:
        self._file = file
        self._clock = clock
        self._most_bytes = most_bytes
        self._pending: dict[str, bytes] = {}
        self._followers: set[asyncio.Queue[LogLine | None]] = set()
        self._is_complete = False
        file.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
        self._stream = file.open("ab")

    def write(self, stream: str, piece: bytes) -> None:
        """Take what a container wrote, in pieces of any length."""
        text = self._pending.pop(stream, b"") + piece
        *lines, rest = text.split(b"\n")
        for line in lines:
            self._put_parts(stream, line, is_whole=True)
        while len(rest) > _MOST_LINE_BYTES:
            self._put(stream, rest[:_MOST_LINE_BYTES], is_partial=True)
            rest = rest[_MOST_LINE_BYTES:]
        if rest:
            self._pending[stream] = rest
        self._stream.flush()
        if self._stream.tell() >= self._most_bytes:
            self._rotate()

    def close(self) -> None:
        """The container has ended: what is left is a line, though none ended it."""
        for stream, rest in sorted(self._pending.items()):
            self._put(stream, rest, is_partial=True)
        self._pending.clear()
        self._stream.close()
        self._is_complete = True
        for follower in self._followers:
            follower.put_nowait(None)

    def _put_parts(self, stream: str, line: bytes, *, is_whole: bool) -> None:
        while len(line) > _MOST_LINE_BYTES:
            self._put(stream, line[:_MOST_LINE_BYTES], is_partial=True)
            line = line[_MOST_LINE_BYTES:]
        self._put(stream, line, is_partial=not is_whole)

    def _put(self, stream: str, text: bytes, *, is_partial: bool) -> None:
        line = LogLine(self._clock.now(), stream, text, is_partial)
        self._stream.write(encode_line(line))
        for follower in self._followers:
            follower.put_nowait(line)

    def _rotate(self) -> None:
        self._stream.close()
        for number in range(_MOST_FILES - 1, 0, -1):
            older = self._numbered(number)
            if older.exists():
                if number == _MOST_FILES - 1:
                    older.unlink()
                else:
                    older.rename(self._numbered(number + 1))
        self._file.rename(self._numbered(1))
        self._stream = self._file.open("ab")

    def _numbered(self, number: int) -> Path:
        return self._file.with_name(f"{self._file.name}.{number}")

    def lines(self) -> Iterator[LogLine]:
        """Everything that is kept, oldest first."""
        files = [self._numbered(number) for number in range(_MOST_FILES, 0, -1)]
        for file in (*files, self._file):
            if file.exists():
                with file.open("rb") as stream:
                    yield from filter(None, map(decode_line, stream))

    def tail(self, *, lines: int, size_bytes: int) -> str:
        """The end of the log as text, for a last message."""
        kept = [each.text.decode(errors="replace") for each in self.lines()][-lines:]
        return "\n".join(kept).encode()[-size_bytes:].decode(errors="ignore")

    async def read(self, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """What was asked for, and if it is to be followed, what comes, until the container ends."""
        following: asyncio.Queue[LogLine | None] = asyncio.Queue()
        self._followers.add(following)
        is_complete = self._is_complete
        try:
            for piece in render_lines(select_lines(self.lines(), options, self._clock.now()), options):
                yield piece
            while options.follow and not is_complete:
                line = await following.get()
                if line is None:
                    return
                for piece in render_lines([line], options):
                    yield piece
        finally:
            self._followers.discard(following)

    def remove(self) -> None:
        """Delete the files."""
        for number in range(1, _MOST_FILES + 1):
            self._numbered(number).unlink(missing_ok=True)
        self._file.unlink(missing_ok=True)
