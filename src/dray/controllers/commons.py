"""What the controllers of one process have in common: one client, one view of each kind, one place for metrics."""

from collections.abc import Sequence

from dray.client.port import Client
from dray.client.recording import EventRecorder
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.runtime import Effects

__all__ = ["Commons"]


class Commons:
    """Handed to each controller when it is made. Owns the recorders of events, one a component."""

    def __init__(
        self, client: Client, informers: SharedInformers, effects: Effects, metrics: ControllerMetrics
    ) -> None:
        self.client = client
        self.informers = informers
        self.effects = effects
        self.metrics = metrics
        self._recorders: dict[str, EventRecorder] = {}

    @property
    def recorders(self) -> Sequence[EventRecorder]:
        """The recorders that were asked for."""
        return tuple(self._recorders.values())

    def get_recorder(self, component: str) -> EventRecorder:
        """The recorder that tells as `component`."""
        recorder = self._recorders.get(component)
        if recorder is None:
            effects = self.effects
            pace = Pace(effects.clock, effects.entropy)
            recorder = self._recorders[component] = EventRecorder(self.client, component, pace, effects.log)
        return recorder
