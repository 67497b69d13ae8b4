"""The verb watch: what was there, then every change, in order.

A watch is told in steps, each of which is sent at once: the objects as they were, batches of changes, bookmarks. What
a change looks like on the wire is made once, however many watch.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Any, Final, NamedTuple

from dray.api.codec import encode_value
from dray.errors import ApiError, Gone
from dray.server.desk import Desk
from dray.server.endpoints import Endpoint, StoredForm, Target
from dray.server.faults import describe_failure
from dray.server.options import ListQuery
from dray.server.reads import Filter, compile_filter, read_revision
from dray.store.latest import PageQuery
from dray.store.port import Change, ChangeKind, Compacted, Record, Selection
from dray.store.ring import Batch, Event
from dray.store.watchcache import Subscription

__all__ = ["Bookmark", "Sighting", "Step", "Watch", "encode_batch", "encode_error", "encode_sighting", "open_watch"]

_BOOKMARK_SECONDS: Final = 60.0
_LAST_BOOKMARK_SECONDS: Final = 2.0
"""How long before its end a watch tells how far it came, so that the next one resumes there."""
_SHORTEST_SECONDS: Final = 1800.0
"""A watch that names no end is ended after half an hour to an hour, so that watchers spread over servers anew."""


class Sighting(NamedTuple):
    """What a watcher is told of one object: what happened to it, its state, and the revision to show with it."""

    kind: ChangeKind
    record: Record
    revision: int

    @property
    def body(self) -> bytes:
        """The stored body, with the revision to show."""
        return self.record.body if self.revision == self.record.revision else self.record.body_at(self.revision)


@dataclass(frozen=True, slots=True)
class Bookmark:
    """How far the watcher has come."""

    revision: int
    ends_initial_events: bool = False


Step = Batch | Sequence[Sighting] | Bookmark


class _Start(Enum):
    """How a watch begins."""

    LIVE = "live"
    INITIAL = "initial"
    INITIAL_MARKED = "initial, with a bookmark at the end"


@dataclass(slots=True)
class Watch:
    """One watch. `chosen` narrows batches, which may hold more than it asks for: see `select`."""

    endpoint: Endpoint
    chosen: Filter
    decode_pair: Callable[[Change], tuple[Any, Any]]
    subscription: Subscription | None
    initial: Sequence[Sighting]
    start: _Start
    bookmarks: bool
    seconds: float

    def select(self, batch: Batch) -> list[Sighting]:
        """What a batch means to this watcher: objects enter and leave its view by their labels and fields."""
        if self.chosen.matches is None:
            return [_sight(event.change) for event in batch.events]
        sightings = (self._judge(event) for event in batch.events)
        return [each for each in sightings if each is not None]

    def _judge(self, event: Event) -> Sighting | None:
        assert self.chosen.matches is not None
        old, new = event.once(self.decode_pair)
        was_in = old is not None and self.chosen.matches(old)
        is_in = new is not None and self.chosen.matches(new)
        change = event.change
        if is_in and change.record is not None:
            return Sighting(ChangeKind.MODIFIED if was_in else ChangeKind.ADDED, change.record, change.revision)
        if was_in and change.previous is not None:
            return Sighting(ChangeKind.DELETED, change.previous, change.revision)
        return None

    async def steps(self) -> AsyncIterator[Step]:
        """Everything there is to tell until the watch ends. Raises Gone where the watcher was too slow."""
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + self.seconds
        if self.initial:
            yield self.initial
        if self.subscription is None:
            raise Gone("too old resource version")
        if self.start is _Start.INITIAL_MARKED:
            yield Bookmark(self.subscription.revision, ends_initial_events=True)
        bookmark_at = self._plan_bookmark(loop.time(), ends_at)
        while loop.time() < ends_at:
            batch = await self._next(min(bookmark_at, ends_at) - loop.time())
            if batch is not None:
                yield batch
            elif loop.time() >= bookmark_at:
                yield Bookmark(self.subscription.revision)
                bookmark_at = self._plan_bookmark(loop.time(), ends_at)

    async def _next(self, seconds: float) -> Batch | None:
        """The next changes; None where there were none in that time, which is how far the watcher has come then."""
        assert self.subscription is not None
        try:
            try:
                async with asyncio.timeout(max(seconds, 0)):
                    return await self.subscription.next()
            except TimeoutError:
                # A change that came just now may not have woken this watcher yet: it must not be passed over.
                batch = self.subscription.take()
                return batch if batch.events else None
        except Compacted as fault:
            raise Gone("too old resource version") from fault

    def _plan_bookmark(self, now: float, ends_at: float) -> float:
        """When to send the next bookmark: never where none are wanted."""
        if not self.bookmarks:
            return ends_at + 1
        last = ends_at - _LAST_BOOKMARK_SECONDS
        return min(now + _BOOKMARK_SECONDS, last) if now < last else ends_at + 1


def _sight(change: Change) -> Sighting:
    record = change.record if change.record is not None else change.previous
    assert record is not None
    return Sighting(change.kind, record, change.revision)


def open_watch(desk: Desk, target: Target, asked: ListQuery, *, is_urgent: bool = False) -> Watch:
    """Begin a watch: from this moment on nothing is missed. Raises ApiError for what cannot be watched.

    A version that is no longer kept is told in the watch itself, as its only step.
    """
    chosen = compile_filter(target, asked)
    try:
        revision = read_revision(asked.resource_version)
    except ValueError as fault:
        raise ApiError(str(fault)) from fault
    start = _choose_start(asked, revision)
    initial: list[Sighting] = []
    since = revision
    if start is not _Start.LIVE:
        page = desk.view.page(PageQuery(chosen.selection))
        since = page.revision
        form = target.endpoint.form
        initial = [
            Sighting(ChangeKind.ADDED, record, record.revision)
            for record in page.records
            if chosen.accepts(desk.view, form, record)
        ]
    elif since == 0:
        since = desk.view.revision()
    seconds = desk.entropy.jitter(_SHORTEST_SECONDS, 1.0)
    if asked.timeout_seconds is not None and asked.timeout_seconds > 0:
        seconds = float(asked.timeout_seconds)
    return Watch(
        endpoint=target.endpoint,
        chosen=chosen,
        decode_pair=_pair_decoder(target.endpoint.form),
        subscription=_subscribe(desk, chosen.selection, since, is_urgent=is_urgent),
        initial=initial,
        start=start,
        bookmarks=asked.allow_bookmarks,
        seconds=seconds,
    )


def _choose_start(asked: ListQuery, revision: int) -> _Start:
    if asked.send_initial_events is not None:
        if not asked.send_initial_events:
            return _Start.LIVE
        return _Start.INITIAL_MARKED if asked.allow_bookmarks else _Start.INITIAL
    if revision > 0:
        return _Start.LIVE
    return _Start.INITIAL_MARKED if asked.allow_bookmarks and asked.resource_version else _Start.INITIAL


def _subscribe(desk: Desk, selection: Selection, since: int, *, is_urgent: bool) -> Subscription | None:
    try:
        return desk.watches.subscribe(selection, since=since, is_urgent=is_urgent)
    except Compacted:
        return None


@cache
def _pair_decoder(form: StoredForm) -> Callable[[Change], tuple[Any, Any]]:
    """What decodes both states of a change: one function a form, so that each change is decoded once for all."""

    def decode_pair(change: Change) -> tuple[Any, Any]:
        old = None if change.previous is None else form.decode(change.previous.body)
        new = None if change.record is None else form.decode(change.record.body)
        return old, new

    return decode_pair


def encode_sighting(endpoint: Endpoint, sighting: Sighting) -> bytes:
    """One event on the wire."""
    return b'{"type":"%b","object":%b}\n' % (sighting.kind.encode(), endpoint.render(sighting.body))


@cache
def _event_encoder(endpoint: Endpoint) -> Callable[[Change], bytes]:
    return lambda change: encode_sighting(endpoint, _sight(change))


@cache
def _batch_encoder(endpoint: Endpoint) -> Callable[[Batch], bytes]:
    encode_event = _event_encoder(endpoint)
    return lambda batch: b"".join([event.once(encode_event) for event in batch.events])


def encode_batch(watch: Watch, batch: Batch) -> bytes:
    """A batch on the wire; shared among all who watch the same without selectors."""
    if watch.chosen.matches is None:
        return batch.once(_batch_encoder(watch.endpoint))
    return b"".join([encode_sighting(watch.endpoint, each) for each in watch.select(batch)])


def encode_error(error: ApiError) -> bytes:
    """The event that ends a watch."""
    return b'{"type":"ERROR","object":%b}\n' % encode_value(describe_failure(error))
