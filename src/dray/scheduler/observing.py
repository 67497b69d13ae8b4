"""Who watches the scheduler at work, such as metrics: what it is told, and nobody."""

from typing import Final, Protocol

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

    def order_done(self, order: Order, seconds: float) -> None:
        """An order was carried out."""
        ...

    def claim_created(self, is_success: bool) -> None:
        """A claim for extended resources was made, or could not be."""
        ...


class Nobody:
    """Looks away; for those who watch some of it."""

    def watch(self, state: SchedulerState) -> None:
        """Look away."""

    def attempt_made(self, seconds: float) -> None:
        """Look away."""

    def order_done(self, order: Order, seconds: float) -> None:
        """Look away."""

    def claim_created(self, is_success: bool) -> None:
        """Look away."""


NO_OBSERVER: Final[Observer] = Nobody()
"""Nobody watches."""
