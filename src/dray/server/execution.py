"""A client and a command that runs in a container, with a WebSocket between them."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from typing import Final

from dray.client.channels import (
    SUBPROTOCOLS,
    CloseChannel,
    Piece,
    Size,
    decode_message,
    encode_outcome,
    encode_piece,
)
from dray.client.port import Channel, Command, Execution
from dray.errors import ApiError, BadRequest
from dray.server.http import Receive, Send

__all__ = ["attend", "choose_subprotocol"]

_NORMAL: Final = 1000
_PROTOCOL_FAULT: Final = 1002


def choose_subprotocol(offered: Sequence[str]) -> str:
    """The best protocol that a client offers and we speak. Raises BadRequest if there is none."""
    for each in SUBPROTOCOLS:
        if each in offered:
            return each
    raise BadRequest(f"none of the subprotocols is served: {' '.join(offered) or 'none given'}; there are v5 and v4")


async def attend(execution: Execution, command: Command, receive: Receive, send: Send) -> None:
    """Pass on what each side says until the command has ended or the client is gone, which ends the command."""

    async def say(message: bytes) -> None:
        with suppress(OSError):  # the client is gone, which `_hear` finds too
            await send({"type": "websocket.send", "bytes": message})

    async def tell() -> None:
        await say(encode_piece(_first_channel(command), b""))  # a sign that all is connected, as kubelets give it
        async with aclosing(execution.output()) as pieces:
            async for piece in pieces:
                await say(encode_piece(piece.channel, piece.body))
        try:
            outcome: int | ApiError = await execution.wait()
        except ApiError as refusal:
            outcome = refusal
        await say(encode_outcome(outcome))
        await close(_NORMAL)

    async def close(code: int) -> None:
        with suppress(OSError):
            await send({"type": "websocket.close", "code": code})

    try:
        async with asyncio.TaskGroup() as tasks:
            telling = tasks.create_task(tell(), name="output of a command")
            hearing = tasks.create_task(_hear(execution, receive), name="input of a command")
            telling.add_done_callback(lambda done: hearing.cancel())
            hearing.add_done_callback(lambda done: telling.cancel())
    except* BadRequest:
        await close(_PROTOCOL_FAULT)
    finally:
        await execution.aclose()


def _first_channel(command: Command) -> Channel:
    if command.stdout:
        return Channel.STDOUT
    return Channel.STDERR if command.stderr else Channel.OUTCOME


async def _hear(execution: Execution, receive: Receive) -> None:
    """Follow the client until it is gone. Raises BadRequest when it says what makes no sense."""
    while (message := await receive())["type"] == "websocket.receive":
        body = message.get("bytes")
        await _act(execution, decode_message((message.get("text") or "").encode() if body is None else body))


async def _act(execution: Execution, heard: Piece | Size | CloseChannel) -> None:
    match heard:
        case Piece(Channel.STDIN, body) if body:
            await execution.send(body)
        case CloseChannel(Channel.STDIN):
            await execution.end_input()
        case Size(width, height):
            await execution.resize(width, height)
        case _:
            pass  # the client has nothing to say there
