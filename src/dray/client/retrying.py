"""How long to wait before the next try: longer each time, and never in step with others."""

from dataclasses import dataclass
from typing import Final

from dray.effects.clock import Clock
from dray.effects.entropy import Entropy

__all__ = ["Pace"]

_SPREAD: Final = 0.5
"""Each wait is up to half as long again, so that clients that failed together do not come back together."""


@dataclass(frozen=True, slots=True)
class Pace:
    """Waits that double from `first_seconds` to `limit_seconds`. Stateless: the caller counts its attempts.

    The defaults are those of Kubernetes' informers: gentle on a server that just came back.
    """

    clock: Clock
    entropy: Entropy
    first_seconds: float = 0.8
    limit_seconds: float = 30.0

    def get_delay(self, attempt: int) -> float:
        """Seconds to wait after attempt number `attempt` (from 0) failed, before chance adds to it."""
        return min(self.limit_seconds, self.first_seconds * 2.0 ** min(attempt, 32))

    async def pause(self, attempt: int, *, at_least: float = 0.0) -> None:
        """Wait before the next try; `at_least` is what the server asked for."""
        await self.clock.sleep(self.entropy.jitter(max(at_least, self.get_delay(attempt)), _SPREAD))
