"""The store in memory: for tests, simulation and planning. Durability aside, it keeps the contract of the other."""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from operator import attrgetter

from dray.store.latest import LatestState, PageQuery, superseded_since
from dray.store.listeners import Listeners
from dray.store.port import (
    FIRST_REVISION,
    Bounds,
    Change,
    Compacted,
    FutureRevision,
    Key,
    Listener,
    Page,
    Record,
    Selection,
    Write,
)
from dray.store.transactions import Transactions

__all__ = ["MemoryStore"]

_BY_REVISION = attrgetter("revision")


class MemoryStore:
    """A `Store` that lives as long as its process; every call returns without waiting."""

    def __init__(self) -> None:
        self._latest = LatestState()
        self._transactions = Transactions(self._latest, FIRST_REVISION)
        self._listeners = Listeners()
        self._history: list[Change] = []
        self._horizon = FIRST_REVISION

    async def commit(self, writes: Sequence[Write]) -> tuple[Change, ...]:
        """See `Store.commit`."""
        changes = self._transactions.accept(writes)
        self._transactions.settle(changes)
        self._history.extend(changes)
        if changes:
            self._listeners.tell(changes)
        return changes

    async def find(self, key: Key) -> Record | None:
        """See `Store.find`."""
        return self._latest.find(key)

    async def page(
        self, selection: Selection, *, at: int | None = None, limit: int | None = None, after: Key | None = None
    ) -> Page:
        """See `Store.page`."""
        query = PageQuery(selection, limit, after)
        bounds = self.bounds()
        if at is None or at == bounds.revision:
            return self._latest.page(query, bounds.revision)
        if at > bounds.revision:
            raise FutureRevision(at, bounds.revision)
        superseded = superseded_since(self._changes_after(at), at)
        return self._latest.begin_page_at(query, at).complete(superseded)

    async def changes(self, since: int, *, limit: int | None = None) -> tuple[Change, ...]:
        """See `Store.changes`."""
        return tuple(self._changes_after(since)[:limit])

    def follow(self, listener: Listener) -> Callable[[], None]:
        """See `Store.follow`."""
        return self._listeners.add(listener)

    def bounds(self) -> Bounds:
        """See `Store.bounds`."""
        return Bounds(self._horizon, self._transactions.revision)

    async def compact(self, through: int) -> None:
        """See `Store.compact`."""
        if through > self._transactions.revision:
            raise FutureRevision(through, self._transactions.revision)
        if through > self._horizon:
            self._history = self._changes_after(through)
            self._horizon = through

    def _changes_after(self, revision: int) -> list[Change]:
        if revision < self._horizon:
            raise Compacted(revision, self._horizon)
        return self._history[bisect_right(self._history, revision, key=_BY_REVISION) :]
