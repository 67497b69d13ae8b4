"""A real API server in memory, for as long as a test takes."""

from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from msgspec.structs import replace

from dray.api.core.kinds import NAMESPACE, NODE
from dray.api.core.node import Node
from dray.api.meta import ObjectMeta
from dray.api.registry import SERVED
from dray.app.wire import CelJudge
from dray.client.port import Client, ObjectName
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.server.assembly import MASTER, ServerParts, open_api_server
from dray.server.inprocess import InProcessClient
from dray.server.ports import Authorizer, User, View
from dray.store.memory import MemoryStore

__all__ = ["NAMESPACE_NAME", "open_memory_cluster"]

NAMESPACE_NAME = "default"
"""Where tests put their claims."""


class _Nobody:
    """Requests in this process carry no credentials."""

    def identify(self, headers: Iterable[tuple[bytes, bytes]], peer: User | None) -> User:
        """Nobody comes from outside."""
        raise AssertionError("requests in this process carry no credentials")


@asynccontextmanager
async def open_memory_cluster(
    node_names: Iterable[str], clock: Clock, entropy: Entropy, log: Log
) -> AsyncGenerator[Client, None]:
    """A client, with every right, of a server that has these nodes and the namespace `default`."""

    def identity(view: View, authorizer: Authorizer) -> tuple[_Nobody, None]:
        return _Nobody(), None

    parts = ServerParts(
        kinds=tuple(SERVED),
        store=MemoryStore(),
        clock=clock,
        entropy=entropy,
        judge=CelJudge(),
        identity=identity,
        log=log,
    )
    async with open_api_server(parts) as api:
        client = InProcessClient(api.desk, MASTER, "dray-testing")
        await _permit_administration(client)
        for name in node_names:
            await client.create(NODE, Node(metadata=ObjectMeta(name=name)))
        yield client


async def _permit_administration(client: Client) -> None:
    """Let claims of the tests' namespace ask for administrative access."""
    namespace = await client.get(NAMESPACE, ObjectName(NAMESPACE_NAME))
    labels = {**namespace.metadata.labels, "resource.kubernetes.io/admin-access": "true"}
    await client.update(NAMESPACE, replace(namespace, metadata=replace(namespace.metadata, labels=labels)))
