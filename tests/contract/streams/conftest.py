"""A node, and the ways to its containers: in this process, and through the endpoint of an agent, another's or ours."""

from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
from dray.api.core.nodestatus import DaemonEndpoint, NodeAddress, NodeDaemonEndpoints, NodeStatus
from dray.api.meta import ObjectMeta
from dray.client.nodeendpoint import SERVER_USER, SERVING_CERTIFICATE
from dray.client.port import NodeStreams
from dray.effects.clock import SystemClock
from dray.node.streamserver import make_serving_certificate, serve_streams
from dray.server.assembly import MASTER
from dray.server.identity.certificates import KeyPair
from dray.server.inprocess import InProcessClient
from dray.server.noderelay import NodeRelay
from tests.contract.client.authority import Authority
from tests.contract.store.scenarios import pytest_pyfunc_call
from tests.contract.streams.agent import serve_agent
from tests.contract.streams.toynode import ToyNode
from tests.golden.server.asgi import Connection, open_connection

__all__ = ["pytest_pyfunc_call"]

CLUSTER, ELSEWHERE = Authority("cluster"), Authority("elsewhere")


@dataclass
class Way:
    """A node and the port through which it is reached, with the server that knows of it."""

    node: ToyNode
    streams: NodeStreams
    server: Connection


async def add_node(server: Connection, port: int, annotations: dict[str, str]) -> None:
    status = NodeStatus(
        addresses=(
            NodeAddress(type="Hostname", address="no.such.host"),
            NodeAddress(type="InternalIP", address="127.0.0.1"),
        ),
        daemon_endpoints=NodeDaemonEndpoints(kubelet_endpoint=DaemonEndpoint(port=port)),
    )
    client = InProcessClient(server.api.desk, MASTER, "test")
    created = await client.create(NODE, Node(metadata=ObjectMeta(name="toy", annotations=annotations)))
    await client.update(NODE, Node(metadata=created.metadata, status=status), subresource="status")


@asynccontextmanager
async def at_once(folder: Path) -> AsyncGenerator[Way, None]:
    node = ToyNode()
    async with open_connection() as server:
        yield Way(node, node, server)


@asynccontextmanager
async def through_agent(folder: Path) -> AsyncGenerator[Way, None]:
    """An agent whose certificate is one that the Node carries."""
    node, identity = ToyNode(), CLUSTER.issue(SERVER_USER)
    tls = ELSEWHERE.serve_as(folder, "toy.example")
    tls.load_verify_locations(cadata=CLUSTER.pem.decode())
    shown = folder.joinpath("server.pem").read_text().partition("-----BEGIN PRIVATE")[0]
    async with open_connection() as server, serve_agent(node, tls) as port:
        await add_node(server, port, {SERVING_CERTIFICATE: shown})
        pair = KeyPair(identity.certificate, identity.key)
        yield Way(node, NodeRelay(server.api.desk.view, pair, CLUSTER.pem), server)


@asynccontextmanager
async def through_endpoint(folder: Path) -> AsyncGenerator[Way, None]:
    """The endpoint that dray's own agents have."""
    node, identity = ToyNode(), CLUSTER.issue(SERVER_USER)
    own = make_serving_certificate("toy", "127.0.0.1", SystemClock().now().to_time())
    async with open_connection() as server, serve_streams(node, own, CLUSTER.pem) as port:
        await add_node(server, port, {SERVING_CERTIFICATE: own.certificate.decode()})
        pair = KeyPair(identity.certificate, identity.key)
        yield Way(node, NodeRelay(server.api.desk.view, pair, CLUSTER.pem), server)


WAYS: dict[str, Callable[[Path], AbstractAsyncContextManager[Way]]] = {
    "at once": at_once,
    "agent": through_agent,
    "endpoint": through_endpoint,
}


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest, tmp_path: Path) -> AbstractAsyncContextManager[Way]:
    return WAYS[request.param](tmp_path)
