"""Drivers that live in the agent's own process: the same calls without a socket, for thousands of simulated nodes."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Protocol, TypeVar

from dray.driver.claims import ClaimRef, DeviceHealth
from dray.driver.local import LocalDriver
from dray.driver.service import PrepareAnswer as ServiceAnswer
from dray.driver.service import UnprepareAnswer
from dray.node.connection import CALL_SECONDS, DriverCallFailed, HealthNotOffered
from dray.node.core.answers import PrepareAnswer
from dray.node.core.health import HealthReport
from dray.node.core.prepared_claims import ReadyDevice

__all__ = ["ClaimAnswerer", "HealthFeed", "LocalConnection", "connect_local"]

T = TypeVar("T")

HealthFeed = Callable[[], AsyncGenerator[Sequence[DeviceHealth], None]]
"""Begins to tell how devices fare: all of them at first, then what changes."""


def connect_local(node: str, driver: LocalDriver) -> "LocalConnection":
    """The connection to a driver that the SDK runs in this process."""
    return LocalConnection(node, driver.host.claims, driver.host.health.reports if driver.has_health else None)


class ClaimAnswerer(Protocol):
    """What a driver that runs in this process answers; `dray.driver.service.ClaimService` is one."""

    async def prepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, ServiceAnswer]:
        """Prepare claims; answers by uid."""
        ...

    async def unprepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, UnprepareAnswer]:
        """Unprepare claims; answers by uid."""
        ...


class LocalConnection:
    """A driver in this process. `node` is the pool of devices whose reports name none."""

    def __init__(self, node: str, service: ClaimAnswerer, health: HealthFeed | None = None) -> None:
        self._node = node
        self._service = service
        self._health = health

    async def prepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, PrepareAnswer]:
        """See `DriverConnection.prepare`."""
        answers = await _within_deadline(self._service.prepare(claims))
        return {uid: _translate(answer) for uid, answer in answers.items()}

    async def unprepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, str]:
        """See `DriverConnection.unprepare`."""
        answers = await _within_deadline(self._service.unprepare(claims))
        return {uid: answer.error for uid, answer in answers.items()}

    async def watch_health(self) -> AsyncGenerator[Sequence[HealthReport], None]:
        """See `DriverConnection.watch_health`."""
        if self._health is None:
            raise HealthNotOffered("the driver does not watch its devices")
        async with aclosing(self._health()) as reports:
            async for report in reports:
                yield [
                    HealthReport(each.pool or self._node, each.device, each.health, each.message, each.lease_seconds)
                    for each in report
                ]

    async def aclose(self) -> None:
        """The driver goes on: who started it ends it."""


def _translate(answer: ServiceAnswer) -> PrepareAnswer:
    return PrepareAnswer(
        tuple(
            ReadyDevice(
                each.key.pool,
                each.key.device,
                (each.key.request,) if each.key.request else (),
                each.cdi_names,
                each.key.share_id,
            )
            for each in answer.devices
        ),
        answer.error,
    )


async def _within_deadline(call: Awaitable[T]) -> T:
    try:
        async with asyncio.timeout(CALL_SECONDS):
            return await call
    except TimeoutError as fault:
        raise DriverCallFailed("DeadlineExceeded", "context deadline exceeded") from fault
