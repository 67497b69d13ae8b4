"""Every adapter of the Client port, once for each test."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

from dray.client.connection import Connection
from dray.client.http import Surroundings, open_http_client
from dray.client.port import Client
from dray.effects.clock import SystemClock
from dray.effects.entropy import SeededEntropy
from dray.server.assembly import MASTER
from dray.server.inprocess import InProcessClient
from dray.server.serving import Address, serve
from tests.contract.store.scenarios import pytest_pyfunc_call
from tests.golden.server.asgi import Connection as ServerConnection
from tests.golden.server.asgi import open_connection

__all__ = ["pytest_pyfunc_call"]

SURROUNDINGS = Surroundings(SystemClock(), SeededEntropy(3), {})


@asynccontextmanager
async def served() -> AsyncGenerator[ServerConnection, None]:
    """A server on memory, with the service account that pods need."""
    async with open_connection() as connection:
        await connection.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
        yield connection


@asynccontextmanager
async def in_process() -> AsyncGenerator[Client, None]:
    async with served() as connection:
        yield InProcessClient(connection.api.desk, MASTER, "test")


@asynccontextmanager
async def over_http() -> AsyncGenerator[Client, None]:
    async with (
        served() as connection,
        serve(connection.api.application, Address()) as address,
        open_http_client(Connection(f"http://{address.host}:{address.port}"), SURROUNDINGS) as client,
    ):
        yield client


ADAPTERS: dict[str, Callable[[], AbstractAsyncContextManager[Client]]] = {
    "http": over_http,
    "in-process": in_process,
}


@pytest.fixture(params=list(ADAPTERS))
def client(request: pytest.FixtureRequest) -> AbstractAsyncContextManager[Client]:
    return ADAPTERS[request.param]()
