"""An API server in this process, asked over ASGI: everything but the socket."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from dray.api.registry import SERVED
from dray.app.wire import CelJudge
from dray.effects.clock import SystemClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.server.assembly import MASTER, ApiServer, ServerParts, open_api_server
from dray.server.ports import Authorizer, User, View
from dray.store.memory import MemoryStore
from dray.store.port import Store

__all__ = ["Answer", "Asked", "Connection", "open_connection"]


class _Everyone:
    """Takes everybody for the one user."""

    def __init__(self, user: User) -> None:
        self._user = user

    def identify(self, headers: Iterable[tuple[bytes, bytes]], peer: User | None) -> User:
        return self._user


@dataclass(frozen=True, slots=True)
class Asked:
    """One request."""

    method: str
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def text(self) -> bytes:
        if self.body is None:
            return b""
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


@dataclass(slots=True)
class Answer:
    """What came back."""

    code: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    @property
    def json(self) -> Any:
        """The body as a value; text where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return self.body.decode()

    @property
    def lines(self) -> list[Any]:
        """The events of a watch."""
        return [json.loads(line) for line in self.body.splitlines()]

    def all(self, name: str) -> list[str]:
        """Every header of a name."""
        return [value for key, value in self.headers if key == name]


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and the way to ask it."""

    api: ApiServer
    log: MemoryLog
    store: Store | None = None

    async def ask(self, asked: Asked) -> Answer:
        """Send one request and read the whole answer."""
        path, _, query = asked.path.partition("?")
        answer, told, gone = Answer(), False, asyncio.Event()

        async def receive() -> dict[str, Any]:
            nonlocal told
            if not told:
                told = True
                return {"type": "http.request", "body": asked.text, "more_body": False}
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer.code = message["status"]
                answer.headers = [(name.decode(), value.decode()) for name, value in message["headers"]]
            else:
                answer.body += message.get("body", b"")

        headers = [(name.lower().encode(), value.encode()) for name, value in asked.headers.items()]
        scope = {"type": "http", "method": asked.method, "path": unquote(path), "query_string": query.encode()}
        await self.api.application({**scope, "headers": headers, "state": {}}, receive, send)
        self.require_no_failure()
        return answer

    def require_no_failure(self) -> None:
        """The last request met no exception that nobody foresaw."""
        assert not self.log.entries or self.log.entries[-1].message != "request failed", self.log.entries[-1]

    async def post(self, path: str, body: Any) -> Answer:
        """Create something."""
        return await self.ask(Asked("POST", path, body, {"content-type": "application/json"}))

    async def get(self, path: str, accept: str = "application/json") -> Answer:
        """Read something."""
        return await self.ask(Asked("GET", path, headers={"accept": accept}))


@asynccontextmanager
async def open_connection(user: User = MASTER) -> AsyncIterator[Connection]:
    """A server on an empty store in memory, where everybody is one user."""
    clock, log, store = SystemClock(), MemoryLog(), MemoryStore()

    def identity(view: View, authorizer: Authorizer) -> tuple[_Everyone, None]:
        return _Everyone(user), None

    parts = ServerParts(
        kinds=tuple(SERVED),
        store=store,
        clock=clock,
        entropy=SeededEntropy(1),
        judge=CelJudge(),
        identity=identity,
        log=log,
    )
    async with open_api_server(parts) as api:
        yield Connection(api, log, store)
