"""The latest state of every object, in memory and in the order of lists.

Both adapters answer reads from here. An earlier state is told by laying what was replaced since over the latest one.
Pure: no clock, no disk, no event loop.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from operator import attrgetter

from msgspec import Struct

from dray.store.port import Change, Key, Page, Record, Selection

__all__ = ["EarlierPage", "LatestState", "PageQuery", "share_records", "superseded_since"]

_BY_KEY = attrgetter("key")


class PageQuery(Struct, frozen=True):
    """Which part of which list is asked for."""

    selection: Selection
    limit: int | None = None
    after: Key | None = None

    def asks_for(self, record: Record) -> bool:
        """Whether the record belongs to this page or one behind it."""
        return (self.after is None or record.key > self.after) and self.selection.covers(record)


class LatestState:
    """Records by key, and the sorted keys of each resource.

    Sorting a key in moves the references behind it, which costs less than a tree would up to about a million objects
    of one resource.
    """

    def __init__(self) -> None:
        self._records: dict[Key, Record] = {}
        self._keys: dict[str, list[Key]] = {}

    def __len__(self) -> int:
        return len(self._records)

    def find(self, key: Key) -> Record | None:
        """The record under a key."""
        return self._records.get(key)

    def load(self, records: Iterable[Record]) -> None:
        """Take many records into an empty state, without sorting them in one by one."""
        for record in records:
            self._records[record.key] = record
            self._keys.setdefault(record.key.resource, []).append(record.key)
        for keys in self._keys.values():
            keys.sort()

    def apply(self, change: Change) -> None:
        """Make a change. Changes come in the order of their revisions."""
        key = change.key
        if change.record is None:
            del self._records[key]
            keys = self._keys[key.resource]
            del keys[bisect_left(keys, key)]
            return
        if key not in self._records:
            insort(self._keys.setdefault(key.resource, []), key)
        self._records[key] = change.record

    def page(self, query: PageQuery, revision: int) -> Page:
        """A page as of now, which is `revision`."""
        keys = self._keys.get(query.selection.resource, [])
        start, end = _span(keys, query)
        if not _is_a_span(query.selection):
            selected = filter(query.asks_for, map(self._records.__getitem__, keys[start:end]))
            return _first(selected, revision, query, None)
        stop = end if query.limit is None else min(start + query.limit, end)
        records = tuple(map(self._records.__getitem__, keys[start:stop]))
        return Page(records, revision, has_more=stop < end, remaining=end - stop)

    def begin_page_at(self, query: PageQuery, revision: int) -> "EarlierPage":
        """A page of an earlier revision, to be completed with what was replaced between then and now."""
        keys = self._keys.get(query.selection.resource, [])
        start, end = _span(keys, query)
        records = map(self._records.__getitem__, keys[start:end])
        unchanged = (record for record in records if record.revision <= revision and query.asks_for(record))
        enough = None if query.limit is None else query.limit + 1
        estimate = end - start if _is_a_span(query.selection) else None
        return EarlierPage(query, revision, list(islice(unchanged, enough)), estimate)


class EarlierPage(Struct, frozen=True):
    """What a page of an earlier revision shares with the latest state, as of the moment it was begun.

    Changes that come while the rest is fetched do not reach it.
    """

    query: PageQuery
    revision: int
    unchanged: list[Record]
    estimate: int | None

    def complete(self, superseded: Iterable[Record]) -> Page:
        """The page, from the states that held at its revision and were replaced or removed until it was begun."""
        selected = sorted(filter(self.query.asks_for, superseded), key=_BY_KEY)
        return _first(merge(self.unchanged, selected, key=_BY_KEY), self.revision, self.query, self.estimate)


def superseded_since(changes: Iterable[Change], revision: int) -> Iterator[Record]:
    """States that held at a revision and no longer do, from all changes after it."""
    for change in changes:
        if change.previous is not None and change.previous.revision <= revision:
            yield change.previous


def share_records(changes: Iterable[Change], latest: LatestState) -> Iterator[Change]:
    """The same changes, with each record once: changes that were read from a disk come with copies of their own."""
    seen: dict[int, Record] = {}
    for change in changes:
        record, previous = change.record, change.previous
        held = latest.find(change.key)
        if record is not None:
            record = held if held is not None and held.revision == record.revision else record
            seen[record.revision] = record
        if previous is not None:
            previous = seen.pop(previous.revision, previous)
        yield Change(change.revision, change.key if record is None else record.key, record, previous)


def _is_a_span(selection: Selection) -> bool:
    """Whether what is selected lies together in the order of keys."""
    return not selection.index and (selection.name is None or selection.namespace is not None)


def _span(keys: list[Key], query: PageQuery) -> tuple[int, int]:
    """Where in the sorted keys of its resource the page and those behind it lie."""
    selection = query.selection
    start, end = 0, len(keys)
    if selection.namespace is not None:
        first = Key(selection.resource, selection.namespace, selection.name or "")
        # No name contains NUL, so this is the next text in order after a namespace or a name.
        past = (
            first._replace(name=f"{selection.name}\0")
            if selection.name
            else first._replace(namespace=f"{first.namespace}\0")
        )
        start, end = bisect_left(keys, first), bisect_left(keys, past)
    if query.after is not None:
        start = max(start, bisect_right(keys, query.after))
    return start, max(start, end)


def _first(records: Iterable[Record], revision: int, query: PageQuery, estimate: int | None) -> Page:
    """The first records of an ordered selection; `estimate` is about how many there are."""
    if query.limit is None:
        return Page(tuple(records), revision, remaining=0)
    found = tuple(islice(records, query.limit + 1))
    if len(found) <= query.limit:
        return Page(found, revision, remaining=0)
    remaining = None if estimate is None else max(1, estimate - query.limit)
    return Page(found[: query.limit], revision, has_more=True, remaining=remaining)
