"""Serving an application over HTTP/1.1, in the clear or with TLS: uvicorn on uvloop and httptools."""

import asyncio
import errno
import socket
import ssl
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

import uvicorn
from uvicorn.protocols.websockets.wsproto_impl import WSProtocol

from dray.errors import DrayError
from dray.server.app import Application
from dray.server.identity.peer import PeerProtocol

__all__ = ["Address", "CannotListen", "serve"]

_KEEP_ALIVE_SECONDS: Final = 90
"""Go's clients keep idle connections as long."""
_SHUTDOWN_SECONDS: Final = 2
"""How long requests under way are waited for. Watches are cut: their clients come again."""
_MAX_MESSAGE_BYTES: Final = 1 << 20
"""Of a WebSocket; kubectl sends 32 KiB at most."""
_PING_SECONDS: Final = 30.0
_PONG_SECONDS: Final = 300.0
"""Long: an answer is not read while a command does not read what was sent to it before."""
_BACKLOG: Final = 2048
_HEAD_SECONDS: Final = 60.0
"""How long the head of a request may take to arrive, from the connection or from its first byte on."""
_HEAD_BYTES: Final = 1 << 20
"""How long it may be: as much as Go's servers take."""
_LOOK_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen. Port 0 takes a free one."""

    host: str = "127.0.0.1"
    port: int = 0


_WHY_NOT: Final = {
    errno.EADDRINUSE: ("another process listens there", "another port; 0 takes a free one"),
    errno.EADDRNOTAVAIL: ("it is no address of this machine", "127.0.0.1, or 0.0.0.0 for all addresses"),
    errno.EACCES: ("ports below 1024 take more rights", "a port from 1024 on; 0 takes a free one"),
}


class CannotListen(DrayError):
    """The address is taken, or not to be had."""

    def __init__(self, address: Address, fault: OSError) -> None:
        why, hint = _WHY_NOT.get(fault.errno or 0, (fault.strerror or str(fault), "another address"))
        super().__init__(f"cannot listen on port {address.port} of {address.host}: {why}")
        self.hint = hint


class _Connection(PeerProtocol):
    """Takes no head of a request that is endless, in bytes or in time."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn narrows it
        self._head_began: float | None = self.loop.time()
        self._head_bytes = 0
        super().connection_made(transport)

    def on_message_begin(self) -> None:
        self._head_began = self.loop.time()
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._head_began = None
        self._head_bytes = 0
        super().on_headers_complete()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head_began is not None:
            self._head_bytes += len(data)
            if self._head_bytes > _HEAD_BYTES and not self.transport.is_closing():
                self.transport.write(_HEAD_TOO_LARGE)
                self.transport.close()

    def is_slower_than(self, began: float) -> bool:
        """Whether the head that is awaited began to come, or could have, before then."""
        return self._head_began is not None and self._head_began < began


_HEAD_TOO_LARGE: Final = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
)


async def _close_slow(connections: Collection[object]) -> None:
    """Close connections on which nothing comes, for ever."""
    loop = asyncio.get_running_loop()
    while True:
        await asyncio.sleep(_LOOK_SECONDS)
        began = loop.time() - _HEAD_SECONDS
        for connection in tuple(connections):
            if isinstance(connection, _Connection) and connection.is_slower_than(began):
                connection.transport.close()


class _Server(uvicorn.Server):
    """Leaves signals to whoever runs the process."""

    def install_signal_handlers(self) -> None:
        pass


@asynccontextmanager
async def serve(
    application: Application, address: Address, tls: ssl.SSLContext | None = None
) -> AsyncIterator[Address]:
    """Listen for the length of a block; yields the address that is listened on. Raises CannotListen."""
    config = uvicorn.Config(
        application,
        http=_Connection,
        ws=WSProtocol,
        ws_max_size=_MAX_MESSAGE_BYTES,
        ws_per_message_deflate=False,
        ws_ping_interval=_PING_SECONDS,
        ws_ping_timeout=_PONG_SECONDS,
        lifespan="off",
        log_config=None,
        access_log=False,
        log_level="critical",
        server_header=False,
        date_header=True,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        backlog=_BACKLOG,
    )
    config.load()
    if tls is not None:
        config.ssl = tls
    server = _Server(config)
    server.lifespan = config.lifespan_class(config)
    listener = _listen(address)
    await server.startup(sockets=[listener])
    port = listener.getsockname()[1]
    async with asyncio.TaskGroup() as tasks:
        ticking = tasks.create_task(server.main_loop(), name="serve HTTP")
        closing = tasks.create_task(_close_slow(server.server_state.connections), name="close slow connections")
        try:
            yield Address(address.host, port)
        finally:
            application.end_streams()
            server.should_exit = True
            await ticking
            closing.cancel()
            await server.shutdown(sockets=[listener])


def _listen(address: Address) -> socket.socket:
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        listener = socket.create_server((address.host, address.port), family=family, backlog=_BACKLOG)
    except OSError as fault:
        raise CannotListen(address, fault) from fault
    # Connections inherit it. Else the end of an answer would wait until the beginning is acknowledged: 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener
