"""Events last for an hour after they were last heard of."""

from typing import Final

from dray.api.core.event import Event
from dray.api.core.kinds import EVENT
from dray.api.meta import DeleteOptions, Preconditions
from dray.client.port import Client, ObjectName
from dray.controllers.runtime import Controller, Effects
from dray.errors import Conflict, NotFound
from dray.values.times import Time

__all__ = ["EventExpiry"]

_LIFE_SECONDS: Final = 3600
_ROUND_SECONDS: Final = 300.0
"""How often we look: an event may outlive its hour by so much."""


class EventExpiry:
    """Deletes old events, round by round."""

    def __init__(self, client: Client, effects: Effects) -> None:
        self._client = client
        self._clock = effects.clock
        self.controller = Controller("event expiry", self.reconcile, effects)
        self.controller.wake("events")

    async def reconcile(self, key: str) -> float:
        """Delete what is old; returns when to look again."""
        listed = await self._client.list(EVENT)
        oldest = self._clock.now().to_time().plus_seconds(-_LIFE_SECONDS)
        for event in listed.items:
            if _last_heard(event) < oldest:
                await self._delete(event)
        return _ROUND_SECONDS

    async def _delete(self, event: Event) -> None:
        """Delete exactly this state; one that was heard of again stays."""
        meta = event.metadata
        options = DeleteOptions(preconditions=Preconditions(uid=meta.uid, resource_version=meta.resource_version))
        try:
            await self._client.delete(EVENT, ObjectName(meta.name, meta.namespace), options)
        except (Conflict, NotFound):
            return


def _last_heard(event: Event) -> Time:
    series = event.series.last_observed_time if event.series is not None else None
    micro = [each.to_time() for each in (event.event_time, series) if each is not None]
    whole = [each for each in (event.last_timestamp, event.metadata.creation_timestamp) if each is not None]
    return max([*micro, *whole], default=Time(0))
