"""One evaluation: its variables, what it has cost so far, and values that are yet to be computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from dray.cel.errors import CostLimitExceeded, EvaluationError
from dray.cel.values import Value

__all__ = ["Frame", "Pending", "Step", "read_slot"]

MAX_COPIED = 10_000_000
"""Elements and characters one evaluation may copy. Kubernetes joins lists lazily and for free; nobody needs so many."""


class Frame:
    """The state of one evaluation. A local variable has a slot of its own, given to it by the planner."""

    __slots__ = ("cost", "device", "limit", "slots", "work")

    def __init__(self, device: Value, slots: int, limit: int) -> None:
        self.device = device
        self.slots: list[Value] = [None] * slots
        self.cost = 0
        self.limit = limit
        self.work = 0

    def charge(self, cost: int) -> None:
        """Count cost, and stop when it is too much."""
        self.cost += cost
        if self.cost > self.limit:
            raise CostLimitExceeded

    def spend(self, copied: int) -> None:
        """Count elements or characters copied, which Kubernetes' cost leaves out and memory does not."""
        self.work += copied
        if self.work > MAX_COPIED:
            raise CostLimitExceeded


Step: TypeAlias = Callable[[Frame], Value]
"""Evaluates one node."""


class Pending:
    """The value of a variable that is computed when first used, and then kept, error or not."""

    __slots__ = ("step",)

    def __init__(self, step: Step) -> None:
        self.step = step


def read_slot(frame: Frame, slot: int) -> Value:
    """The value of an accumulator or binding; an error in it is raised."""
    value = frame.slots[slot]
    if isinstance(value, Pending):
        try:
            value = value.step(frame)
        except EvaluationError as fault:
            value = fault
        frame.slots[slot] = value
    if isinstance(value, EvaluationError):
        raise value
    return tuple(value) if isinstance(value, list) else value
