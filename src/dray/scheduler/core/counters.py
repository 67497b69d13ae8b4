"""What the scheduler counts where it happens, for whoever shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

__all__ = ["Counters", "Ending"]


class Ending(NamedTuple):
    """How an attempt ended: `scheduled`, `unschedulable` or `error`; of one pod, or of a group as a whole."""

    result: str
    profile: str
    is_group: bool = False


@dataclass(slots=True)
class Counters:
    """All of it; nothing is ever taken back."""

    attempts: Counter[Ending] = field(default_factory=Counter)
    recalled: int = 0
    """Attempts that were answered from memory."""
    preemptions: int = 0
    """How often it was looked for pods to evict, in vain or not."""
    victims: int = 0
    violations: int = 0
    """Victims that a disruption budget would have kept."""
    flushed: int = 0
    """Pods that were placed once they were tried for no reason but that they waited long."""
    explanations: int = 0
    steps: int = 0
    """Choices that the search for devices looked at."""

    def count(self, result: str, profile: str) -> None:
        """Note how an attempt at a pod ended."""
        self.attempts[Ending(result, profile)] += 1

    def count_group(self, result: str, profile: str) -> None:
        """Note how an attempt at a group ended."""
        self.attempts[Ending(result, profile, is_group=True)] += 1
