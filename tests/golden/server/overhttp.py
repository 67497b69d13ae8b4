"""A server asked over HTTP: through a socket, the parser and everything else between a client and the application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import ClientSession, ClientTimeout
from yarl import URL

from dray.server.serving import Address, serve
from dray.store.port import Store
from tests.golden.server.asgi import Answer, Asked, Connection

__all__ = ["HttpConnection", "open_http"]

_UNSAID = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")
"""What the library would say by itself, and the recorded client did not."""


class HttpConnection:
    """The way to ask a server that listens; the store is the one it works on."""

    def __init__(self, session: ClientSession, origin: str, server: Connection) -> None:
        self._session = session
        self._origin = origin
        self._server = server

    @property
    def store(self) -> Store | None:
        return self._server.store

    async def ask(self, asked: Asked) -> Answer:
        """Send one request and read the whole answer."""
        url = URL(self._origin + asked.path, encoded=True)
        async with self._session.request(
            asked.method, url, data=asked.text or None, headers=dict(asked.headers), skip_auto_headers=_UNSAID
        ) as response:
            headers = [(name.lower(), value) for name, value in response.headers.items()]
            answer = Answer(response.status, headers, await response.read())
        self._server.require_no_failure()
        return answer


@asynccontextmanager
async def open_http(server: Connection) -> AsyncIterator[HttpConnection]:
    """Listen for the length of a block."""
    async with (
        serve(server.api.application, Address()) as address,
        ClientSession(timeout=ClientTimeout(total=60)) as session,
    ):
        yield HttpConnection(session, f"http://{address.host}:{address.port}", server)
