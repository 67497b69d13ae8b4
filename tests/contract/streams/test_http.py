"""Logs and commands as clients of the API server see them."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMsgType

from dray.client.port import Command, ContainerAddress, LogOptions
from dray.server.ports import User
from dray.server.serving import Address, serve
from tests.contract.streams.toynode import ToyNode
from tests.golden.server.asgi import Connection, open_connection

PODS = "/api/v1/namespaces/default/pods"
SUCCESS = b'\x03{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}'


@dataclass
class Site:
    node: ToyNode
    session: ClientSession
    server: Connection

    async def get(self, path: str) -> tuple[int, bytes]:
        async with self.session.get(path) as response:
            return response.status, await response.read()

    def connect(self, query: str, *protocols: str, pod: str = "web", what: str = "exec") -> Any:
        return self.session.ws_connect(f"{PODS}/{pod}/{what}?{query}", protocols=protocols or ("v5.channel.k8s.io",))

    async def until_idle(self) -> None:
        async with asyncio.timeout(10):
            await self.node.is_idle.wait()
        assert (self.node.running, self.node.followers) == (0, 0)


def pod(name: str, node: str | None, *containers: str) -> dict[str, Any]:
    spec = {"containers": [{"name": each, "image": "example"} for each in containers], "nodeName": node}
    return {"metadata": {"name": name}, "spec": spec}


@asynccontextmanager
async def open_site() -> AsyncGenerator[Site, None]:
    node = ToyNode()
    async with open_connection() as server, serve(server.api.application, Address()) as address:
        server.api.desk.nodes.attach(node)
        await server.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
        await server.post(PODS, pod("web", "toy", "app", "side"))
        await server.post(PODS, pod("single", "toy", "app"))
        await server.post(PODS, pod("waiting", None, "app"))
        await server.post(PODS, pod("lost", "nowhere", "app"))
        async with ClientSession(f"http://{address.host}:{address.port}") as session:
            yield Site(node, session, server)


@pytest.fixture
def site() -> Any:
    return open_site()


async def read(socket: ClientWebSocketResponse) -> list[bytes]:
    return [message.data async for message in socket if message.type is WSMsgType.BINARY]


async def test_a_log_is_plain_text(site: Site) -> None:
    site.node.logs["app"] = b"one\ntwo\n"
    async with site.session.get(f"{PODS}/web/log?container=app&tailLines=1&timestamps=true") as response:
        assert (response.status, response.content_type) == (200, "text/plain")
        assert await response.read() == b"two\n"
    (container, options), *_ = site.node.asked
    assert container == ContainerAddress("toy", "default", "web", container.pod_uid, "app")
    assert container.pod_uid
    assert options == LogOptions(tail_lines=1, timestamps=True)


@pytest.mark.parametrize(
    ("path", "code", "want"),
    [
        ("waiting/log", 204, b""),
        ("web/log", 400, b"a container name must be specified for pod web, choose one of: [app side]"),
        ("web/log?container=x", 400, b"container x is not valid for pod web"),
        ("single/log", 400, b'container \\"app\\" in pod \\"single\\" is waiting to start: ContainerCreating'),
        ("single/log?tailLines=-1", 422, b"tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("single/log?sinceSeconds=0", 422, b"sinceSeconds: Invalid value: 0: must be greater than 0"),
        ("single/log?limitBytes=x", 400, b"invalid syntax"),
        ("lost/log", 404, b'nodes \\"nowhere\\" not found'),
        ("none/log", 404, b'pods \\"none\\" not found'),
        ("single/exec?command=ls&stdout=true", 400, b"Upgrade request required"),
        ("single/attach?stdout=true", 400, b"attach is not served"),
    ],
)
async def test_what_cannot_be_read_is_explained(site: Site, path: str, code: int, want: bytes) -> None:
    got, body = await site.get(f"{PODS}/{path}")
    assert got == code
    assert want in body


async def test_a_log_is_followed_until_the_client_goes(site: Site) -> None:
    site.node.logs["app"] = b"one\n"
    async with site.session.get(f"{PODS}/single/log?follow=true") as response:
        assert await response.content.readany() == b"one\n"
        assert site.node.followers == 1
        response.close()
    await site.until_idle()


async def test_a_command_answers_on_its_channels(site: Site) -> None:
    async with site.connect("command=say&command=out&command=err&stdout=true&stderr=true&container=app") as socket:
        assert socket.protocol == "v5.channel.k8s.io"
        assert await read(socket) == [b"\x01", b"\x01out", b"\x02err", SUCCESS]
        assert socket.close_code == 1000
    (container, command), *_ = site.node.asked
    assert container.container == "app"
    assert command == Command(("say", "out", "err"), stdout=True, stderr=True)
    await site.until_idle()


async def test_an_exit_code_is_told(site: Site) -> None:
    async with site.connect("command=exit&command=3&stdout=true", "v4.channel.k8s.io", pod="single") as socket:
        assert socket.protocol == "v4.channel.k8s.io"
        _, outcome = await read(socket)
    assert b'"reason":"NonZeroExitCode"' in outcome
    assert b'{"reason":"ExitCode","message":"3"}' in outcome


async def test_what_the_node_refuses_is_the_outcome(site: Site) -> None:
    async with site.connect("command=nothing&stdout=true", pod="single") as socket:
        _, outcome = await read(socket)
    assert b'"message":"nothing runs there","reason":"BadRequest","code":400' in outcome


async def test_input_goes_to_the_command_until_it_is_closed(site: Site) -> None:
    async with site.connect("command=cat&stdin=true&stdout=true", pod="single") as socket:
        await socket.send_bytes(b"\x00hello")
        await socket.send_bytes(b"\xff\x00")
        assert await read(socket) == [b"\x01", b"\x01hello", SUCCESS]


async def test_a_terminal_hears_of_its_size(site: Site) -> None:
    async with site.connect("command=size&stdin=true&stdout=true&tty=true", pod="single") as socket:
        await socket.send_bytes(b'\x04{"Width":80,"Height":24}')
        assert await read(socket) == [b"\x01", b"\x0180x24", SUCCESS]


@pytest.mark.parametrize("message", [b"", b"\x09what", b"\x04{"])
async def test_a_client_that_makes_no_sense_is_left(site: Site, message: bytes) -> None:
    async with site.connect("command=sleep&stdin=true&stdout=true", pod="single") as socket:
        await socket.send_bytes(message)
        assert await read(socket) == [b"\x01"]
        assert socket.close_code == 1002
    await site.until_idle()


async def test_a_command_ends_with_its_client(site: Site) -> None:
    async with site.connect("command=flood&command=1000000&stdout=true", pod="single") as socket:
        await socket.receive_bytes()
        assert site.node.running == 1
    await site.until_idle()


HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol": "v5.channel.k8s.io",
}


@pytest.mark.parametrize(
    ("path", "protocol", "code", "want"),
    [
        ("single/exec?command=ls&stdout=true", "v1.channel.k8s.io", 400, b"none of the subprotocols"),
        ("single/exec?stdout=true", "v5.channel.k8s.io", 422, b"command: Required value"),
        ("single/exec?command=ls", "v5.channel.k8s.io", 422, b"at least one of stdin, stdout, stderr must be true"),
        ("waiting/exec?command=ls&stdout=true", "v5.channel.k8s.io", 400, b"pod waiting does not have a host assigned"),
        ("web/exec?command=ls&stdout=true&container=x", "v5.channel.k8s.io", 400, b"container x is not valid for pod"),
        ("none/exec?command=ls&stdout=true", "v5.channel.k8s.io", 404, b'pods \\"none\\" not found'),
        ("single/portforward?ports=80", "v5.channel.k8s.io", 400, b"portforward is not served"),
        ("single", "v5.channel.k8s.io", 400, b"not one that can be upgraded"),
        ("single/nothing", "v5.channel.k8s.io", 404, b"could not find the requested resource"),
    ],
)
async def test_a_refusal_comes_instead_of_a_websocket(
    site: Site, path: str, protocol: str, code: int, want: bytes
) -> None:
    headers = HANDSHAKE | {"Sec-WebSocket-Protocol": protocol}
    async with site.session.get(f"{PODS}/{path}", headers=headers) as response:
        assert response.status == code
        assert want in await response.read()
    assert site.node.running == 0


async def test_who_may_not_run_commands_is_told_so() -> None:
    stranger = User("stranger", groups=("system:authenticated",))
    async with (
        open_connection(stranger) as server,
        serve(server.api.application, Address()) as address,
        ClientSession(f"http://{address.host}:{address.port}") as session,
        session.get(f"{PODS}/web/exec?command=ls&stdout=true", headers=HANDSHAKE) as response,
    ):
        assert response.status == 403
        assert b'cannot get resource \\"pods/exec\\"' in await response.read()
