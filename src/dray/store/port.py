"""The contract of a store: opaque objects under keys, one growing revision, and the history of a window.

A store knows nothing of kinds. An object is bytes under a `Key`, with a few index values beside them. Every change of
an object has a revision of its own; revisions only grow, across restarts too, and order everything that ever happened.
Both adapters pass `tests/contract/store`. All calls are made on the event loop that opened the store.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from dray.errors import DrayError

__all__ = [
    "ABSENT",
    "FIRST_REVISION",
    "Bounds",
    "Change",
    "ChangeKind",
    "Compacted",
    "Delete",
    "FutureRevision",
    "IndexValue",
    "Key",
    "Listener",
    "Page",
    "PreconditionFailed",
    "Put",
    "Record",
    "Selection",
    "Store",
    "StoreBusy",
    "StoreError",
    "StoreFailed",
    "Write",
]

FIRST_REVISION: Final = 1
"""The revision of a store in which nothing was written yet: never 0, which in a resourceVersion means "any"."""

ABSENT: Final = 0
"""An expectation: there is no object under the key. No object has this revision."""

IndexValue = tuple[str, str]
"""A name and the value an object has under it, such as `("spec.nodeName", "node-a")`."""


class Key(NamedTuple):
    """What names an object for good. Keys order as lists do: by namespace, then name, within a resource."""

    resource: str
    """Plural and group: `pods`, `resourceclaims.resource.k8s.io`."""
    namespace: str
    """Empty for objects of the cluster."""
    name: str

    def __str__(self) -> str:
        return "/".join(part for part in self if part)


class Record(Struct, frozen=True, gc=False):
    """One state of one object: immutable and shared, by the store and all its readers."""

    key: Key
    revision: int
    """Of the change that brought this state."""
    body: bytes
    stamp_at: int | None = None
    """Where in `body` the revision stands in decimal, if the writer asked for that."""
    index: tuple[IndexValue, ...] = ()

    def body_at(self, revision: int) -> bytes:
        """The body as if it had come with another revision: what a watcher is shown of an object that is gone."""
        if self.stamp_at is None:
            return self.body
        end = self.stamp_at + len(str(self.revision))
        return b"%b%d%b" % (self.body[: self.stamp_at], revision, self.body[end:])


class ChangeKind(StrEnum):
    """What a change did, in the words of a watch event."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


class Change(Struct, frozen=True, gc=False):
    """One step of the history. At least one of `record` and `previous` is there."""

    revision: int
    key: Key
    record: Record | None
    """The state after the change; None if it removed the object."""
    previous: Record | None
    """The state before it; None if it created the object. Selectors are judged on both."""

    @property
    def kind(self) -> ChangeKind:
        """Created, changed or removed."""
        if self.record is None:
            return ChangeKind.DELETED
        return ChangeKind.MODIFIED if self.previous is not None else ChangeKind.ADDED


class Put(Struct, frozen=True, gc=False):
    """Create or replace an object.

    With `stamp_at`, the revision is written in decimal into `body` at that offset before it is stored. An object can so
    carry its own version, and is read, listed and watched without being decoded and encoded again.
    """

    key: Key
    body: bytes
    expect: int | None = None
    """The revision that must be replaced; `ABSENT` to create only; None to write whatever is there."""
    stamp_at: int | None = None
    index: tuple[IndexValue, ...] = ()


class Delete(Struct, frozen=True, gc=False):
    """Remove an object, which must be there: at the revision `expect`, or at any if that is None."""

    key: Key
    expect: int | None = None


Write = Put | Delete


class Selection(Struct, frozen=True):
    """Which objects a list or a watch is about: a resource, narrowed by what the store can tell without decoding."""

    resource: str
    namespace: str | None = None
    """None for all namespaces; the empty one holds the objects of the cluster."""
    name: str | None = None
    index: tuple[IndexValue, ...] = ()
    """All of them must be among the object's index values."""

    @property
    def is_whole(self) -> bool:
        """Whether every object of the resource is meant."""
        return self.namespace is None and self.name is None and not self.index

    def covers(self, record: Record | None) -> bool:
        """Whether this state of an object is selected; no state never is."""
        if record is None:
            return False
        key = record.key
        return (
            key.resource == self.resource
            and (self.namespace is None or key.namespace == self.namespace)
            and (self.name is None or key.name == self.name)
            and all(value in record.index for value in self.index)
        )

    def concerns(self, change: Change) -> bool:
        """Whether the state before or after the change is selected."""
        return self.covers(change.record) or self.covers(change.previous)


