"""The drivers of one node: which instances of each have registered, which one is called, and what follows when none is.

One driver may have several instances during a rolling update. The newest that is connected is called. A driver of
which nobody is connected for a while loses its ResourceSlices, so that the scheduler places nothing more there.
"""

from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from dray.errors import DrayError
from dray.node.connection import DriverCallFailed, DriverConnection, HealthNotOffered
from dray.node.core.health import HealthReport
from dray.node.surroundings import Surroundings
from dray.node.timers import Timer

__all__ = ["WIPE_SECONDS", "DriverInstance", "DriverListener", "DriverMissing", "Drivers"]

WIPE_SECONDS: Final = 30.0
"""How long a driver may be away, as when it is updated, before its slices are deleted."""
_HEALTH_RETRY_SECONDS: Final = 5.0


class DriverMissing(DrayError):
    """No instance of the driver has registered with this node."""


class DriverListener:
    """What an agent wants to know of its drivers. The default takes no notice."""

    def driver_connected(self, driver: str) -> None:
        """Calls may succeed now that failed before."""

    def driver_gone(self, driver: str) -> None:
        """Nobody was connected for a while: the slices of the driver must go."""

    def health_reported(self, driver: str, reports: Sequence[HealthReport]) -> None:
        """The driver says how its devices fare."""

    def health_lost(self, driver: str) -> None:
        """Nothing is known any more of the driver's devices."""


@dataclass(eq=False, slots=True)
class DriverInstance:
    """One running instance of a driver, told apart by where it listens."""

    driver: str
    endpoint: str
    connection: DriverConnection
    is_connected: bool = False


class Drivers:
    """All drivers of one node. Owns their connections."""

    def __init__(self, node: str, around: Surroundings, listener: DriverListener) -> None:
        self.node = node
        self._around = around
        self._listener = listener
        self._instances: dict[str, list[DriverInstance]] = {}
        self._streaming: set[DriverInstance] = set()
        self._wipes: dict[str, Timer] = {}
        self.arrivals = 0
        """How often an instance has become one that may be called. What failed over a change may succeed now."""

    @property
    def connected(self) -> frozenset[str]:
        """The drivers of which an instance is connected."""
        return frozenset(
            name for name, instances in self._instances.items() if any(each.is_connected for each in instances)
        )

    def add(self, instance: DriverInstance) -> None:
        """Take an instance in. It may be called from now on. Raises ValueError if one listens there already."""
        instances = self._instances.setdefault(instance.driver, [])
        if any(each.endpoint == instance.endpoint for each in instances):
            raise ValueError(f"endpoint {instance.endpoint} already registered for DRA driver {instance.driver}")
        instances.append(instance)
        name = f"health of {instance.driver} on {self.node}"
        self._around.begin(self._follow_health(instance), name)
        self._review(instance.driver)

    async def remove(self, instance: DriverInstance) -> None:
        """Forget an instance. Unknown ones are a no-op: it may have gone by itself."""
        instances = self._instances.get(instance.driver, [])
        if instance in instances:
            instances.remove(instance)
            instance.is_connected = False
            if not instances:
                del self._instances[instance.driver]
            self._review(instance.driver)
        await instance.connection.aclose()

    def note_connection(self, instance: DriverInstance, *, is_connected: bool) -> None:
        """An instance can be reached now, or no longer."""
        if instance.is_connected != is_connected and instance in self._instances.get(instance.driver, ()):
            instance.is_connected = is_connected
            self._review(instance.driver)

    def choose(self, driver: str) -> DriverInstance:
        """The instance to call: the newest that is connected, else the newest. Raises DriverMissing."""
        if not driver:
            raise DriverMissing("DRA driver name is empty")
        instances = self._instances.get(driver)
        if not instances:
            raise DriverMissing(f"DRA driver {driver} is not registered")
        return next((each for each in reversed(instances) if each.is_connected), instances[-1])

    def _review(self, driver: str) -> None:
        """Plan to delete the slices of a driver that is away, or plan it no longer."""
        if driver in self.connected:
            pending = self._wipes.pop(driver, None)
            if pending is not None:
                pending.cancel()
            self.arrivals += 1
            self._listener.driver_connected(driver)
        elif driver not in self._wipes:
            self._wipes[driver] = self._around.timers.set(WIPE_SECONDS, lambda: self._wipe(driver))

    def _wipe(self, driver: str) -> None:
        self._wipes.pop(driver, None)
        if driver not in self.connected:
            self._listener.driver_gone(driver)

    async def _follow_health(self, instance: DriverInstance) -> None:
        """Listen to an instance until it is removed, again and again."""
        while instance in self._instances.get(instance.driver, ()):
            try:
                async with aclosing(instance.connection.watch_health()) as reports:
                    async for report in reports:
                        self._streaming.add(instance)
                        self._listener.health_reported(instance.driver, report)
            except HealthNotOffered:
                return
            except DriverCallFailed as fault:
                self._around.log.debug("health is interrupted", node=self.node, driver=instance.driver, err=fault)
            finally:
                self._streaming.discard(instance)
                # A second instance that reports, as in a rolling update, goes on to speak for the driver.
                if not any(each.driver == instance.driver for each in self._streaming):
                    self._listener.health_lost(instance.driver)
            await self._around.clock.sleep(_HEALTH_RETRY_SECONDS)

    async def aclose(self) -> None:
        """Let go of all drivers; their slices stay."""
        for timer in self._wipes.values():
            timer.cancel()
        self._wipes.clear()
        for instance in [each for instances in self._instances.values() for each in instances]:
            self._instances.pop(instance.driver, None)
            await instance.connection.aclose()
