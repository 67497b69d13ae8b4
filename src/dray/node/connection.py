"""How the agent reaches a driver: the port, whatever lies behind it.

`grpcdrivers` speaks the kubelet's protocol over a unix socket; `localdrivers` calls a driver in this process. Both
keep the protocol's promises: one answer a claim, and any call may come twice.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Final, Protocol

from dray.driver.claims import ClaimRef
from dray.errors import DrayError
from dray.node.core.answers import PrepareAnswer
from dray.node.core.health import HealthReport

__all__ = ["CALL_SECONDS", "DriverCallFailed", "DriverConnection", "HealthNotOffered"]


CALL_SECONDS: Final = 45.0
"""How long a driver may take for a call, wherever it lives."""


class DriverCallFailed(DrayError):
    """A call failed as a whole; `code` is gRPC's name for why, such as `Unavailable`."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(f"rpc error: code = {code} desc = {detail}")
        self.code = code


class HealthNotOffered(DrayError):
    """The driver does not watch its devices: there is nothing to listen to until it registers again."""


class DriverConnection(Protocol):
    """One instance of a driver."""

    async def prepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, PrepareAnswer]:
        """Make the devices of some claims ready; answers by claim uid. Raises DriverCallFailed."""
        ...

    async def unprepare(self, claims: Sequence[ClaimRef]) -> Mapping[str, str]:
        """Take the devices of some claims back; by claim uid, what went wrong, or nothing. Raises DriverCallFailed."""
        ...

    def watch_health(self) -> AsyncGenerator[Sequence[HealthReport], None]:
        """Reports on devices, as they come. Raises DriverCallFailed, HealthNotOffered."""
        ...

    async def aclose(self) -> None:
        """Let go of the driver. May be repeated."""
        ...
