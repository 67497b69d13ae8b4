"""Sets of devices as integers: bit `i` stands for the device at place `i` of the search order."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["above", "bits", "lowest_bits"]


def bits(mask: int) -> Iterator[int]:
    """The places in a set, ascending."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def above(place: int) -> int:
    """All places after `place`."""
    return -1 << (place + 1)


def lowest_bits(mask: int, count: int) -> int:
    """The subset of the `count` first places, or all of them if there are fewer."""
    if mask.bit_count() <= count:
        return mask
    chosen = 0
    for _ in range(count):
        low = mask & -mask
        chosen |= low
        mask ^= low
    return chosen
