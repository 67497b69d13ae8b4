"""Telling people what was done about pods, as events that never flood the server.

An event is written when it happens first; repetitions are a series that counts and is written now and then. A pod of
which there is too much to tell is told of less. Events wait for decisions, never the other way round.
"""

import asyncio
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final, NamedTuple

import msgspec

from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.references import ObjectReference
from dray.api.events.event import Event, EventSeries
from dray.api.events.kinds import EVENT
from dray.api.meta import ObjectMeta
from dray.client.port import Client, ObjectName, Patch, PatchType, Unreachable
from dray.client.recording import refer
from dray.client.retrying import Pace
from dray.effects.log import Log
from dray.errors import ApiError, NotFound

__all__ = ["PodEvent", "PodEvents"]

_WRITERS: Final = 2
"""Few: what is told may come late, what is done may not."""
_MOST_WAITING: Final = 20_000
"""Events that wait to be written; more are dropped, as they are when the server does not keep up."""
_MOST_KNOWN: Final = 8192
_BURST: Final = 25.0
_SECONDS_A_TOKEN: Final = 300.0
"""So many different events about one pod at once, then one every five minutes."""
_SERIES_SECONDS: Final = 60.0
"""Between two writes of the same series."""


class PodEvent(NamedTuple):
    """What happened to a pod."""

    pod: Pod
    type: str
    reason: str
    action: str
    note: str
    related: Pod | None = None


class _Key(NamedTuple):
    uid: str
    type: str
    reason: str
    action: str
    note: str


@dataclass(slots=True)
class _Known:
    """An event that was told before."""

    name: ObjectName
    count: int = 1
    written_at: float = 0.0
    waits: bool = True


@dataclass(slots=True)
class _Allowance:
    tokens: float
    at: float


class PodEvents:
    """Events about pods. Owns what it remembers of them, and the tasks in which they are written."""

    def __init__(self, client: Client, instance: str, pace: Pace, log: Log) -> None:
        self._client = client
        self._instance = instance
        self._pace = pace
        self._log = log
        self._waiting: deque[tuple[_Key, PodEvent]] = deque()
        self._filled = asyncio.Event()
        self._known: OrderedDict[_Key, _Known] = OrderedDict()
        self._allowances: OrderedDict[str, _Allowance] = OrderedDict()
        self._writing = 0
        self.dropped = 0

    @property
    def is_idle(self) -> bool:
        """Whether everything that was told is written."""
        return not self._waiting and not self._writing

    def tell(self, event: PodEvent) -> None:
        """Have an event written. Returns at once."""
        now = self._pace.clock.monotonic()
        key = _Key(event.pod.metadata.uid, event.type, event.reason, event.action, event.note)
        known = self._known.get(key)
        if known is not None:
            self._known.move_to_end(key)
            known.count += 1
            if known.waits or (known.count > 2 and now - known.written_at < _SERIES_SECONDS):
                return
        elif not self._is_allowed(key.uid, now):
            return
        else:
            known = self._known[key] = _Known(self._name(event.pod))
            if len(self._known) > _MOST_KNOWN:
                self._known.popitem(last=False)
        if len(self._waiting) >= _MOST_WAITING:
            self.dropped += 1
            return
        known.waits = True
        self._waiting.append((key, event))
        self._filled.set()

    def _name(self, pod: Pod) -> ObjectName:
        stamp = self._pace.clock.now().unix_microseconds * 1000
        suffix = self._pace.entropy.suffix(3)
        return ObjectName(f"{pod.metadata.name}.{stamp:x}{suffix}", pod.metadata.namespace)

    def _is_allowed(self, uid: str, now: float) -> bool:
        allowance = self._allowances.setdefault(uid, _Allowance(_BURST, now))
        self._allowances.move_to_end(uid)
        if len(self._allowances) > _MOST_KNOWN:
            self._allowances.popitem(last=False)
        allowance.tokens = min(_BURST, allowance.tokens + (now - allowance.at) / _SECONDS_A_TOKEN)
        allowance.at = now
        if allowance.tokens < 1:
            return False
        allowance.tokens -= 1
        return True

    async def run(self) -> None:
        """Write what is told until cancelled. Run it once, in a task of its own."""
        async with asyncio.TaskGroup() as tasks:
            for number in range(_WRITERS):
                tasks.create_task(self._write_for_ever(), name=f"scheduler events {number}")

    async def _write_for_ever(self) -> None:
        while True:
            while not self._waiting:
                self._filled.clear()
                await self._filled.wait()
            key, event = self._waiting.popleft()
            self._writing += 1
            try:
                await self._write(key, event)
            except ApiError as fault:
                self._known.pop(key, None)
                self._log.debug("event is refused", reason=event.reason, pod=event.pod.metadata.name, err=fault)
            except Unreachable:
                self._known.pop(key, None)
                await self._pace.pause(0)
            finally:
                self._writing -= 1

    async def _write(self, key: _Key, event: PodEvent) -> None:
        known = self._known.get(key)
        if known is None:
            return
        is_first = not known.written_at
        count = known.count
        known.waits = False
        known.written_at = self._pace.clock.monotonic() or 1e-9
        if is_first:
            await self._client.create(EVENT, self._begin(known.name, event, count))
            return
        series = {"count": count, "lastObservedTime": str(self._pace.clock.now())}
        patch = Patch(PatchType.MERGE, msgspec.json.encode({"series": series}))
        try:
            await self._client.patch(EVENT, known.name, patch)
        except NotFound:  # events last an hour
            self._known.pop(key, None)
            self.tell(event)

    def _begin(self, name: ObjectName, event: PodEvent, count: int) -> Event:
        now = self._pace.clock.now()
        controller = event.pod.spec.scheduler_name
        related: ObjectReference | None = None if event.related is None else refer(POD, event.related)
        return Event(
            metadata=ObjectMeta(name=name.name, namespace=name.namespace),
            event_time=now,
            series=EventSeries(count=count, last_observed_time=now) if count > 1 else None,
            reporting_controller=controller,
            reporting_instance=f"{controller}-{self._instance}",
            action=event.action,
            reason=event.reason,
            regarding=refer(POD, event.pod),
            related=related,
            note=event.note,
            type=event.type,
        )
