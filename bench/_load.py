"""A load generator for API servers: plain HTTP/1.1 over TLS, with as little of its own to do as possible.

Connections speak strictly in turn: one request, one answer with a Content-Length or in chunks.
"""

import asyncio
import base64
import re
import ssl
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, cast
from urllib.parse import urlsplit

import yaml

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LAST_CHUNK = b"0\r\n\r\n"
SLICE = 64
"""Connections opened at once; handshakes are work for both sides."""


class Server(NamedTuple):
    """Where a server is, and who we are to it."""

    host: str
    port: int
    tls: ssl.SSLContext
    token: str = ""

    def head(self, method: str, path: str, body: bytes = b"") -> bytes:
        """A complete request."""
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", "User-Agent: bench/1"]
        lines.append("Accept: application/json")
        if self.token:
            lines.append(f"Authorization: Bearer {self.token}")
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return "\r\n".join(lines).encode() + HEAD_END + body


def read_kubeconfig(file: Path) -> Server:
    """The server and the user of a kubeconfig with one of each, everything embedded."""
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    tls = ssl.create_default_context(cadata=authority)
    if "client-certificate-data" in user:
        with tempfile.NamedTemporaryFile(suffix=".pem") as pair:
            pair.write(base64.b64decode(user["client-certificate-data"]))
            pair.write(base64.b64decode(user["client-key-data"]))
            pair.flush()
            tls.load_cert_chain(pair.name)
    address = urlsplit(cluster["server"])
    return Server(address.hostname or "", address.port or 443, tls, user.get("token", ""))


class Answer(NamedTuple):
    """Status code and body; the body of a chunked answer still has its chunk sizes."""

    code: int
    body: bytes


class Connection(asyncio.Protocol):
    """One keep-alive connection."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._received = bytearray()
        self._waiting: asyncio.Future[Answer] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one, but not by name

    def ask(self, request: bytes) -> "asyncio.Future[Answer]":
        assert self._transport is not None
        self._waiting = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return self._waiting

    def data_received(self, data: bytes) -> None:
        self._received += data
        head = self._received.find(HEAD_END)
        if head < 0 or self._waiting is None:
            return
        begin = head + len(HEAD_END)
        if (length := LENGTH.search(self._received, 0, begin)) is not None:
            end = begin + int(length[1])
            if len(self._received) < end:
                return
        elif self._received.endswith(LAST_CHUNK):
            end = len(self._received)
        else:
            return
        answer = Answer(int(self._received[9:12]), bytes(self._received[begin:end]))
        del self._received[:end]
        self._waiting.set_result(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(exc or ConnectionError("the server closed the connection"))

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


async def connect(server: Server, count: int) -> list[Connection]:
    loop = asyncio.get_running_loop()
    made: list[Connection] = []
    while len(made) < count:
        some = [
            loop.create_connection(Connection, server.host, server.port, ssl=server.tls)
            for _ in range(min(SLICE, count - len(made)))
        ]
        made += [connection for _, connection in await asyncio.gather(*some)]
    return made


async def run_requests(connections: Sequence[Connection], requests: Sequence[bytes], want: int) -> float:
    """Send all requests over all connections; returns seconds a request. Any other answer than `want` ends it."""
    left = iter(requests)

    async def speak(connection: Connection) -> None:
        for request in left:
            answer = await connection.ask(request)
            if answer.code != want:
                raise RuntimeError(f"answer {answer.code} instead of {want}: {answer.body[:500]!r}")

    begin = time.perf_counter()
    await asyncio.gather(*map(speak, connections))
    return (time.perf_counter() - begin) / len(requests)


class Watcher(asyncio.Protocol):
    """Reads one watch for ever and notes the numbers in the names of objects as they arrive.

    Lines may be cut anywhere; sizes of chunks stand between them and do no harm.
    """

    NUMBER = re.compile(rb'"name":"w-(\d+)"')

    def __init__(self, request: bytes, note: Callable[[list[bytes]], None]) -> None:
        self._request = request
        self._note = note
        self._tail = b""
        self.numbers: list[bytes] = []
        self.error: Exception | None = None
        self.is_closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's is one, but not by name
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        text = self._tail + data
        end = text.rfind(b"\n") + 1
        self._tail = text[end:]
        found = self.NUMBER.findall(text, 0, end)
        if found:
            self.numbers += found
            self._note(found)

    def connection_lost(self, exc: Exception | None) -> None:
        self.error, self.is_closed = exc, True

    def close(self) -> None:
        self._transport.close()


async def open_watches(server: Server, path: str, count: int, note: Callable[[list[bytes]], None]) -> list[Watcher]:
    loop = asyncio.get_running_loop()
    request = server.head("GET", path)
    made: list[Watcher] = []
    while len(made) < count:
        some = [
            loop.create_connection(lambda: Watcher(request, note), server.host, server.port, ssl=server.tls)
            for _ in range(min(SLICE, count - len(made)))
        ]
        made += [watcher for _, watcher in await asyncio.gather(*some)]
    return made
