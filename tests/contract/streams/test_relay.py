"""Whom the relay to node agents trusts."""

from pathlib import Path

import pytest

from dray.client.nodeendpoint import SERVER_USER, SERVING_CERTIFICATE
from dray.client.port import Command, ContainerAddress, LogOptions
from dray.errors import ApiError
from dray.server.identity.certificates import KeyPair
from dray.server.noderelay import NodeRelay
from tests.contract.streams.agent import serve_agent
from tests.contract.streams.conftest import CLUSTER, ELSEWHERE, add_node
from tests.contract.streams.toynode import ToyNode
from tests.golden.server.asgi import Connection, open_connection

APP = ContainerAddress("toy", "default", "web", "", "app")


def relay(server: Connection) -> NodeRelay:
    issued = CLUSTER.issue(SERVER_USER)
    return NodeRelay(server.api.desk.view, KeyPair(issued.certificate, issued.key), CLUSTER.pem)


async def test_a_certificate_of_the_cluster_is_trusted_without_an_annotation(tmp_path: Path) -> None:
    node = ToyNode()
    node.logs["app"] = b"hello\n"
    tls = CLUSTER.serve_as(tmp_path, "127.0.0.1")
    async with open_connection() as server, serve_agent(node, tls) as port:
        await add_node(server, port, {})
        pieces = await relay(server).open_log(APP, LogOptions())
        assert [piece async for piece in pieces] == [b"hello\n"]


@pytest.mark.parametrize(
    ("authority", "annotations"),
    [
        (ELSEWHERE, {}),
        (CLUSTER, {SERVING_CERTIFICATE: ELSEWHERE.issue("toy", "127.0.0.1").certificate.decode()}),
    ],
    ids=["of another authority", "another than the node carries"],
)
async def test_an_agent_with_another_certificate_is_not_talked_to(
    tmp_path: Path, authority: object, annotations: dict[str, str]
) -> None:
    node = ToyNode()
    node.logs["app"] = b"hello\n"
    tls = (CLUSTER if authority is CLUSTER else ELSEWHERE).serve_as(tmp_path, "127.0.0.1")
    async with open_connection() as server, serve_agent(node, tls) as port:
        await add_node(server, port, annotations)
        with pytest.raises(ApiError, match="the agent of node toy cannot be reached"):
            await relay(server).open_log(APP, LogOptions())
        with pytest.raises(ApiError, match="the agent of node toy cannot be reached"):
            await relay(server).start(APP, Command(("cat",), stdout=True))
    assert node.asked == []


async def test_only_nodes_that_say_where_they_are_are_served() -> None:
    async with open_connection() as server:
        streams = relay(server)
        assert not streams.serves("toy")
        await add_node(server, 0, {})
        assert not streams.serves("toy")
