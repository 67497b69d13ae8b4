"""Sets of places (devices in search order, or numbers of nodes) as integers: bit `i` stands for place `i`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

__all__ = ["bits", "join_overlapping"]


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


def join_overlapping(places: int, ties: Iterable[int]) -> list[tuple[int, ...]]:
    """Parts of a set of places: ties that overlap tie their places together, places without ties stand alone."""
    tied: list[int] = []
    for tie in ties:
        tie &= places
        if not tie:
            continue
        apart: list[int] = []
        for other in tied:
            if other & tie:
                tie |= other
            else:
                apart.append(other)
        tied = [*apart, tie]
    alone = places & ~sum(tied)
    return [tuple(bits(each)) for each in tied] + [(place,) for place in bits(alone)]
