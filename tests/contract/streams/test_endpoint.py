"""Whom the endpoint of an agent answers."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from aiohttp import ClientConnectorError, ClientOSError, ClientSession, ServerDisconnectedError, WSServerHandshakeError

from dray.client.nodeendpoint import SERVER_USER
from dray.client.tls import ClientCertificate
from dray.effects.clock import SystemClock
from dray.node.streamserver import ServingCertificate, make_serving_certificate, serve_streams
from tests.contract.streams.conftest import CLUSTER, ELSEWHERE
from tests.contract.streams.toynode import ToyNode

LOG = "/containerLogs/default/web/app"
EXEC = "/exec/default/web/uid/app?command=say&command=hello&output=1"


@asynccontextmanager
async def endpoint() -> AsyncGenerator[tuple[ToyNode, ServingCertificate, str], None]:
    node = ToyNode()
    node.logs["app"] = b"one\n"
    own = make_serving_certificate("toy", "127.0.0.1", SystemClock().now().to_time())
    async with serve_streams(node, own, CLUSTER.pem) as port:
        yield node, own, f"https://127.0.0.1:{port}"


def trust(own: ServingCertificate, folder: Path, shown: ClientCertificate | None) -> ssl.SSLContext:
    """How a client goes there that knows the endpoint, and shows a certificate or none."""
    context = ssl.create_default_context(cadata=own.certificate.decode())
    if shown is not None:
        file = folder / "client.pem"
        file.write_bytes(shown.certificate + shown.key)
        context.load_cert_chain(file)
    return context


async def test_the_api_server_is_answered(tmp_path: Path) -> None:
    async with endpoint() as (_, own, url), ClientSession() as session:
        tls = trust(own, tmp_path, CLUSTER.issue(SERVER_USER))
        async with session.get(f"{url}{LOG}", ssl=tls) as response:
            assert (response.status, await response.text()) == (200, "one\n")


@pytest.mark.parametrize("who", ["nobody", "stranger"])
async def test_whom_the_cluster_does_not_vouch_for_is_not_even_heard(who: str, tmp_path: Path) -> None:
    shown = None if who == "nobody" else ELSEWHERE.issue(SERVER_USER)
    async with endpoint() as (node, own, url), ClientSession() as session:
        with pytest.raises((ClientConnectorError, ClientOSError, ServerDisconnectedError)):
            await session.get(f"{url}{LOG}", ssl=trust(own, tmp_path, shown))
        assert node.asked == []


@pytest.mark.parametrize("name", ["kubernetes-admin", "system:node:toy", f"{SERVER_USER}2", f"{SERVER_USER} "])
async def test_others_of_the_cluster_are_refused(name: str, tmp_path: Path) -> None:
    async with endpoint() as (node, own, url), ClientSession() as session:
        tls = trust(own, tmp_path, CLUSTER.issue(name))
        async with session.get(f"{url}{LOG}", ssl=tls) as response:
            assert response.status == 401
            assert (await response.json())["reason"] == "Unauthorized"
        with pytest.raises(WSServerHandshakeError) as refused:
            await session.ws_connect(f"{url}{EXEC}", ssl=tls)
        assert refused.value.status == 401
        assert node.asked == []
        assert node.running == 0


@pytest.mark.parametrize(
    "path", ["/", "/pods", "/containerLogs/default/web", "/exec/default/web", "/run/default/web/app"]
)
async def test_nothing_else_is_served(path: str, tmp_path: Path) -> None:
    async with endpoint() as (_, own, url), ClientSession() as session:
        response = await session.get(f"{url}{path}", ssl=trust(own, tmp_path, CLUSTER.issue(SERVER_USER)))
        assert response.status == 404


async def test_a_command_asked_for_without_a_socket_ends(tmp_path: Path) -> None:
    async with endpoint() as (node, own, url), ClientSession() as session:
        tls = trust(own, tmp_path, CLUSTER.issue(SERVER_USER))
        async with session.get(f"{url}{EXEC}", ssl=tls) as response:
            assert response.status == 500
            assert "unable to upgrade connection" in (await response.json())["message"]
        async with asyncio.timeout(10):
            await node.is_idle.wait()
        assert node.running == 0
