"""How devices fare, as a stream of reports for whoever watches.

A report holds only for a while. The driver says how things are; asking it again in time is the SDK's part, so that a
healthy device never looks forgotten, and a driver that hangs does.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from msgspec.structs import replace

from dray.driver.claims import DeviceHealth
from dray.driver.port import Driver
from dray.driver.waiting import wait_for_event
from dray.effects.clock import Clock
from dray.effects.log import Log

__all__ = ["HealthWatch", "cut_message", "get_lease_seconds", "reports_health"]

_DEFAULT_LEASE_SECONDS: Final = 30
_MAX_MESSAGE_BYTES: Final = 1024
_ELLIPSIS: Final = "..."
_RENEWALS_PER_LEASE: Final = 3
"""Reports are renewed so often that one may be lost, or late, before a lease ends."""


def reports_health(driver: Driver) -> bool:
    """Whether a driver says how its devices fare."""
    return type(driver).health is not Driver.health


def get_lease_seconds(reports: Sequence[DeviceHealth]) -> int:
    """How long all of a report holds: the shortest lease in it, where none given means 30 seconds."""
    leases = [each.lease_seconds if each.lease_seconds > 0 else _DEFAULT_LEASE_SECONDS for each in reports]
    return min(leases, default=_DEFAULT_LEASE_SECONDS)


def cut_message(message: str) -> str:
    """At most 1024 bytes of a message: what is longer ends in `...`, and never inside a character."""
    text = message.encode()
    if len(text) <= _MAX_MESSAGE_BYTES:
        return message
    return text[: _MAX_MESSAGE_BYTES - len(_ELLIPSIS)].decode(errors="ignore") + _ELLIPSIS


class HealthWatch:
    """The reports of one driver, for any number of watchers."""

    def __init__(self, driver: Driver, node_name: str, clock: Clock, log: Log) -> None:
        self._driver = driver
        self._node_name = node_name
        self._clock = clock
        self._log = log
        self._changes: set[asyncio.Event] = set()

    def changed(self) -> None:
        """Report anew to everybody who watches."""
        for each in self._changes:
            each.set()

    async def reports(self) -> AsyncGenerator[tuple[DeviceHealth, ...], None]:
        """A full report now, after every change, and before a lease ends. Close it with `aclose`.

        A driver that fails to say is asked again, and logged once; meanwhile leases run out and devices turn unknown.
        """
        changed = asyncio.Event()
        self._changes.add(changed)
        try:
            lease = _DEFAULT_LEASE_SECONDS
            while True:
                changed.clear()
                report = await self._ask()
                if report is not None:
                    lease = get_lease_seconds(report)
                    yield report
                await wait_for_event(changed, self._clock, lease / _RENEWALS_PER_LEASE)
        finally:
            self._changes.discard(changed)

    async def _ask(self) -> tuple[DeviceHealth, ...] | None:
        try:
            reports = await self._driver.health()
        except Exception as fault:  # an author's code may raise anything; the next question may go better
            self._log.error(
                "driver cannot tell health", driver=self._driver.name, err=f"{type(fault).__name__}: {fault}"
            )
            return None
        return tuple(
            replace(each, pool=each.pool or self._node_name, message=cut_message(each.message)) for each in reports
        )
