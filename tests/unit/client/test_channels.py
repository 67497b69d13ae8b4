import pytest

from dray.client.channels import (
    CloseChannel,
    Piece,
    Size,
    decode_message,
    decode_outcome,
    encode_close,
    encode_outcome,
    encode_piece,
    encode_size,
)
from dray.client.port import Channel
from dray.errors import ApiError, BadRequest


def test_messages_come_back_as_they_were() -> None:
    assert decode_message(encode_piece(Channel.STDIN, b"ls\n")) == Piece(Channel.STDIN, b"ls\n")
    assert decode_message(encode_piece(Channel.STDOUT, b"")) == Piece(Channel.STDOUT, b"")
    assert decode_message(encode_close(Channel.STDIN)) == CloseChannel(Channel.STDIN)
    assert decode_message(encode_size(80, 24)) == Size(80, 24)


def test_the_wire_is_that_of_kubectl() -> None:
    assert encode_piece(Channel.STDERR, b"x") == b"\x02x"
    assert encode_close(Channel.STDIN) == b"\xff\x00"
    assert decode_message(b'\x04{"Width":100,"Height":40}') == Size(100, 40)
    assert encode_outcome(0) == b'\x03{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success"}'


@pytest.mark.parametrize("message", [b"", b"\x09x", b"\xff", b"\xff\x09", b"\x04{", b'\x04{"Width":"a"}'])
def test_a_message_without_meaning_is_refused(message: bytes) -> None:
    with pytest.raises(BadRequest):
        decode_message(message)


@pytest.mark.parametrize("code", [0, 1, 137])
def test_exit_codes_come_back(code: int) -> None:
    piece = decode_message(encode_outcome(code))
    assert isinstance(piece, Piece)
    assert piece.channel is Channel.OUTCOME
    assert decode_outcome(piece.body) == code


def test_a_command_that_could_not_be_run_says_why() -> None:
    piece = decode_message(encode_outcome(BadRequest("there is no such file")))
    assert isinstance(piece, Piece)
    with pytest.raises(ApiError, match="there is no such file"):
        decode_outcome(piece.body)


@pytest.mark.parametrize(
    "body",
    [b"", b"{}", b"[]", b'{"status":"Failure","reason":"NonZeroExitCode"}'],
)
def test_an_outcome_that_tells_no_exit_code_is_a_failure(body: bytes) -> None:
    with pytest.raises(ApiError):
        decode_outcome(body)
