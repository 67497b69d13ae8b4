"""A server on loopback that answers as it is told, rightly or wrongly, byte by byte."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

__all__ = ["Answer", "RawRequest", "RawServer", "chunk", "hang", "reply", "serve_raw", "slam", "stream"]


@dataclass(frozen=True)
class RawRequest:
    method: str
    target: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[asyncio.StreamWriter], Awaitable[None]]
"""Writes an answer. The connection is kept if it returns, and closed if it raises ConnectionError."""


def reply(code: int, body: bytes = b"", **headers: str) -> Answer:
    """A complete answer; `_` in the name of a header stands for `-`."""

    async def write(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {code} Said", f"Content-Length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)

    return write


def chunk(text: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(text), text)


def stream(*parts: bytes, ends: bool = True, hangs: bool = False) -> Answer:
    """An answer in chunks that ends well, breaks off, or stays open."""

    async def write(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
        for part in parts:
            writer.write(chunk(part))
            await writer.drain()
        if hangs:
            await asyncio.Event().wait()
        if not ends:
            raise ConnectionError
        writer.write(b"0\r\n\r\n")

    return write


async def hang(writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def slam(writer: asyncio.StreamWriter) -> None:
    """Close the connection without a word."""
    raise ConnectionError


@dataclass
class RawServer:
    """Answers one request after the other with `answers`, and with the last of them for ever."""

    answers: list[Answer]
    url: str = ""
    requests: list[RawRequest] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    certificates: list[object] = field(default_factory=list)
    """Names of the clients that showed a certificate."""

    connections: int = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        peer = writer.get_extra_info("peercert")
        if peer:
            self.certificates.append(peer["subject"][0][0][1])
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                while True:
                    self.requests.append(await _read_request(reader))
                    self.arrived.set()
                    answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                    await answer(writer)
                    await writer.drain()
        finally:
            writer.close()


async def _read_request(reader: asyncio.StreamReader) -> RawRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    first, *lines = head.strip().split("\r\n")
    method, target, _ = first.split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return RawRequest(method, target, headers, body)


@asynccontextmanager
async def serve_raw(answers: Iterable[Answer], tls: ssl.SSLContext | None = None) -> AsyncGenerator[RawServer, None]:
    """Serve on a free port of loopback."""
    server = RawServer(list(answers))
    open_tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_tasks.add(asyncio.ensure_future(server.handle(reader, writer)))

    listening = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    server.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    try:
        yield server
    finally:
        listening.close()
        for task in open_tasks:
            task.cancel()
        await asyncio.gather(*open_tasks, return_exceptions=True)
        await listening.wait_closed()
