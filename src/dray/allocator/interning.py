"""Small numbers for equal things, so that keys made of many things stay short and cheap to compare."""

from __future__ import annotations

from collections.abc import Hashable

__all__ = ["Interner"]


class Interner:
    """Gives equal keys the same number, in the order in which they come. Never forgets one."""

    __slots__ = ("_numbers",)

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def number(self, key: Hashable) -> int:
        """The number of `key`, a new one if it was never seen."""
        numbers = self._numbers
        known = numbers.get(key)
        if known is None:
            known = numbers[key] = len(numbers)
        return known
