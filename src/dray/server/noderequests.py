"""Requests to the agent of a node: logs over HTTPS, commands over a WebSocket.

Apart from `noderelay`, because aiohttp takes long to load and most servers never need it.
"""

import asyncio
import ssl
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final, NamedTuple

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, ClientWebSocketResponse, WSMsgType
from aiohttp.client_exceptions import WSServerHandshakeError
from yarl import URL

from dray.client.channels import (
    SUBPROTOCOLS,
    V5,
    Piece,
    decode_message,
    decode_outcome,
    encode_close,
    encode_piece,
    encode_size,
)
from dray.client.failures import decode_failure
from dray.client.port import Channel, Execution, Output
from dray.errors import ApiError
from dray.server.identity.certificates import KeyPair

__all__ = ["AgentEndpoint", "open_remote_log", "start_remote_command"]

_CONNECT_SECONDS: Final = 10.0
_PIECE_BYTES: Final = 64 * 1024
_MAX_MESSAGE_BYTES: Final = 1 << 20


class AgentEndpoint(NamedTuple):
    """Where the agent of a node listens, who we are there, and whom to trust."""

    node: str
    url: str
    identity: KeyPair
    authority: bytes
    certificate: str | None
    """The agent's own, as the Node carries it; None: one that the authority signed."""


async def open_remote_log(endpoint: AgentEndpoint, path: str) -> AsyncGenerator[bytes, None]:
    """The log at a path. Raises ApiError."""
    stack, session, tls = await _open(endpoint)
    try:
        response = await session.get(URL(path, encoded=True), ssl=tls)
        stack.callback(response.close)
        if response.status >= 400:
            raise await _read_refusal(response)
    except (ClientError, OSError) as fault:
        await stack.aclose()
        raise _describe_unreachable(endpoint.node, fault) from fault
    except BaseException:
        await stack.aclose()
        raise
    return _read_pieces(stack, response)


async def start_remote_command(endpoint: AgentEndpoint, path: str) -> Execution:
    """The command at a path, running. Raises ApiError."""
    stack, session, tls = await _open(endpoint)
    url = URL(path, encoded=True)
    try:
        socket = await session.ws_connect(
            url, protocols=SUBPROTOCOLS, ssl=tls, max_msg_size=_MAX_MESSAGE_BYTES, autoclose=True
        )
    except WSServerHandshakeError as refusal:
        # The answer's body tells why, and is not to be had from here: the same without an upgrade has it too.
        async with stack, session.get(url, ssl=tls) as response:
            raise await _read_refusal(response, refusal.status) from refusal
    except (ClientError, OSError) as fault:
        await stack.aclose()
        raise _describe_unreachable(endpoint.node, fault) from fault
    except BaseException:
        await stack.aclose()
        raise
    return _RemoteExecution(stack, socket)


async def _open(endpoint: AgentEndpoint) -> tuple[AsyncExitStack, ClientSession, ssl.SSLContext]:
    """A session at an endpoint, what closes it, and whom to trust there."""
    stack = AsyncExitStack()
    timeout = ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
    session = await stack.enter_async_context(ClientSession(endpoint.url, timeout=timeout))
    return stack, session, _make_tls(endpoint)


def _make_tls(endpoint: AgentEndpoint) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if endpoint.certificate is None:
        context.load_verify_locations(cadata=endpoint.authority.decode())
    else:
        # It is this very certificate or none: no name and no chain has to be right besides.
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.load_verify_locations(cadata=endpoint.certificate)
    with tempfile.NamedTemporaryFile(suffix=".pem") as pem:  # ssl reads certificates of clients from files alone
        pem.write(endpoint.identity.certificate + endpoint.identity.key)
        pem.flush()
        context.load_cert_chain(pem.name)
    return context


def _describe_unreachable(node: str, fault: BaseException) -> ApiError:
    return ApiError(f"the agent of node {node} cannot be reached: {fault}")


async def _read_refusal(response: ClientResponse, code: int = 0) -> ApiError:
    return decode_failure(code or response.status, await response.read())


async def _read_pieces(stack: AsyncExitStack, response: ClientResponse) -> AsyncGenerator[bytes, None]:
    async with stack:
        try:
            async for piece in response.content.iter_chunked(_PIECE_BYTES):
                yield piece
        except (ClientError, OSError) as fault:
            raise ApiError(f"the log broke off: {fault}") from fault


class _RemoteExecution:
    """A command that an agent runs for us, over a WebSocket like the one of our client."""

    def __init__(self, stack: AsyncExitStack, socket: ClientWebSocketResponse) -> None:
        self._stack = stack
        self._socket = socket
        self._outcome: bytes | None = None
        self._ended = asyncio.Event()

    async def output(self) -> AsyncGenerator[Output, None]:
        """See `Execution.output`."""
        try:
            async for message in self._socket:
                if message.type is not WSMsgType.BINARY:
                    continue
                heard = decode_message(message.data)
                if not isinstance(heard, Piece):
                    continue
                if heard.channel is Channel.OUTCOME:
                    self._outcome = heard.body or self._outcome
                elif heard.body:
                    yield Output(heard.channel, heard.body)
        finally:
            self._ended.set()

    async def send(self, piece: bytes) -> None:
        """See `Execution.send`."""
        await self._say(encode_piece(Channel.STDIN, piece))

    async def end_input(self) -> None:
        """See `Execution.end_input`. Nothing where the agent speaks v4 alone, which has no word for it."""
        if self._socket.protocol == V5:
            await self._say(encode_close(Channel.STDIN))

    async def resize(self, width: int, height: int) -> None:
        """See `Execution.resize`."""
        await self._say(encode_size(width, height))

    async def wait(self) -> int:
        """See `Execution.wait`."""
        await self._ended.wait()
        if self._outcome is None:
            raise ApiError("the node agent broke off without telling how the command ended")
        return decode_outcome(self._outcome)

    async def aclose(self) -> None:
        """See `Execution.aclose`."""
        await self._socket.close()
        await self._stack.aclose()

    async def _say(self, message: bytes) -> None:
        try:
            await self._socket.send_bytes(message)
        except (ClientError, OSError):
            return  # the agent is gone, which whoever reads the output finds too
