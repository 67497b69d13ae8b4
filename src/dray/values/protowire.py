"""Protobuf's wire format: numbered fields in a row, read without knowing what they mean.

What a field means is its reader's business; `integer` and the like say how its number or its bytes are to be taken.
Groups, which nothing we read has used for decades, are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Final, NamedTuple

__all__ = [
    "WireError",
    "WireField",
    "WireType",
    "read_fields",
    "read_varints",
    "to_int32",
    "to_int64",
    "write_field",
]

_MAX_SHIFT: Final = 63
_MAX_SIZE: Final = 2**63


class WireError(ValueError):
    """The bytes are no protobuf message. The message is that of Kubernetes' reader."""


class WireType(IntEnum):
    """How a field is written."""

    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    GROUP_START = 3
    GROUP_END = 4
    FIXED32 = 5


class WireField(NamedTuple):
    """One occurrence of a field: a number for varints and fixed widths, the bytes of the rest."""

    number: int
    type: WireType
    value: int | bytes


def read_fields(encoded: bytes) -> Iterator[WireField]:
    """The fields of a message in their order, unsigned. Raises `WireError` where they stop making sense.

    Takes time proportional to the length, whatever the bytes are; nothing nested is looked into.
    """
    at, open_groups = 0, 0
    while at < len(encoded):
        tag, at = _read_varint(encoded, at)
        number, wire_type = _split(tag)
        value: int | bytes = 0
        if wire_type is WireType.VARINT:
            value, at = _read_varint(encoded, at)
        elif wire_type is WireType.BYTES:
            size, at = _read_varint(encoded, at)
            if size >= _MAX_SIZE:
                raise WireError("proto: negative length found during unmarshaling")
            value, at = _take(encoded, at, size)
        elif wire_type in (WireType.FIXED64, WireType.FIXED32):
            raw, at = _take(encoded, at, 8 if wire_type is WireType.FIXED64 else 4)
            value = int.from_bytes(raw, "little")
        elif wire_type is WireType.GROUP_START:
            open_groups += 1
            continue
        elif not open_groups:
            raise WireError("proto: unexpected end of group")
        else:
            open_groups -= 1
            continue
        if not open_groups:
            yield WireField(number, wire_type, value)
    if open_groups:
        raise WireError("unexpected EOF")


def read_varints(packed: bytes) -> Iterator[int]:
    """Numbers written one after another, as in a packed list."""
    at = 0
    while at < len(packed):
        value, at = _read_varint(packed, at)
        yield value


def to_int64(value: int) -> int:
    """The signed number that a varint stands for."""
    return value - (1 << 64) if value >> 63 else value


def to_int32(value: int) -> int:
    """The signed number that a varint stands for in a field of 32 bits; what does not fit is cut off."""
    value &= 0xFFFF_FFFF
    return value - (1 << 32) if value >> 31 else value


def write_field(number: int, value: str | bytes) -> bytes:
    """One field with a text or a message in it, which `read_fields` reads."""
    content = value.encode() if isinstance(value, str) else value
    return _write_varint(number << 3 | WireType.BYTES) + _write_varint(len(content)) + content


def _write_varint(number: int) -> bytes:
    groups = bytearray()
    while number > 0x7F:
        groups.append(number & 0x7F | 0x80)
        number >>= 7
    groups.append(number)
    return bytes(groups)


def _split(tag: int) -> tuple[int, WireType]:
    number, code = tag >> 3, tag & 7
    try:
        wire_type = WireType(code)
    except ValueError:
        raise WireError(f"proto: illegal wireType {code}") from None
    if not 0 < number < 2**29:
        raise WireError(f"proto: illegal tag {to_int32(number)} (wire type {tag})")
    return number, wire_type


def _take(encoded: bytes, at: int, size: int) -> tuple[bytes, int]:
    end = at + size
    if end > len(encoded):
        raise WireError("unexpected EOF")
    return encoded[at:end], end


def _read_varint(encoded: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, _MAX_SHIFT + 1, 7):
        if at >= len(encoded):
            raise WireError("unexpected EOF")
        byte = encoded[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, at
    raise WireError("proto: integer overflow")
