"""Telling people of what happens to objects, as core Events that never flood the server.

`EventRecorder.tell` returns at once. What repeats is one event that counts; what differs in nothing but its text is
gathered after a while; an object that has much to tell is told of less often. A server that is down loses events, never
work.
"""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

import msgspec

from dray.api.core.event import Event, EventSource
from dray.api.core.kinds import EVENT
from dray.api.core.references import ObjectReference
from dray.api.meta import ApiObject, ObjectMeta
from dray.api.registry import AnyKind
from dray.client.port import Client, ObjectName, Patch, PatchType, Unreachable
from dray.client.retrying import Pace
from dray.effects.log import Log
from dray.errors import ApiError, NotFound
from dray.values.times import Time

__all__ = ["MAX_NOTE_BYTES", "EventRecorder", "EventType", "refer"]

K = TypeVar("K")
V = TypeVar("V")

MAX_NOTE_BYTES: Final = 1024
"""What the API server takes of a message."""
_MOST_KNOWN: Final = 4096
"""Objects and events that are remembered, as in Kubernetes: the least recently told are forgotten."""
_MOST_WAITING: Final = 1000
"""Events that wait to be written; more are dropped, as they are when the server does not keep up."""
_MOST_SIMILAR: Final = 10
_SIMILAR_SECONDS: Final = 600.0
"""So many texts of one reason about one object within so long are told one by one; later ones share an event."""
_BURST: Final = 25.0
_SECONDS_A_TOKEN: Final = 300.0
"""So many events about one object at once, then one every five minutes."""
_COMBINED: Final = "(combined from similar events): "
_MOST_ATTEMPTS: Final = 12
"""Tries to reach a server, with growing waits."""


class EventType:
    """The two types of events."""

    NORMAL: Final = "Normal"
    WARNING: Final = "Warning"


def refer(kind: AnyKind, thing: ApiObject) -> ObjectReference:
    """The reference by which an event names an object."""
    meta = thing.metadata
    return ObjectReference(
        kind=kind.name,
        api_version=kind.api_version(kind.declared_version),
        name=meta.name,
        namespace=meta.namespace,
        uid=meta.uid,
        resource_version=meta.resource_version,
    )


class _Group(NamedTuple):
    """What similar events have in common."""

    kind: str
    namespace: str
    name: str
    uid: str
    type: str
    reason: str


@dataclass(slots=True)
class _Texts:
    """The texts of a group that were told within a while."""

    until: float
    seen: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Allowance:
    """What may still be told of one object."""

    tokens: float
    at: float


@dataclass(slots=True)
class _Written:
    """An event the server has."""

    name: str
    count: int


@dataclass(slots=True)
class _Waiting:
    """An event that is to be written: how often it happened since it was written last."""

    about: ObjectReference
    message: str
    last: Time
    count: int = 1


_Key = tuple[_Group, str]
"""A group and the text, empty where texts are gathered."""


