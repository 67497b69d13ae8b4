"""Entries of the queue that no decision can tell apart."""

from __future__ import annotations

from dataclasses import dataclass, field

from dray.scheduler.core.entry import Entry
from dray.scheduler.core.stir import Stir

__all__ = ["Kindred"]


@dataclass(slots=True, eq=False)
class Kindred:
    """Entries of one likeness that rest, and which of them is on its way to be tried for all."""

    resting: dict[str, Entry] = field(default_factory=dict)
    carrier: Entry | None = None
    plugins: frozenset[str] = frozenset()
    """Who refused the one that was tried last; that goes for all of them."""
    hope: Stir | None = None
    """What happened since the last refusal."""

    def give(self, hope: Stir) -> None:
        """Something may help one of them, or more."""
        if self.hope is None:
            self.hope = hope.copy()
        else:
            self.hope.add(hope)

    @property
    def following(self) -> Entry | None:
        """Who is to be tried next."""
        return min(self.resting.values(), key=lambda entry: entry.number, default=None)
