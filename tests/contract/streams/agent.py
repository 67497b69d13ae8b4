"""An endpoint as a node agent has it, in front of a node."""

import asyncio
import ssl
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress

from aiohttp import WSMsgType, web

from dray.api.codec import encode_value
from dray.client.channels import (
    SUBPROTOCOLS,
    CloseChannel,
    Piece,
    Size,
    decode_message,
    encode_outcome,
    encode_piece,
)
from dray.client.nodeendpoint import parse_command_url, parse_log_url
from dray.client.port import Channel, Execution, NodeStreams
from dray.errors import ApiError
from dray.server.faults import describe_failure

__all__ = ["serve_agent"]


@asynccontextmanager
async def serve_agent(node: NodeStreams, tls: ssl.SSLContext) -> AsyncGenerator[int, None]:
    """The endpoint for the length of a block; yields its port."""

    async def answer(request: web.Request) -> web.StreamResponse:
        query = {name: request.query.getall(name) for name in request.query}
        try:
            if request.path.startswith("/exec/"):
                container, command = parse_command_url(request.raw_path.partition("?")[0], query, "toy")
                return await attend(request, await node.start(container, command))
            address, options = parse_log_url(request.raw_path.partition("?")[0], query, "toy")
            pieces = await node.open_log(address, options)
        except ApiError as refusal:
            status = encode_value(describe_failure(refusal))
            return web.Response(status=refusal.code, body=status, content_type="application/json")
        response = web.StreamResponse()
        await response.prepare(request)
        async with aclosing(pieces):
            async for piece in pieces:
                await response.write(piece)
        return response

    app = web.Application()
    app.router.add_route("GET", "/{path:.*}", answer)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def attend(request: web.Request, execution: Execution) -> web.StreamResponse:
    socket = web.WebSocketResponse(protocols=SUBPROTOCOLS)
    await socket.prepare(request)

    async def tell() -> None:
        await socket.send_bytes(encode_piece(Channel.STDOUT, b""))
        with suppress(ConnectionError):
            async for piece in execution.output():
                await socket.send_bytes(encode_piece(piece.channel, piece.body))
            try:
                await socket.send_bytes(encode_outcome(await execution.wait()))
            except ApiError as refusal:
                await socket.send_bytes(encode_outcome(refusal))
            await socket.close()

    telling = asyncio.ensure_future(tell())
    try:
        async for message in socket:
            assert message.type is WSMsgType.BINARY
            match decode_message(message.data):
                case Piece(Channel.STDIN, body):
                    await execution.send(body)
                case CloseChannel(Channel.STDIN):
                    await execution.end_input()
                case Size(width, height):
                    await execution.resize(width, height)
    finally:
        telling.cancel()
        await execution.aclose()
    return socket