class EventRecorder:
    """Tells events as one component. Owns what it remembers of them, and the task in which they are written."""

    def __init__(self, client: Client, component: str, pace: Pace, log: Log) -> None:
        self._client = client
        self._component = component
        self._pace = pace
        self._log = log
        self._texts: OrderedDict[_Group, _Texts] = OrderedDict()
        self._allowances: OrderedDict[tuple[str, str], _Allowance] = OrderedDict()
        self._written: OrderedDict[_Key, _Written] = OrderedDict()
        self._waiting: dict[_Key, _Waiting] = {}
        self._filled = asyncio.Event()
        self._is_writing = False

    @property
    def is_idle(self) -> bool:
        """Whether everything that was told is written."""
        return not self._waiting and not self._is_writing

    def tell(self, about: ObjectReference, type_: str, reason: str, message: str) -> None:
        """Have an event written about an object."""
        now = self._pace.clock.monotonic()
        group = _Group(about.kind, about.namespace, about.name, about.uid, type_, reason)
        if not self._is_allowed(about, now):
            return
        message = _cut(message)
        key = group, message
        if self._is_one_of_many(group, message, now):
            key, message = (group, ""), _cut(_COMBINED + message)
        last = self._pace.clock.now().to_time()
        waiting = self._waiting.get(key)
        if waiting is not None:
            waiting.count += 1
            waiting.message, waiting.last = message, last
        elif len(self._waiting) < _MOST_WAITING:
            self._waiting[key] = _Waiting(about, message, last)
            self._filled.set()

    def _is_allowed(self, about: ObjectReference, now: float) -> bool:
        allowance = self._allowances.setdefault((about.kind, about.uid), _Allowance(_BURST, now))
        _touch(self._allowances, (about.kind, about.uid))
        gained = (now - allowance.at) / _SECONDS_A_TOKEN
        allowance.tokens, allowance.at = min(_BURST, allowance.tokens + gained), now
        if allowance.tokens < 1:
            return False
        allowance.tokens -= 1
        return True

    def _is_one_of_many(self, group: _Group, message: str, now: float) -> bool:
        texts = self._texts.get(group)
        if texts is None or texts.until < now:
            texts = self._texts[group] = _Texts(now)
        texts.until = now + _SIMILAR_SECONDS
        _touch(self._texts, group)
        if len(texts.seen) < _MOST_SIMILAR:
            texts.seen.add(message)
        return message not in texts.seen

    async def run(self) -> None:
        """Write what is told until cancelled. Run it once, in a task of its own."""
        while True:
            await self._filled.wait()
            key = next(iter(self._waiting))
            waiting = self._waiting.pop(key)
            if not self._waiting:
                self._filled.clear()
            self._is_writing = True
            await self._write_patiently(key, waiting)
            self._is_writing = False

    async def _write_patiently(self, key: _Key, waiting: _Waiting) -> None:
        for attempt in range(_MOST_ATTEMPTS):
            try:
                await self._write(key, waiting)
            except Unreachable:
                await self._pace.pause(attempt)
            except ApiError as fault:
                self._log.debug("event is refused", reason=key[0].reason, about=waiting.about.name, err=fault)
                return
            else:
                return
        self._log.info("event is lost", reason=key[0].reason, about=waiting.about.name)

    async def _write(self, key: _Key, waiting: _Waiting) -> None:
        written = self._written.get(key)
        if written is not None:
            try:
                await self._repeat(written, waiting)
            except NotFound:  # events last an hour
                del self._written[key]
            else:
                _touch(self._written, key)
                return
        self._written[key] = await self._begin(key[0], waiting)
        _touch(self._written, key)

    async def _repeat(self, written: _Written, waiting: _Waiting) -> None:
        count = written.count + waiting.count
        change = {"message": waiting.message, "count": count, "lastTimestamp": str(waiting.last)}
        name = ObjectName(written.name, _choose_namespace(waiting.about))
        await self._client.patch(EVENT, name, Patch(PatchType.STRATEGIC, msgspec.json.encode(change)))
        written.count = count

    async def _begin(self, group: _Group, waiting: _Waiting) -> _Written:
        about = waiting.about
        stamp = self._pace.clock.now().unix_microseconds * 1000
        event = Event(
            metadata=ObjectMeta(
                name=f"{about.name}.{stamp:x}{self._pace.entropy.suffix(2)}", namespace=_choose_namespace(about)
            ),
            involved_object=about,
            reason=group.reason,
            message=waiting.message,
            source=EventSource(component=self._component),
            first_timestamp=waiting.last,
            last_timestamp=waiting.last,
            count=waiting.count,
            type=group.type,
            reporting_component=self._component,
        )
        await self._client.create(EVENT, event)
        return _Written(event.metadata.name, waiting.count)


def _choose_namespace(about: ObjectReference) -> str:
    """Where an event lives: beside its object, or in `default` for objects of the cluster."""
    return about.namespace or "default"


def _cut(message: str) -> str:
    """As much of a text as the server takes."""
    encoded = message.encode()
    return message if len(encoded) <= MAX_NOTE_BYTES else encoded[:MAX_NOTE_BYTES].decode(errors="ignore")


def _touch(known: OrderedDict[K, V], key: K) -> None:
    """Remember what was used just now longest."""
    known.move_to_end(key)
    if len(known) > _MOST_KNOWN:
        known.popitem(last=False)
