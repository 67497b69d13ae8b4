"""Streams of a command over one WebSocket, as kubectl and kubelets speak it: `v5.channel.k8s.io`, and v4.

Every message is binary; its first byte names a channel. In v5, a message that begins with 255 closes the channel which
its second byte names. How the command ended is a Status on the channel OUTCOME, the last message before the close.
"""

from typing import Final

import msgspec
from msgspec import Struct

from dray.api.codec import encode_value
from dray.api.meta import Status, StatusCause, StatusDetails
from dray.client.port import Channel
from dray.errors import ApiError, BadRequest

__all__ = [
    "SUBPROTOCOLS",
    "V4",
    "V5",
    "CloseChannel",
    "Piece",
    "Size",
    "decode_message",
    "decode_outcome",
    "encode_close",
    "encode_outcome",
    "encode_piece",
    "encode_size",
]

V5: Final = "v5.channel.k8s.io"
V4: Final = "v4.channel.k8s.io"
"""Without a way to close stdin."""
SUBPROTOCOLS: Final = (V5, V4)
"""Best first."""

_CLOSE: Final = 255
_NON_ZERO: Final = "NonZeroExitCode"
_EXIT_CODE: Final = "ExitCode"


class Piece(Struct, frozen=True):
    """Bytes of a channel; none at all on a channel that was only opened."""

    channel: Channel
    body: bytes


class CloseChannel(Struct, frozen=True):
    """The channel ends."""

    channel: Channel


class Size(Struct, frozen=True):
    """What the channel RESIZE carries, in characters."""

    width: int = msgspec.field(name="Width")
    height: int = msgspec.field(name="Height")


def encode_piece(channel: Channel, body: bytes) -> bytes:
    """A message that carries bytes."""
    return bytes((channel,)) + body


def encode_close(channel: Channel) -> bytes:
    """A message that ends a channel; of v5 only."""
    return bytes((_CLOSE, channel))


def encode_size(width: int, height: int) -> bytes:
    """A message that tells the size of the terminal."""
    return encode_piece(Channel.RESIZE, msgspec.json.encode(Size(width, height)))


def decode_message(message: bytes) -> Piece | Size | CloseChannel:
    """What a message says. Raises BadRequest for one that says nothing."""
    if not message:
        raise BadRequest("a message without a channel")
    try:
        if message[0] == _CLOSE:
            return CloseChannel(Channel(message[1]))
        channel = Channel(message[0])
        if channel is Channel.RESIZE:
            return msgspec.json.decode(message[1:], type=Size)
    except (ValueError, IndexError, msgspec.DecodeError) as fault:
        raise BadRequest(f"a message of no known channel: {message[:2]!r}") from fault
    return Piece(channel, message[1:])


def encode_outcome(outcome: int | ApiError) -> bytes:
    """The message that tells how a command ended: with this exit code, or why it could not be run."""
    return encode_piece(Channel.OUTCOME, encode_value(_describe(outcome)))


def _describe(outcome: int | ApiError) -> Status:
    if isinstance(outcome, ApiError):
        return Status(status="Failure", message=outcome.message, reason=outcome.reason, code=outcome.code)
    if outcome == 0:
        return Status(status="Success")
    return Status(
        status="Failure",
        message=f"command terminated with non-zero exit code: exit status {outcome}",
        reason=_NON_ZERO,
        details=StatusDetails(causes=(StatusCause(reason=_EXIT_CODE, message=str(outcome)),)),
    )


def decode_outcome(body: bytes) -> int:
    """The exit code that the body of channel OUTCOME tells. Raises ApiError where the command could not be run."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except msgspec.DecodeError as fault:
        raise ApiError(f"the node's answer is no Status: {body[:200]!r}") from fault
    if status.status == "Success":
        return 0
    for cause in status.details.causes if status.details else ():
        if status.reason == _NON_ZERO and cause.reason == _EXIT_CODE and cause.message.isdecimal():
            return int(cause.message)
    raise ApiError(status.message)
