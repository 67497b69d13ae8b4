"""Sets of places (devices in search order, or numbers of nodes) as integers: bit `i` stands for place `i`."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["bits"]


_LONG = 512


def bits(mask: int) -> Iterator[int]:
    """The places in a set, ascending."""
    if mask.bit_length() > _LONG:
        yield from _bits_of_long(mask)
        return
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _bits_of_long(mask: int) -> Iterator[int]:
    """As `bits`; taking bits away one by one would copy the whole set each time."""
    digits = bin(mask)[:1:-1]
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)
