"""A client certificate on a real connection becomes the user of its requests."""

import asyncio
import json
import ssl
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from dray.effects.clock import SystemClock
from dray.server.identity.certificates import issue_client, make_authority
from dray.server.identity.credentials import Credentials, ensure_credentials, make_ssl_context
from dray.server.identity.peer import PeerProtocol, find_peer
from dray.values.times import Time


async def tell_peer(scope: Mapping[str, Any], receive: Any, send: Any) -> None:
    """An application that answers who the certificate is for."""
    peer = find_peer(scope)
    body = json.dumps([peer.name, *peer.groups] if peer else None).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


async def ask(port: int, context: ssl.SSLContext, times: int = 1) -> list[Any]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname="localhost")
    answers = []
    try:
        for _ in range(times):
            writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
            answers.append(json.loads(await reader.readexactly(length)))
    finally:
        writer.close()
        with suppress(ssl.SSLError, ConnectionError):
            await writer.wait_closed()
    return answers


class Server(uvicorn.Server):
    """Says when it listens, and where."""

    port: asyncio.Future[int]

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self.port.set_result(self.servers[0].sockets[0].getsockname()[1])


def client_context(credentials: Credentials, folder: Path, *, pair: Any = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=credentials.authority.certificate.decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    if pair is not None:
        file = folder / "client.pem"
        file.write_bytes(pair.certificate + pair.key)
        context.load_cert_chain(file)
    return context


async def serve_and_ask(folder: Path) -> None:
    now = Time(SystemClock().now().unix_microseconds // 1_000_000)
    credentials = ensure_credentials(folder / "pki", now)
    config = uvicorn.Config(
        tell_peer,
        port=0,
        http=PeerProtocol,
        lifespan="off",
        log_config=None,
        ssl_context_factory=lambda config, default: make_ssl_context(credentials),
    )
    server = Server(config)
    server.port = asyncio.get_running_loop().create_future()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(server.serve())
        port = await server.port
        admin = ["kubernetes-admin", "system:masters", "system:authenticated"]
        assert await ask(port, client_context(credentials, folder, pair=credentials.admin), 2) == [admin, admin]
        assert await ask(port, client_context(credentials, folder)) == [None]
        stranger = issue_client(make_authority(now), "kubernetes-admin", ("system:masters",), now)
        with pytest.raises((ssl.SSLError, ConnectionError, asyncio.IncompleteReadError)):
            await ask(port, client_context(credentials, folder, pair=stranger))
        server.should_exit = True


def test_certificate_becomes_the_user_of_every_request(tmp_path: Path) -> None:
    asyncio.run(serve_and_ask(tmp_path))