class Page(Struct, frozen=True):
    """A part of a list, in the order of keys; everything in it held at `revision`."""

    records: tuple[Record, ...]
    revision: int
    """Ask for it with the next page (`at`), so that all pages show one state."""
    has_more: bool = False
    remaining: int | None = None
    """How many objects come after this page: exact at the latest revision, else an estimate; None with index values."""

    @property
    def next_after(self) -> Key | None:
        """What to continue after; None on the last page."""
        return self.records[-1].key if self.has_more else None


class Bounds(NamedTuple):
    """From where to where a store can tell."""

    horizon: int
    """States and changes after this revision are kept, as is the state at this revision itself."""
    revision: int
    """Of the latest acknowledged change."""


class StoreError(DrayError):
    """Root of what a store refuses or fails with."""


class PreconditionFailed(StoreError):
    """The object is not as the write expects it. Nothing of its transaction was written.

    `current` is durable: who reads after this error sees it, or what replaced it.
    """

    def __init__(self, key: Key, expect: int | None, current: Record | None) -> None:
        found = "absent" if current is None else f"at revision {current.revision}"
        want = {None: "present", ABSENT: "absent"}.get(expect, f"at revision {expect}")
        super().__init__(f"{key} is {found}, expected {want}")
        self.key = key
        self.expect = expect
        self.current = current


class Compacted(StoreError):
    """The history before `horizon` is gone: list again, and go on from there."""

    def __init__(self, asked: int, horizon: int) -> None:
        super().__init__(f"revision {asked} is compacted, the history starts after {horizon}")
        self.asked = asked
        self.horizon = horizon


class FutureRevision(StoreError):
    """That revision is not reached yet."""

    def __init__(self, asked: int, newest: int) -> None:
        super().__init__(f"revision {asked} is not reached yet, the newest is {newest}")
        self.asked = asked
        self.newest = newest


class StoreBusy(StoreError):
    """Too many writes wait. This one was not taken; try again shortly."""


class StoreFailed(StoreError):
    """The medium failed, is full, or the store is closed. The write is not acknowledged.

    It is not visible to anyone, and does not become so while this process runs.
    """


Listener = Callable[[Sequence[Change]], None]


class Store(Protocol):
    """Objects, their revisions and their recent history.

    - *Durable*: when `commit` returns, its changes outlive a crash of the process and of the machine, as far as the
      adapter is durable at all. Nothing is visible to a reader before it is durable.
    - *Ordered*: changes take effect, are heard by listeners and acknowledged in the order of their revisions. Whoever
      reads after an acknowledgement sees that change or a later one.
    - *Atomic*: the writes of one `commit` happen together or not at all, with consecutive revisions. No read at the
      latest revision sees a part of them. One at a revision inside a transaction does: such a revision is found only
      in a change, never in `bounds` or a page.
    - *Unblocked*: reads wait for no writer and writers for no reader. Nobody who watches can slow down a commit.
    """

    async def commit(self, writes: Sequence[Write]) -> tuple[Change, ...]:
        """Make the writes, in one transaction; one change for each, in the same order.

        Refuses with `PreconditionFailed`, `StoreBusy` or `StoreFailed`; then nothing was written. Two writes of one key
        are a ValueError. If the caller is cancelled while it waits, the writes may or may not happen.
        """
        ...

    async def find(self, key: Key) -> Record | None:
        """The latest state of an object."""
        ...

    async def page(
        self, selection: Selection, *, at: int | None = None, limit: int | None = None, after: Key | None = None
    ) -> Page:
        """Selected objects at a revision, or at the latest; at most `limit` of them, from the one that follows `after`.

        Raises `Compacted` for a revision before the horizon and `FutureRevision` for one not reached yet.
        """
        ...

    async def changes(self, since: int, *, limit: int | None = None) -> tuple[Change, ...]:
        """All changes with a revision greater than `since`, in order, none missing; at most the first `limit`.

        Raises `Compacted` if some of them are no longer kept.
        """
        ...

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Hear every later change of this store, until the function returned is called.

        The listener is called on the event loop with one or more whole transactions, after they are durable and visible
        and before they are acknowledged. It must be quick and must not raise: it is a tap, not a queue.
        """
        ...

    def bounds(self) -> Bounds:
        """The horizon and the latest revision, as of now."""
        ...

    async def compact(self, through: int) -> None:
        """Forget the history up to a revision: it becomes the horizon. No state that holds then or later is lost.

        Less than the present horizon is a no-op, more than the latest revision a `FutureRevision`.
        """
        ...
