"""Lines of a watch: from chunks of bytes to events."""

from typing import TypeVar

import msgspec
from msgspec import Struct

from dray.api.codec import Codec
from dray.api.meta import ApiObject, Status
from dray.client.failures import describe_status
from dray.client.port import Unreachable, WatchEvent, WatchEventType
from dray.errors import ApiError, BadRequest

__all__ = ["LineSplitter", "decode_watch_line"]

K = TypeVar("K", bound=ApiObject)


class LineSplitter:
    """Cuts chunks into lines. A line is handed out once its end has come; memory is bounded by `limit`."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def holds_part(self) -> bool:
        """Whether a line has begun and not ended."""
        return any(part.strip() for part in self._parts)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk ends, without blank ones. Raises Unreachable for a line beyond the limit."""
        first, *rest = chunk.split(b"\n")
        self._parts.append(first)
        self._size += len(first)
        if self._size > self._limit:
            raise Unreachable(f"a line of the watch exceeds {self._limit} bytes")
        if not rest:
            return []
        lines = [b"".join(self._parts), *rest[:-1]]
        self._parts = [rest[-1]]
        self._size = len(rest[-1])
        return [line for line in lines if line.strip()]


class _WireEvent(Struct):
    type: str
    object: msgspec.Raw


_EVENT = msgspec.json.Decoder(_WireEvent)
_STATUS = msgspec.json.Decoder(Status)


def decode_watch_line(line: bytes, codec: Codec[K]) -> WatchEvent[K]:
    """The event of a line. Raises the ApiError that an ERROR event tells, and Unreachable for what is no event."""
    try:
        event = _EVENT.decode(line)
        if event.type == "ERROR":
            raise _decode_error(bytes(event.object))
        return WatchEvent(WatchEventType(event.type), codec.decode(event.object))
    except (msgspec.DecodeError, ValueError, BadRequest) as fault:
        raise Unreachable(f"the watch sent a line that is no event: {fault}") from fault


def _decode_error(text: bytes) -> ApiError:
    return describe_status(_STATUS.decode(text))
