"""What the agents of all nodes of a process share."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, Final

from dray.client.port import Client
from dray.client.recording import EventRecorder
from dray.client.retrying import Pace
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.effects.log import Log
from dray.node.metrics import NodeMetrics
from dray.node.timers import Timers

__all__ = ["PREPARE_RETRY_SECONDS", "Surroundings"]

PREPARE_RETRY_SECONDS: Final = 60.0
"""Wait before a driver that could not prepare a claim is asked again: until a kubelet's next look at the pod.

Up to half is added.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """The API server, time, chance, the log, and the tasks in which agents do what takes long."""

    client: Client
    clock: Clock
    entropy: Entropy
    log: Log
    metrics: NodeMetrics
    timers: Timers
    events: EventRecorder
    tasks: asyncio.TaskGroup
    prepare_retry_seconds: float = PREPARE_RETRY_SECONDS

    @property
    def pace(self) -> Pace:
        """How long to wait for an API server that fails."""
        return Pace(self.clock, self.entropy)

    def begin(self, work: Coroutine[Any, Any, Any], title: str) -> asyncio.Task[Any] | None:
        """Do something in a task of its own. Where everything is coming to its end already, it is left undone."""
        try:
            return self.tasks.create_task(work, name=title)
        except RuntimeError:  # the group is shutting down
            work.close()
            return None
