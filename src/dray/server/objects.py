"""The latest objects, in memory: what the server answers reads from, and what its parts ask.

Records are shared with the store; what is decoded is kept beside them until the object changes. What this server itself
has written is not decoded at all: the object it was encoded from is the one that is kept.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar, cast

from msgspec.structs import replace

from dray.api.kind import Kind
from dray.api.meta import ApiObject
from dray.api.registry import AnyKind
from dray.server.endpoints import StoredForm, get_form
from dray.store.latest import LatestState, PageQuery
from dray.store.port import Change, Key, Page, Put, Record, Selection, Store

__all__ = ["ObjectView", "open_view"]

K = TypeVar("K", bound=ApiObject)

MAX_DECODED: Final = 8_192
"""Decoded objects that are kept. About 5 KB each, so 40 MB at most; what is asked for again is decoded in 20 µs."""

_MAX_PASSED: Final = 2_048
"""States that are kept although newer ones have come: watchers are about to be told of them."""


class ObjectView:
    """The `View` of this server. Made by `open_view`; owned by the event loop."""

    def __init__(self, revision: int) -> None:
        self._latest = LatestState()
        self._revision = revision
        self._decoded: dict[tuple[int, Key], tuple[Record, ApiObject]] = {}
        self._passed: dict[tuple[Key, int, int], ApiObject] = {}
        """By the revision of their record and that shown with them, which is later for what leaves a view."""
        self._foreseen: dict[Key, tuple[Put, ApiObject]] = {}

    def apply(self, changes: Sequence[Change]) -> None:
        """Hear of committed changes."""
        for change in changes:
            self._latest.apply(change)
            if change.previous is not None:
                passed = self._decoded.pop((0, change.key), None)
                if passed is not None:
                    self._pass((change.key, passed[0].revision, passed[0].revision), passed[1])
            foreseen = self._foreseen.pop(change.key, None)
            if foreseen is not None and change.record is not None and _is_of(foreseen[0], change.record):
                self._keep((0, change.key), change.record, _stamp(foreseen[1], change.revision))
        self._revision = changes[-1].revision

    def foresee(self, form: StoredForm, put: Put, thing: ApiObject) -> None:
        """Expect that `put` is stored, which is `thing` encoded. `dismiss` must follow."""
        if form.is_own:
            self._foreseen[put.key] = (put, form.declare(thing))

    def dismiss(self, put: Put) -> None:
        """Expect nothing any more: it is stored, or will not be."""
        self._foreseen.pop(put.key, None)

    def load(self, records: Sequence[Record]) -> None:
        """Take the objects that were there when the view was made."""
        self._latest.load(records)

    def revision(self) -> int:
        """See `View.revision`."""
        return self._revision

    def find(self, kind: Kind[K], namespace: str, name: str) -> K | None:
        """See `View.find`."""
        form = get_form(kind)
        record = self._latest.find(Key(form.resource, namespace, name))
        return None if record is None else cast("K", self.decode(form, record))

    def list(self, kind: Kind[K], namespace: str | None = None) -> Sequence[K]:
        """See `View.list`."""
        form = get_form(kind)
        page = self._latest.page(PageQuery(Selection(form.resource, namespace)), self._revision)
        return [cast("K", self.decode(form, record)) for record in page.records]

    def record(self, key: Key) -> Record | None:
        """The latest state of an object as it is stored."""
        return self._latest.find(key)

    def page(self, query: PageQuery) -> Page:
        """Latest states of many objects."""
        return self._latest.page(query, self._revision)

    def decode(self, form: StoredForm, record: Record) -> Any:
        """The object of a record, of any age."""
        place = (0 if form.is_own else 1, record.key)
        known = self._decoded.get(place)
        if known is not None and known[0] is record:
            return known[1]
        if form.is_own and self._latest.find(record.key) is not record:
            return self.decode_passed(form, record, record.revision)
        thing = form.decode(record.body)
        self._keep(place, record, thing)
        return thing

    def decode_passed(self, form: StoredForm, record: Record, revision: int) -> Any:
        """The object of a record that is not the latest any more, as it is shown with a revision."""
        if not form.is_own:
            return form.decode(record.body_at(revision))
        place = (record.key, record.revision, revision)
        thing = self._passed.get(place)
        if thing is None:
            before = self._passed.get((record.key, record.revision, record.revision))
            thing = form.decode(record.body_at(revision)) if before is None else _stamp(before, revision)
            self._pass(place, thing)
        return thing

    def _pass(self, place: tuple[Key, int, int], thing: ApiObject) -> None:
        if len(self._passed) >= _MAX_PASSED:
            del self._passed[next(iter(self._passed))]
        self._passed[place] = thing

    def _keep(self, place: tuple[int, Key], record: Record, thing: ApiObject) -> None:
        if len(self._decoded) >= MAX_DECODED:
            del self._decoded[next(iter(self._decoded))]
        self._decoded[place] = (record, thing)


def _is_of(put: Put, record: Record) -> bool:
    """Whether a state is what a write has stored."""
    at = put.stamp_at
    if at is None or at != record.stamp_at:
        return False
    body = record.body
    return body[:at] == put.body[:at] and body.endswith(put.body[at:])


def _stamp(thing: ApiObject, revision: int) -> ApiObject:
    return replace(thing, metadata=replace(thing.metadata, resource_version=str(revision)))


async def open_view(store: Store, kinds: Sequence[AnyKind]) -> tuple[ObjectView, Callable[[], None]]:
    """The view of a store, and what ends it."""
    view = ObjectView(store.bounds().revision)
    records: list[Record] = []
    for resource in dict.fromkeys(get_form(kind).resource for kind in kinds):
        records += (await store.page(Selection(resource))).records
    view.load(records)
    return view, store.follow(view.apply)
