"""Writes become changes: expectations are judged and revisions given out here, before anything reaches a medium.

A write is judged on everything accepted before it, durable or not, so that many can wait for one flush and a chain of
writes to one object need not wait for each other. Pure: no clock, no disk, no event loop.
"""

from collections.abc import Iterable, Sequence

from dray.store.latest import LatestState
from dray.store.port import ABSENT, Change, Delete, Key, PreconditionFailed, Put, Record, StoreError, Write

__all__ = ["Transactions", "Undecided"]


class Undecided(StoreError):
    """Whether the expectation holds depends on a change that is not durable yet. Ask again when it is, or has failed.

    Refusing at once would name a state that no reader can see, and that may never come to be.
    """


class Transactions:
    """The latest state, and what is accepted on top of it and not durable yet."""

    def __init__(self, latest: LatestState, revision: int) -> None:
        self._latest = latest
        self._settled = revision
        self._given = revision
        self._pending: dict[Key, Change] = {}

    @property
    def revision(self) -> int:
        """Of the latest durable change."""
        return self._settled

    def accept(self, writes: Sequence[Write]) -> tuple[Change, ...]:
        """Judge the writes of one transaction and give each its revision.

        What is accepted must be settled later in the same order, or abandoned with everything after it.
        """
        if len({write.key for write in writes}) < len(writes):
            raise ValueError("two writes of one transaction have the same key")
        before = [self._judge(write) for write in writes]
        changes = tuple(
            _change(write, previous, revision)
            for revision, (write, previous) in enumerate(zip(writes, before, strict=True), self._given + 1)
        )
        self._given += len(changes)
        for change in changes:
            self._pending[change.key] = change
        return changes

    def settle(self, changes: Iterable[Change]) -> None:
        """These are durable: make them visible."""
        for change in changes:
            self._latest.apply(change)
            self._settled = change.revision
            if self._pending.get(change.key) is change:
                del self._pending[change.key]

    def abandon(self) -> None:
        """Nothing accepted since the last settled change became durable: forget it all, and its revisions."""
        self._pending.clear()
        self._given = self._settled

    def _judge(self, write: Write) -> Record | None:
        """The state this write replaces, if it is the expected one."""
        durable = self._latest.find(write.key)
        pending = self._pending.get(write.key)
        current = durable if pending is None else pending.record
        if _holds(write, current):
            return current
        if pending is not None and _holds(write, durable):
            raise Undecided(f"{write.key} is being changed")
        raise PreconditionFailed(write.key, write.expect, durable)


def _holds(write: Write, current: Record | None) -> bool:
    """Whether the object is as the write expects it."""
    if write.expect is None:
        return isinstance(write, Put) or current is not None
    if write.expect == ABSENT:
        return isinstance(write, Put) and current is None
    return current is not None and current.revision == write.expect


def _change(write: Write, previous: Record | None, revision: int) -> Change:
    if isinstance(write, Delete):
        return Change(revision, write.key, None, previous)
    body = write.body
    if write.stamp_at is not None:
        body = b"%b%d%b" % (body[: write.stamp_at], revision, body[write.stamp_at :])
    return Change(revision, write.key, Record(write.key, revision, body, write.stamp_at, write.index), previous)
