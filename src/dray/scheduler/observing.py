"""Who watches the scheduler at work, such as metrics: what it is told, and nobody."""

from typing import Final, Protocol

from dray.api.meta import OwnerReference
from dray.scheduler.core.counters import Ending
from dray.scheduler.core.news import Bound, NotBound
from dray.scheduler.core.orders import Order
from dray.scheduler.core.state import SchedulerState

__all__ = ["NO_OBSERVER", "Nobody", "Observer"]


class Observer(Protocol):
    """Told of what happens as it happens. Quick, and never fails."""

    def watch(self, state: SchedulerState) -> None:
        """The state to read figures from, at any time between decisions. Never to be changed."""
        ...

    def attempt_made(self, seconds: float) -> None:
        """A pod or a group was tried."""
        ...

    def attempt_ended(self, ending: Ending, seconds: float) -> None:
        """What came of it, unless it was bound: then that comes as news."""
        ...

    def binding_ended(self, news: Bound | NotBound, now: float) -> None:
        """A pod that was decided on is bound, or is not; the state does not know it yet."""
        ...

    def order_done(self, order: Order, seconds: float) -> None:
        """An order was carried out."""
        ...

    def claim_created(self, owner: OwnerReference, *, is_made: bool) -> None:
        """A claim for extended resources was made for a pod, or could not be."""
        ...


class Nobody:
    """Looks away; for those who watch some of it."""

    def watch(self, state: SchedulerState) -> None:
        """Look away."""

    def attempt_made(self, seconds: float) -> None:
        """Look away."""

    def attempt_ended(self, ending: Ending, seconds: float) -> None:
        """Look away."""

    def binding_ended(self, news: Bound | NotBound, now: float) -> None:
        """Look away."""

    def order_done(self, order: Order, seconds: float) -> None:
        """Look away."""

    def claim_created(self, owner: OwnerReference, *, is_made: bool) -> None:
        """Look away."""


NO_OBSERVER: Final[Observer] = Nobody()
"""Nobody watches."""
