"""Lines of containers' logs, and which of them someone asked for."""

from collections import deque
from collections.abc import Iterable, Iterator

from msgspec import Struct

from dray.client.port import LogOptions
from dray.values.times import MicroTime, Time, parse_micro_time

__all__ = ["LogLine", "decode_line", "encode_line", "find_since", "render_lines", "select_lines"]


class LogLine(Struct, frozen=True):
    """One line, or a part of a very long one."""

    at: MicroTime
    stream: str
    """stdout or stderr."""
    text: bytes
    is_partial: bool = False
    """Whether the line goes on in the next."""


def encode_line(line: LogLine) -> bytes:
    """A line of a log file, in the format of container runtimes."""
    tag = "P" if line.is_partial else "F"
    return f"{line.at} {line.stream} {tag} ".encode() + line.text + b"\n"


def decode_line(text: bytes) -> LogLine | None:
    """The inverse; None for what is no line, such as one that is still being written."""
    parts = text.rstrip(b"\n").split(b" ", 3)
    if len(parts) != 4 or not text.endswith(b"\n"):
        return None
    try:
        at = parse_micro_time(parts[0].decode())
    except ValueError:
        return None
    return LogLine(at, parts[1].decode(errors="replace"), parts[3], parts[2] == b"P")


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
        stamp = f"{_nanoseconds(line.at)} ".encode() if options.timestamps else b""
        yield stamp + line.text + (b"" if line.is_partial else b"\n")


def _nanoseconds(at: MicroTime) -> str:
    """The time with nine decimals, as container runtimes write it."""
    return f"{str(at).removesuffix('Z')}000Z"
