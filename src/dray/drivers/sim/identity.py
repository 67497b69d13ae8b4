"""Identifiers that follow from names: the same node has the same devices after every restart, and no two are alike."""

import hashlib
from typing import Final

__all__ = ["derive_number", "derive_uuid", "make_uuid5"]

_DNS: Final = bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8")
"""The namespace of RFC 9562 for names of hosts."""


def make_uuid5(name: str) -> str:
    """The UUID of version 5 of a name in the namespace of DNS names."""
    digest = bytearray(hashlib.sha1(_DNS + name.encode(), usedforsecurity=False).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def derive_uuid(*names: str) -> str:
    """A UUID for what these names lead to, such as a node, a driver and a device."""
    return make_uuid5("/".join((*names, "sim.dray.dev")))


def derive_number(*names: str) -> int:
    """A number of 63 bits for what these names lead to, where hardware has serial numbers."""
    return int.from_bytes(hashlib.sha256("/".join(names).encode()).digest()[:8]) >> 1
