"""Conditions on all devices of a claim together: one attribute that they share, or that differs between any two.

Values are sets (a single value is a set of one). Matching keeps what all devices so far have in common; distinct
devices use values up. Both only ever get narrower while devices are taken.
"""

from __future__ import annotations

from collections.abc import Hashable

from dray.allocator.arena import Arena, Option
from dray.allocator.columns import Column

__all__ = ["DistinctRule", "MatchRule", "constraint_rules"]


class MatchRule:
    """Shuts devices that have no value in common with all taken so far, and always devices without a value."""

    def __init__(self, columns: dict[int, Column]) -> None:
        self.columns = columns
        self.common: int | None = None
        self._past: list[int | None] = []

    def shut(self, option: Option) -> int:
        """Devices that have none of the common values."""
        column = self.columns[option.number]
        return ~(column.present if self.common is None else column.having(self.common))

    def take(self, option: Option, place: int) -> None:
        """Narrow the common values to those of the device."""
        self._past.append(self.common)
        values = self.columns[option.number].values[place]
        self.common = values if self.common is None else self.common & values

    def undo(self, option: Option, place: int) -> None:
        """Restore the common values."""
        self.common = self._past.pop()

    def state(self, places: int) -> Hashable:
        """The values that devices so far have in common."""
        return self.common


class DistinctRule:
    """Shuts devices that have a value which one taken so far has too, and always devices without a value."""

    def __init__(self, columns: dict[int, Column]) -> None:
        self.columns = columns
        self.used = 0
        self._past: list[int] = []

    def shut(self, option: Option) -> int:
        """Devices that have one of the used values."""
        column = self.columns[option.number]
        return ~column.present | column.having(self.used) if self.used else ~column.present

    def take(self, option: Option, place: int) -> None:
        """Use up the values of the device."""
        self._past.append(self.used)
        self.used |= self.columns[option.number].values[place]

    def undo(self, option: Option, place: int) -> None:
        """Restore the used values."""
        self.used = self._past.pop()

    def state(self, places: int) -> Hashable:
        """The values used so far."""
        return self.used


def constraint_rules(arena: Arena) -> tuple[tuple[MatchRule | DistinctRule, ...], ...]:
    """The constraints of each claim, as rules, in their order."""
    columns: list[list[dict[int, Column]]] = [[{} for _ in claim] for claim in arena.constraints]
    for option in arena.options:
        for index, column in option.columns:
            columns[option.claim][index][option.number] = column
    return tuple(
        tuple(
            DistinctRule(each) if constraint.is_distinct else MatchRule(each)
            for constraint, each in zip(claim, by_constraint, strict=True)
        )
        for claim, by_constraint in zip(arena.constraints, columns, strict=True)
    )
