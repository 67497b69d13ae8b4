"""What every score offers, and how points are scaled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from dray.scheduler.core.applicant import Applicant
from dray.scheduler.core.indexes import Indexes
from dray.scheduler.core.profile import Profile

__all__ = ["FULL", "Grades", "Score", "scaled", "split"]

FULL: Final = 100
"""The most points a plugin gives."""

Grades = Mapping[int, int]
"""Nodes by what they are worth: disjoint sets of numbers by points. Nodes in none are worth nothing."""


class Score:
    """Compares the nodes that can take a pod."""

    plugin: ClassVar[str]

    def __init__(self, indexes: Indexes, profile: Profile) -> None:
        self._indexes = indexes
        self._snapshot = indexes.snapshot
        self._profile = profile

    def grade(self, applicant: Applicant, nodes: int) -> Grades:
        """The points of `nodes`, of which there are at least two. Sets may hold other nodes too."""
        return {}


def scaled(raw: Grades, *, is_reversed: bool = False) -> Grades:
    """Raw values, none below 0, scaled so that the highest is full marks, or with `is_reversed` nothing."""
    highest = max(raw, default=0)
    if highest == 0:
        return {FULL: _all(raw)} if is_reversed else {}
    grades: dict[int, int] = {}
    for value, nodes in raw.items():
        points = FULL * value // highest
        points = FULL - points if is_reversed else points
        grades[points] = grades.get(points, 0) | nodes
    return grades


def split(groups: Grades, levels: Grades, factor: int = 1) -> Grades:
    """Groups of nodes with a value each, split by a second value, which is added `factor` times."""
    parts: dict[int, int] = {}
    for value, nodes in groups.items():
        rest = nodes
        for level, members in levels.items():
            hit = rest & members
            if hit:
                rest &= ~hit
                total = value + factor * level
                parts[total] = parts.get(total, 0) | hit
                if not rest:
                    break
        if rest:
            parts[value] = parts.get(value, 0) | rest
    return parts


def _all(groups: Grades) -> int:
    found = 0
    for nodes in groups.values():
        found |= nodes
    return found
