"""What the controllers of one process have in common: one client, one view of each kind, one place for metrics."""

from collections.abc import Sequence
from typing import TypeVar

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import SERVED, AnyKind, Registry
from dray.client.informer import Informer
from dray.client.port import Client
from dray.client.recording import EventRecorder
from dray.client.retrying import Pace
from dray.client.sharing import SharedInformers
from dray.controllers.metrics import ControllerMetrics
from dray.controllers.mirrors import Mirrors
from dray.controllers.runtime import Effects
from dray.controllers.served import choose_mirrored

__all__ = ["Commons"]

K = TypeVar("K", bound=ApiObject)


class Commons:
    """Handed to each controller when it is made. Owns the recorders of events, one a component.

    `absent` are the kinds that the API server does not serve. Whoever can do without one asks `has` first. `registry`
    and `root_ca` are what some controllers have to know of the cluster; all three are set before any is made.
    """

    def __init__(
        self, client: Client, informers: SharedInformers, effects: Effects, metrics: ControllerMetrics
    ) -> None:
        self.client = client
        self.effects = effects
        self.metrics = metrics
        self.absent: frozenset[AnyKind] = frozenset()
        self.registry: Registry = SERVED
        self.root_ca = ""
        self._informers = informers
        self._followed: dict[AnyKind, None] = {}
        self._recorders: dict[str, EventRecorder] = {}
        self._mirrors: Mirrors | None = None

    @property
    def recorders(self) -> Sequence[EventRecorder]:
        """The recorders that were asked for."""
        return tuple(self._recorders.values())

    def has(self, kind: AnyKind) -> bool:
        """Whether the API server serves a kind."""
        return kind not in self.absent

    def follow(self, kind: Kind[K]) -> Informer[K]:
        """The shared informer of a kind, which controllers then wait for before they start."""
        self._followed[kind] = None
        return self._informers.get(kind)

    def get_mirrors(self) -> Mirrors:
        """Views of all kinds whose objects can go, for controllers to which any object matters."""
        if self._mirrors is None:
            kinds = choose_mirrored(filter(self.has, self.registry))
            self._mirrors = Mirrors(self._informers, kinds)
            self._followed |= dict.fromkeys(kinds)
        return self._mirrors

    async def wait_synced(self) -> None:
        """Wait until every view that some controller reads is complete."""
        await self._informers.wait_synced(tuple(self._followed))

    def get_recorder(self, component: str) -> EventRecorder:
        """The recorder that tells as `component`."""
        recorder = self._recorders.get(component)
        if recorder is None:
            effects = self.effects
            pace = Pace(effects.clock, effects.entropy)
            recorder = self._recorders[component] = EventRecorder(self.client, component, pace, effects.log)
        return recorder
