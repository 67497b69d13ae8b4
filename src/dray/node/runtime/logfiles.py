"""Logs of containers in files, as container runtimes write them: a line each, with its time; rotated as they grow.

Readers read the files, also those who follow: a reader that is slower than the container costs no memory, and misses
only what was rotated away before it came there.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Final

from dray.client.port import LogOptions
from dray.effects.clock import Clock
from dray.node.runtime.lines import LogLine, decode_line, encode_lines, find_since, render_lines

__all__ = ["KeptLog", "LogFile"]

_MOST_BYTES: Final = 10 << 20
_MOST_FILES: Final = 5
"""Those of a kubelet: 10 MiB a file, five files."""
_MOST_LINE_BYTES: Final = 16 << 10
"""Longer lines are written in parts."""
_PIECE_BYTES: Final = 64 << 10
"""Read at once."""


class KeptLog:
    """The log of one run of a container, which has ended; its files are there.

    Files are numbered in the order in which they were begun; the last one has no number in its name.
    """

    def __init__(self, file: Path, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._followers: set[asyncio.Event] = set()
        self._size_bytes = file.stat().st_size if file.exists() else 0
        self.is_complete = True
        """Whether the container has ended: nothing more will come."""
        self.last_number = _count_rotated(file)
        """Of the file without a number."""

    @property
    def first_number(self) -> int:
        """Of the oldest file that is kept."""
        return max(0, self.last_number - _MOST_FILES + 1)

    @property
    def end(self) -> tuple[int, int]:
        """Where the log ends now: the number of the file, and the bytes in it."""
        return self.last_number, self._size_bytes

    def find_file(self, number: int) -> Path:
        """The file of a number."""
        return self._file if number == self.last_number else self._file.with_name(f"{self._file.name}.{number}")

    def tail(self, *, lines: int, size_bytes: int) -> str:
        """The end of the log as text, for a last message."""
        reader = _Reader(self, self._find_start(lines))
        try:
            kept = deque((each.text.decode(errors="replace") for each in reader.rest()), maxlen=lines)
        finally:
            reader.close()
        return "\n".join(kept).encode()[-size_bytes:].decode(errors="ignore")

    async def read(self, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """What was asked for, and if it is to be followed, what comes, until the container ends."""
        changed = asyncio.Event()
        self._followers.add(changed)
        reader = _Reader(self, self._find_start(options.tail_lines))
        try:
            async for piece in self._read_kept(reader, options):
                yield piece
            while options.follow:
                changed.clear()
                is_complete = self.is_complete
                lines = reader.read()
                if lines is not None:
                    yield b"".join(render_lines(lines, options))
                elif is_complete:
                    return
                else:
                    await changed.wait()
        finally:
            self._followers.discard(changed)
            reader.close()

    async def _read_kept(self, reader: "_Reader", options: LogOptions) -> AsyncGenerator[bytes, None]:
        """What is there already; a container that goes on writing does not make it longer."""
        end, since = self.end, find_since(options, self._clock.now())
        last: deque[LogLine] | None = None if options.tail_lines is None else deque(maxlen=options.tail_lines)
        while reader.position < end and (lines := reader.read()) is not None:
            wanted = [each for each in lines if since is None or each.at >= since]
            if last is not None:
                last.extend(wanted)
            elif wanted:
                yield b"".join(render_lines(wanted, options))
            await asyncio.sleep(0)  # a long log is not read in one go: others wait for their turn, too
        if last:
            yield b"".join(render_lines(last, options))

    def _find_start(self, lines: int | None) -> tuple[int, int]:
        """Where the last so many lines begin: in which file, and where in it. None means all lines."""
        if lines is None:
            return self.first_number, 0
        for number in range(self.last_number, self.first_number - 1, -1):
            body = b""
            with suppress(OSError):
                body = self.find_file(number).read_bytes()
            found = body.count(b"\n")
            if found >= lines:
                return number, _find_last(body, lines)
            lines -= found
        return self.first_number, 0

    def remove(self) -> None:
        """Delete the files."""
        for number in range(self.first_number, self.last_number + 1):
            self.find_file(number).unlink(missing_ok=True)


class LogFile(KeptLog):
    """The log of a container that runs. Owned by the runtime that runs it; any number of readers may follow."""

    def __init__(self, file: Path, clock: Clock, *, most_bytes: int = _MOST_BYTES) -> None:
        super().__init__(file, clock)
        self._most_bytes = most_bytes
        self._pending: dict[str, bytes] = {}
        self._is_torn = False
        self._stream = file.open("wb", buffering=0)
        self._size_bytes = 0
        self.is_complete = False

    def write(self, stream: str, piece: bytes) -> None:
        """Take what a container wrote, in pieces of any length. What the disk does not take is lost."""
        text = self._pending.pop(stream, b"") + piece
        whole, newline, rest = text.rpartition(b"\n")
        lines = _cut(whole.split(b"\n"), is_open=False) if newline else []
        if len(rest) > _MOST_LINE_BYTES:
            *parts, (rest, _) = _cut([rest], is_open=True)
            lines += parts
        if rest:
            self._pending[stream] = rest
        self._put(stream, lines)
        if self._size_bytes >= self._most_bytes:
            self._rotate()

    def close(self) -> None:
        """The container has ended: what is left is a line, though none ended it."""
        for stream, rest in sorted(self._pending.items()):
            self._put(stream, [(rest, True)])
        self._pending.clear()
        with suppress(OSError):
            self._stream.close()
        self.is_complete = True
        self._tell_followers()

    def _put(self, stream: str, lines: list[tuple[bytes, bool]]) -> None:
        if not lines:
            return
        body = encode_lines(self._clock.now(), stream, lines)
        if self._is_torn:
            body = b"\n" + body
        with suppress(OSError):
            written = self._stream.write(body)
            self._size_bytes += written
            self._is_torn = written < len(body)
        self._tell_followers()

    def _tell_followers(self) -> None:
        for follower in self._followers:
            follower.set()

    def _rotate(self) -> None:
        """Begin a new file. Where the disk does not let us, the old one goes on."""
        kept = self._file.with_name(f"{self._file.name}.{self.last_number}")
        with suppress(OSError):
            self._file.rename(kept)
            try:
                stream = self._file.open("wb", buffering=0)
            except OSError:
                kept.rename(self._file)
                raise
            self._stream.close()
            self._stream = stream
            self._size_bytes = 0
            self.last_number += 1
            self.find_file(self.first_number - 1).unlink(missing_ok=True)


class _Reader:
    """Goes through the files of a log, from one place on. An open file is read to its end, deleted or not."""

    def __init__(self, log: KeptLog, start: tuple[int, int]) -> None:
        self._log = log
        self._number, self._offset = start
        self._stream: FileIO | None = None
        self._rest = b""

    @property
    def position(self) -> tuple[int, int]:
        """How far it is: the number of the file, and the bytes of it that were read."""
        return self._number, self._offset

    def read(self) -> list[LogLine] | None:
        """The next lines, perhaps none for now; None where the log ends so far."""
        while True:
            piece = self._read_piece()
            if piece:
                *lines, self._rest = (self._rest + piece).split(b"\n")
                return list(filter(None, map(decode_line, lines)))
            if self._number >= self._log.last_number:
                return None
            self.close()
            self._number, self._offset, self._rest = max(self._number + 1, self._log.first_number), 0, b""

    def rest(self) -> Iterator[LogLine]:
        """All lines up to where the log ends so far."""
        while (lines := self.read()) is not None:
            yield from lines

    def _read_piece(self) -> bytes:
        try:
            if self._stream is None:
                self._stream = self._log.find_file(self._number).open("rb", buffering=0)
                self._stream.seek(self._offset)
            piece = self._stream.read(_PIECE_BYTES)
        except OSError:  # rotated away before it came here, or removed
            return b""
        self._offset += len(piece)
        return piece

    def close(self) -> None:
        """Let go of the file."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None


def _count_rotated(file: Path) -> int:
    """How many files were begun before this one."""
    numbers = [each.suffix.removeprefix(".") for each in file.parent.glob(f"{file.name}.*")]
    return max((int(each) + 1 for each in numbers if each.isdecimal()), default=0)


def _find_last(body: bytes, lines: int) -> int:
    """Where the last so many lines of a file begin."""
    at = len(body)
    for _ in range(lines + 1):
        at = body.rfind(b"\n", 0, at)
        if at < 0:
            return 0
    return at + 1


def _cut(lines: list[bytes], *, is_open: bool) -> list[tuple[bytes, bool]]:
    """Lines in parts that are not too long, and whether each goes on in the next; `is_open`: so does the last one."""
    if max(map(len, lines)) <= _MOST_LINE_BYTES:
        return [(line, is_open) for line in lines]
    parts: list[tuple[bytes, bool]] = []
    for line in lines:
        starts = range(0, max(1, len(line)), _MOST_LINE_BYTES)
        pieces = [line[start : start + _MOST_LINE_BYTES] for start in starts]
        parts += [(each, True) for each in pieces[:-1]]
        parts.append((pieces[-1], is_open))
    return parts
