"""Requests and replies as the ASGI server hands them over, with nothing between."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final

from msgspec import Struct

from dray.api.codec import encode_value
from dray.api.meta import Status
from dray.errors import ApiError, BadRequest, Invalid
from dray.server.faults import MAX_BODY_BYTES, BodyTooLarge, describe_failure

__all__ = [
    "HttpCall",
    "Receive",
    "Reply",
    "Scope",
    "Send",
    "reply_failure",
    "reply_status",
    "send_reply",
    "warning_headers",
]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_BODY_SECONDS: Final = 60.0
"""How long a body may take to arrive: who sends slower holds a connection for nothing."""
_MAX_WARNING_CHARACTERS: Final = 512
_MAX_WARNINGS_CHARACTERS: Final = 4096
"""All warnings of an answer: clients limit the size of headers."""


class HttpCall:
    """One request. Headers are those sent, in lower case; of repeated ones the last."""

    __slots__ = ("_receive", "headers", "method", "path", "query", "scope")

    def __init__(self, scope: Scope, receive: Receive) -> None:
        self.scope = scope
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.query: bytes = scope["query_string"]
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self._receive = receive

    def header(self, name: bytes) -> str:
        """A header as text, empty if it was not sent."""
        return self.headers.get(name, b"").decode("latin-1")

    async def body(self) -> bytes:
        """The whole body. Raises `BodyTooLarge`, BadRequest for one that does not come."""
        announced = self.headers.get(b"content-length", b"")
        if announced.isdigit() and int(announced) > MAX_BODY_BYTES:
            raise BodyTooLarge
        message = await self._receive()
        body: bytes = message.get("body", b"")
        if not message.get("more_body"):
            return self._complete(message, body)
        parts, size = [body], len(body)
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while message.get("more_body"):
                    message = await self._receive()
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > MAX_BODY_BYTES:
                        raise BodyTooLarge
        except TimeoutError as fault:
            raise BadRequest("the body of the request did not arrive in time") from fault
        return self._complete(message, b"".join(parts))

    def _complete(self, message: MutableMapping[str, Any], body: bytes) -> bytes:
        if message["type"] == "http.disconnect":
            raise BadRequest("the client went away")
        return body

    async def wait_for_disconnect(self) -> None:
        """Return when the client has gone."""
        while (await self._receive())["type"] != "http.disconnect":
            pass


class Reply(Struct):
    """What is answered. With a stream, `body` is empty and each piece is sent as it comes."""

    code: int
    body: bytes = b""
    media_type: str = "application/json"
    """Empty where there is nothing to be of a type."""
    headers: tuple[tuple[bytes, bytes], ...] = ()
    stream: AsyncGenerator[bytes, None] | None = None


def reply_status(status: Status, code: int = 200) -> Reply:
    """A Status as an answer."""
    return Reply(code, encode_value(status) + b"\n")


def reply_failure(error: ApiError) -> Reply:
    """A failure as an answer: its Status, and hints on what to do as warnings."""
    reply = reply_status(describe_failure(error), error.code)
    retry_after = getattr(error, "retry_after_seconds", 0)
    headers: tuple[tuple[bytes, bytes], ...] = ()
    if retry_after:
        headers = ((b"retry-after", str(retry_after).encode()),)
    if error.code == 403:
        headers = (*headers, (b"x-content-type-options", b"nosniff"))
    if isinstance(error, Invalid):
        hints = [f"{fault.path}: {fault.hint}" for fault in error.faults if fault.hint]
        headers = (*headers, *warning_headers(hints))
    reply.headers = headers
    return reply


def warning_headers(warnings: Iterable[str]) -> tuple[tuple[bytes, bytes], ...]:
    """A Warning header for each text; kubectl prints them. Repeated ones go once, too many not at all."""
    headers: list[tuple[bytes, bytes]] = []
    left = _MAX_WARNINGS_CHARACTERS
    for warning in dict.fromkeys(warnings):
        text = "".join(each if each.isprintable() else " " for each in warning[:_MAX_WARNING_CHARACTERS])
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').encode("ascii", "replace")
        left -= len(quoted)
        if left < 0:
            break
        headers.append((b"warning", b'299 - "%b"' % quoted))
    return tuple(headers)


async def send_reply(reply: Reply, send: Send, base: tuple[tuple[bytes, bytes], ...], *, prefix: str = "http") -> None:
    """Send a reply that is complete; with the prefix `websocket.http`, instead of a WebSocket."""
    about = (b"content-length", str(len(reply.body)).encode()), *base, *reply.headers
    headers = [(b"content-type", reply.media_type.encode()), *about] if reply.media_type else [*about]
    await send({"type": f"{prefix}.response.start", "status": reply.code, "headers": headers})
    await send({"type": f"{prefix}.response.body", "body": reply.body})
