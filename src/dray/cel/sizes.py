"""Ranges of sizes and costs, saturating at 2^64-1 as Kubernetes' unsigned integers do."""

from __future__ import annotations

import math
from typing import NamedTuple

__all__ = ["EMPTY", "UNKNOWN", "UNLIMITED", "Range", "fixed", "scale"]

UNLIMITED = (1 << 64) - 1


class Range(NamedTuple):
    """Least and greatest, of a size or of a cost."""

    least: int
    greatest: int

    def plus(self, other: Range) -> Range:
        """Both together."""
        return Range(_held(self.least + other.least), _held(self.greatest + other.greatest))

    def times(self, other: Range) -> Range:
        """One for each of the other."""
        return Range(_held(self.least * other.least), _held(self.greatest * other.greatest))

    def scaled(self, factor: float) -> Range:
        """The cost of going over this many at `factor` each, rounded up."""
        return Range(scale(self.least, factor), scale(self.greatest, factor))

    def union(self, other: Range) -> Range:
        """Whichever it is."""
        return Range(min(self.least, other.least), max(self.greatest, other.greatest))


def _held(number: int) -> int:
    return min(number, UNLIMITED)


def scale(number: int, factor: float) -> int:
    """`number` times `factor` in doubles, rounded up."""
    product = math.ceil(float(number) * factor)
    return UNLIMITED if product >= 1 << 64 else product


def fixed(number: int) -> Range:
    """Exactly that."""
    return Range(number, number)


UNKNOWN = Range(0, UNLIMITED)
"""Nothing is known."""
EMPTY = Range(UNLIMITED, 0)
"""The union of nothing."""
