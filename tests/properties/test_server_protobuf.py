"""What bodies in protobuf mean, and that no bytes do harm."""

import json
from contextlib import suppress
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from dray.errors import BadRequest
from dray.server.protobuf import decode_protobuf
from dray.values.protowire import WireError, read_fields
from tests.properties.strategies.protobuf import KINDS, bodies, envelop


def read_or_refuse(body: bytes) -> None:
    with suppress(BadRequest):
        json.loads(decode_protobuf(body))


@given(bodies())
def test_what_is_written_is_read(body: tuple[bytes, dict[str, Any]]) -> None:
    encoded, meaning = body
    assert json.loads(decode_protobuf(encoded)) == meaning


@given(st.sampled_from(KINDS), st.binary(max_size=60))
def test_any_bytes_are_json_or_refused(kind: tuple[str, str, str], raw: bytes) -> None:
    version, name, _ = kind
    for body in (raw, b"k8s\0" + raw, envelop(version or "v1", name, raw)):
        read_or_refuse(body)


@given(bodies(), st.data())
def test_torn_and_flipped_bodies_are_json_or_refused(body: tuple[bytes, dict[str, Any]], data: st.DataObject) -> None:
    encoded, _ = body
    at = data.draw(st.integers(0, len(encoded) - 1))
    flipped = encoded[:at] + bytes([encoded[at] ^ data.draw(st.integers(1, 255))]) + encoded[at + 1 :]
    for damaged in (encoded[:at], flipped):
        read_or_refuse(damaged)


@given(st.binary(max_size=40))
@example(b"\x0b" * 40)
def test_fields_lie_within_the_bytes(encoded: bytes) -> None:
    try:
        fields = list(read_fields(encoded))
    except WireError:
        return
    assert sum(len(each.value) for each in fields if isinstance(each.value, bytes)) <= len(encoded)
