"""Containers of nodes whose agents run apart: `NodeStreams` over endpoints as `dray.client.nodeendpoint` has them."""

import asyncio
import ssl
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from typing import Final

from aiohttp import ClientError, ClientResponse, ClientSession, ClientTimeout, ClientWebSocketResponse, WSMsgType
from aiohttp.client_exceptions import WSServerHandshakeError
from yarl import URL

from dray.api.core.kinds import NODE
from dray.api.core.node import Node
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
from dray.client.nodeendpoint import SERVING_CERTIFICATE, format_command_url, format_log_url
from dray.client.port import Channel, Command, ContainerAddress, Execution, LogOptions, Output
from dray.errors import ApiError
from dray.server.identity.certificates import KeyPair
from dray.server.ports import View

__all__ = ["NodeRelay"]

_ADDRESS_TYPES: Final = ("InternalIP", "ExternalIP", "Hostname", "InternalDNS", "ExternalDNS")
"""The order in which addresses of a node are preferred."""
_CONNECT_SECONDS: Final = 10.0
_PIECE_BYTES: Final = 64 * 1024
_MAX_MESSAGE_BYTES: Final = 1 << 20


class NodeRelay:
    """Reaches every node whose status says where its agent listens.

    `identity` is the client certificate to show there; agents whose certificate the Node does not carry must have one
    of `authority`.
    """

    def __init__(self, view: View, identity: KeyPair, authority: bytes) -> None:
        self._view = view
        self._identity = identity
        self._authority = authority

    def serves(self, node: str) -> bool:
        """See `NodeStreams.serves`."""
        found = self._view.find(NODE, "", node)
        return found is not None and bool(_find_endpoint(found))

    async def open_log(self, container: ContainerAddress, options: LogOptions) -> AsyncGenerator[bytes, None]:
        """See `NodeStreams.open_log`."""
        stack, session, tls = await self._open(container.node)
        try:
            url = URL(format_log_url(container, options), encoded=True)
            response = await session.get(url, ssl=tls)
            stack.callback(response.close)
            if response.status >= 400:
                raise await _read_refusal(response)
        except (ClientError, OSError) as fault:
            await stack.aclose()
            raise _describe_unreachable(container.node, fault) from fault
        except BaseException:
            await stack.aclose()
            raise
        return _read_pieces(stack, response)

    async def start(self, container: ContainerAddress, command: Command) -> Execution:
        """See `NodeStreams.start`."""
        stack, session, tls = await self._open(container.node)
        url = URL(format_command_url(container, command), encoded=True)
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
            raise _describe_unreachable(container.node, fault) from fault
        except BaseException:
            await stack.aclose()
            raise
        return _RemoteExecution(stack, socket)

    async def _open(self, name: str) -> tuple[AsyncExitStack, ClientSession, ssl.SSLContext]:
        """A session at the endpoint of a node, what closes it, and whom to trust there."""
        node = self._view.find(NODE, "", name)
        endpoint = _find_endpoint(node) if node is not None else ""
        if node is None or not endpoint:
            raise ApiError(f"nobody knows where the agent of node {name} listens")
        stack = AsyncExitStack()
        timeout = ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS)
        session = await stack.enter_async_context(ClientSession(endpoint, timeout=timeout))
        return stack, session, self._make_tls(node.metadata.annotations.get(SERVING_CERTIFICATE))

    def _make_tls(self, certificate: str | None) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if certificate is None:
            context.load_verify_locations(cadata=self._authority.decode())
        else:
            # It is this very certificate or none: no name and no chain has to be right besides.
            context.check_hostname = False
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            context.load_verify_locations(cadata=certificate)
        with tempfile.NamedTemporaryFile(suffix=".pem") as pem:  # ssl reads certificates of clients from files alone
            pem.write(self._identity.certificate + self._identity.key)
            pem.flush()
            context.load_cert_chain(pem.name)
        return context


def _find_endpoint(node: Node) -> str:
    """Where the agent of a node listens, or nothing."""
    port = node.status.daemon_endpoints.kubelet_endpoint.port
    addresses = {each.type: each.address for each in reversed(node.status.addresses)}
    for each in _ADDRESS_TYPES:
        if port and addresses.get(each):
            host = addresses[each]
            return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return ""


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
