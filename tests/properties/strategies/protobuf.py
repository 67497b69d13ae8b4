"""A small writer of protobuf, and messages of the server's table with the JSON that they mean."""

from __future__ import annotations

import base64
import json
from importlib.resources import files
from typing import Any

from hypothesis import strategies as st

from dray.values.times import MicroTime, Time
from tests.properties.strategies.values import unix_microseconds

TABLE = json.loads(files("dray.server").joinpath("protobuf_fields.json").read_text(encoding="utf-8"))
KINDS = [(version, kind, name) for version, kinds in TABLE["kinds"].items() for kind, name in kinds.items()]
MAX_DEPTH = 6

Encoded = int | bytes


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*groups, number])


def tagged(number: int, value: Encoded) -> bytes:
    """One field: an integer as a varint, bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def envelop(api_version: str, kind: str, raw: bytes) -> bytes:
    """A body as Kubernetes' clients send it."""
    type_meta = tagged(1, api_version.encode()) + tagged(2, kind.encode())
    return b"k8s\0" + tagged(1, type_meta) + tagged(2, raw) + tagged(3, b"") + tagged(4, b"")


def _draw_value(draw: st.DrawFn, type_name: str, depth: int) -> tuple[Encoded, Any]:
    """A value on the wire and in JSON."""
    match type_name:
        case "string":
            text = draw(st.text(max_size=8))
            return text.encode(), text
        case "bytes":
            octets = draw(st.binary(max_size=8))
            return octets, base64.b64encode(octets).decode()
        case "bool":
            flag = draw(st.booleans())
            return int(flag), flag
        case "int32" | "int64":
            bound = 2 ** (int(type_name[3:]) - 1)
            number = draw(st.integers(-bound, bound - 1))
            return number, number
        case _ if type_name in TABLE["messages"]:
            return draw_message(draw, type_name, depth)
        case _:
            return _draw_form(draw, type_name)


def _draw_form(draw: st.DrawFn, form: str) -> tuple[bytes, Any]:
    match form:
        case "time" | "micro-time":
            microseconds = draw(unix_microseconds)
            seconds, rest = divmod(microseconds, 10**6)
            moment = Time(seconds) if form == "time" else MicroTime(microseconds)
            return tagged(1, seconds) + tagged(2, rest * 1000), str(moment)
        case "quantity":
            return tagged(1, b"12Gi"), "12Gi"
        case "int-or-string":
            number, name = draw(st.integers(-5, 70_000)), draw(st.text(max_size=4))
            is_name = draw(st.booleans())
            encoded = tagged(1, int(is_name)) + tagged(2, number) + tagged(3, name.encode())
            return encoded, name if is_name else number
        case "json":
            value = draw(st.recursive(st.integers() | st.text(max_size=3), st.lists, max_leaves=3))
            return tagged(1, json.dumps({"value": value}).encode()), {"value": value}
        case "strings":
            texts = draw(st.lists(st.text(max_size=4), max_size=3))
            return b"".join(tagged(1, text.encode()) for text in texts), texts
    raise AssertionError(form)


def draw_message(draw: st.DrawFn, name: str, depth: int = MAX_DEPTH) -> tuple[bytes, dict[str, Any]]:
    """A message with some of its fields, in any order."""
    fields = TABLE["messages"][name]
    chosen = draw(st.lists(st.sampled_from(sorted(fields)), unique=True, max_size=4)) if depth and fields else []
    encoded = b""
    meaning: dict[str, Any] = {}
    for number in chosen:
        field_name, type_name = fields[number]
        part, means = _draw_field(draw, int(number), type_name, depth - 1)
        encoded += part
        meaning |= {field_name: means} if field_name else means
    return encoded, meaning


def _draw_field(draw: st.DrawFn, number: int, type_name: str, depth: int) -> tuple[bytes, Any]:
    item = type_name[2:]
    if type_name.startswith("[]"):
        values = [_draw_value(draw, item, depth) for _ in range(draw(st.integers(1, 2)))]
        return b"".join(tagged(number, encoded) for encoded, _ in values), [means for _, means in values]
    if type_name.startswith("{}"):
        keys = draw(st.lists(st.text(max_size=4), min_size=1, max_size=2, unique=True))
        entries = {key: _draw_value(draw, item, depth) for key in keys}
        parts = [tagged(1, key.encode()) + tagged(2, encoded) for key, (encoded, _) in entries.items()]
        return b"".join(tagged(number, part) for part in parts), {key: means for key, (_, means) in entries.items()}
    encoded, means = _draw_value(draw, type_name, depth)
    return tagged(number, encoded), means


@st.composite
def bodies(draw: st.DrawFn) -> tuple[bytes, dict[str, Any]]:
    """A body of any kind, and the JSON object that it means."""
    version, kind, name = draw(st.sampled_from(KINDS))
    encoded, meaning = draw_message(draw, name)
    version = version or "v1"
    return envelop(version, kind, encoded), {"kind": kind, "apiVersion": version} | meaning
