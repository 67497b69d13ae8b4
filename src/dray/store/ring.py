"""The newest changes of one resource, with what was made of them for watchers.

Bounded in number and in bytes; what falls off the old end moves the horizon. Pure: no clock, no event loop.
"""

from bisect import bisect_right
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from msgspec import Struct

from dray.store.port import Change, Compacted, Selection

__all__ = ["Batch", "Event", "Ring", "RingLimits"]

T = TypeVar("T")


class RingLimits(Struct, frozen=True):
    """How much of the past is at hand, for each resource."""

    max_changes: int = 8192
    """A few thousand are what Kubernetes' own cache keeps: minutes of a busy resource, hours of a quiet one."""
    max_bytes: int = 32 * 2**20
    """Bodies before and after each change, shared with the store as long as they are its latest state."""


class _Shared:
    """Something that many watchers receive, and what is derived from it: made once, by whoever needs it first."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: dict[Hashable, object] = {}

    def _once(self, make: Hashable, value: Callable[[], T]) -> T:
        found = self._made.get(make, self)
        if found is self:
            found = self._made[make] = value()
        return cast("T", found)


class Event(_Shared):
    """A change on its way to watchers."""

    __slots__ = ("change",)

    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change

    def once(self, make: Callable[[Change], T]) -> T:
        """What `make` makes of the change: the same object for everyone who asks with the same function.

        So an encoder is one object for each form that is served, not a lambda for each watcher.
        """
        return self._once(make, lambda: make(self.change))


class Batch(_Shared):
    """Events in order, and how far they reach: whoever has them has every selected change up to `revision`."""

    __slots__ = ("events", "revision")

    def __init__(self, events: tuple[Event, ...], revision: int) -> None:
        super().__init__()
        self.events = events
        self.revision = revision

    def once(self, make: "Callable[[Batch], T]") -> T:
        """What `make` makes of the batch, shared among the watchers who receive it; see `Event.once`."""
        return self._once(make, lambda: make(self))


class Ring:
    """Events of one resource, complete after its horizon."""

    def __init__(self, limits: RingLimits, horizon: int) -> None:
        self._limits = limits
        self._events: list[Event] = []
        self._revisions: list[int] = []
        self._size_bytes = 0
        self._batches: dict[tuple[Selection, int], Batch] = {}
        self._batches_revision = horizon
        self._horizon = horizon

    def add(self, change: Change) -> None:
        """Take the next change."""
        self._events.append(Event(change))
        self._revisions.append(change.revision)
        self._size_bytes += _size(change)
        if len(self._events) > self._limits.max_changes or self._size_bytes > self._limits.max_bytes:
            self._drop_oldest()

    def batch(self, selection: Selection, since: int, revision: int) -> Batch:
        """What a watcher at `since` has to receive; `revision` is the newest of the store.

        Raises `Compacted` if some of it is not here any more. Watchers of the same selection who stand at the same
        place receive the same batch.
        """
        self.refuse_passed(since)
        if revision != self._batches_revision:
            self._batches.clear()
            self._batches_revision = revision
        key = (selection, since)
        batch = self._batches.get(key)
        if batch is None:
            events = self._events[bisect_right(self._revisions, since) :]
            if not selection.is_whole:
                events = [event for event in events if selection.concerns(event.change)]
            batch = self._batches[key] = Batch(tuple(events), max(since, revision))
        return batch

    def refuse_passed(self, since: int) -> None:
        """Raise `Compacted` if changes after `since` have fallen off."""
        if since < self._horizon:
            raise Compacted(since, self._horizon)

    def _drop_oldest(self) -> None:
        """Make room, for more than one change: moving the rest forward is then paid for by many."""
        want_changes = self._limits.max_changes * 7 // 8
        want_bytes = self._limits.max_bytes * 7 // 8
        count = 0
        while len(self._events) - count > want_changes or (self._size_bytes > want_bytes and count < len(self._events)):
            self._size_bytes -= _size(self._events[count].change)
            count += 1
        self._horizon = self._revisions[count - 1]
        del self._events[:count], self._revisions[:count]


def _size(change: Change) -> int:
    return sum(len(record.body) for record in (change.record, change.previous) if record is not None)
