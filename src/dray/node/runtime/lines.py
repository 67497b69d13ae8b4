"""Lines of containers' logs, and which of them someone asked for."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from dray.client.port import LogOptions
from dray.values.times import MicroTime, Time, parse_micro_time

__all__ = ["LogLine", "decode_line", "encode_lines", "find_since", "render_lines", "select_lines"]


_STAMP: Final = re.compile(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


class LogLine(NamedTuple):
    """One line, or a part of a very long one."""

    stamp: bytes
    """When it was written, as log files have it."""
    text: bytes
    is_partial: bool = False
    """Whether the line goes on in the next."""

    @property
    def at(self) -> MicroTime:
        """When it was written."""
        return parse_micro_time(self.stamp.decode())


def encode_lines(at: MicroTime, stream: str, lines: Sequence[tuple[bytes, bool]]) -> bytes:
    """Lines of a log file, in the format of container runtimes; of each, whether it goes on in the next."""
    whole, partial = f"{at} {stream} F ".encode(), f"{at} {stream} P ".encode()
    return b"".join([(partial if is_partial else whole) + text + b"\n" for text, is_partial in lines])


def decode_line(text: bytes) -> LogLine | None:
    """One of them, without its end; None for what is no line, such as one that a full disk cut short."""
    parts = text.split(b" ", 3)
    if len(parts) != 4 or _STAMP.fullmatch(parts[0]) is None:
        return None
    return LogLine(parts[0], parts[3], parts[2] == b"P")


def find_since(options: LogOptions, now: MicroTime) -> MicroTime | None:
    """From when on lines are wanted."""
    if options.since_seconds is not None:
        return now.plus_seconds(-options.since_seconds)
    return options.since_time.to_micro_time() if isinstance(options.since_time, Time) else None


def select_lines(lines: Iterable[LogLine], options: LogOptions, now: MicroTime) -> list[LogLine]:
    """The lines of what is there that were asked for."""
    since = find_since(options, now)
    wanted = (line for line in lines if since is None or line.at >= since)
    return list(wanted if options.tail_lines is None else deque(wanted, maxlen=options.tail_lines))


def render_lines(lines: Iterable[LogLine], options: LogOptions) -> Iterator[bytes]:
    """What is sent for lines; each begins with its time where that was asked for."""
    for line in lines:
        # With nine decimals, as container runtimes write it.
        stamp = line.stamp.removesuffix(b"Z") + b"000Z " if options.timestamps else b""
        yield stamp + line.text + (b"" if line.is_partial else b"\n")
