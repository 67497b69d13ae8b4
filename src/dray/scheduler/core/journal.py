"""Which nodes changed since one looked last."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Journal"]

_KEPT = 20_000
"""Changes remembered. Who looked last before that works everything out anew: four times the largest cluster we know is
more work to catch up with than to redo."""


class Journal:
    """Numbers of changed nodes in the order of the changes. Each reader keeps its own place; one owner writes."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._forgotten = 0

    @property
    def end(self) -> int:
        """The place after the latest change; nobody who stands here has missed anything."""
        return self._forgotten + len(self._numbers)

    def note(self, number: int) -> None:
        """Write down that a node changed."""
        if len(self._numbers) >= 2 * _KEPT:
            del self._numbers[:_KEPT]
            self._forgotten += _KEPT
        self._numbers.append(number)

    def since(self, place: int) -> Iterable[int] | None:
        """The nodes that changed after `place`, each once; None if that is too long ago to know."""
        if place == self.end:
            return ()
        if place < self._forgotten:
            return None
        return dict.fromkeys(self._numbers[place - self._forgotten :])
