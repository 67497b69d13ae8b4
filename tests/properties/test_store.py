"""Random histories of a store beside a model that is a dict, and watchers who must be able to follow along.

The model is driven by what the store says it did: every change must follow from the one before, every answer must be
true of the model, and every watcher's copy must come out the same as the model's.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from dray.effects.clock import FakeClock
from dray.store.memory import MemoryStore
from dray.store.port import (
    ABSENT,
    Change,
    Compacted,
    Delete,
    FutureRevision,
    Key,
    PreconditionFailed,
    Put,
    Record,
    Selection,
    Store,
    Write,
)
from dray.store.ring import RingLimits
from dray.store.sqlite import open_sqlite_store
from dray.store.watchcache import Subscription, WatchCache

RESOURCES = ("pods", "resourceclaims.resource.k8s.io")
NAMESPACES = ("a", "a-b")
RING = 6
"""Changes of a resource that are at hand: few, so that watchers are passed by."""

keys = st.builds(Key, st.sampled_from(RESOURCES), st.sampled_from(NAMESPACES), st.sampled_from(["x", "y"]))
indexes = st.sampled_from([(), (("node", "n1"),), (("node", "n2"), ("phase", "Running"))])
expectations = st.sampled_from(["any", "any", "right", "right", "absent", "stale"])
selections = st.builds(
    Selection,
    st.sampled_from(RESOURCES),
    st.sampled_from([None, None, *NAMESPACES]),
    st.sampled_from([None, None, None, "x"]),
    st.sampled_from([(), (), (("node", "n1"),)]),
)
intents = st.tuples(keys, expectations, st.none() | st.binary(max_size=12), indexes)
"""A key, what to expect of it, the body to put or None to delete, and index values."""

Intent = tuple[Key, str, bytes | None, tuple[tuple[str, str], ...]]


class Watcher:
    """A client: a list, a watch from there, and the copy it keeps by them."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self.copy: dict[Key, Record] = {}
        self.subscription: Subscription | None = None

    async def list(self, store: Store, cache: WatchCache) -> None:
        page = await store.page(self.selection)
        self.copy = {record.key: record for record in page.records}
        self.subscription = cache.subscribe(self.selection, since=page.revision)

    def follow(self) -> Sequence[Change]:
        """Take what there is, and keep the copy as a client does."""
        assert self.subscription is not None
        changes = [event.change for event in self.subscription.take().events]
        for change in changes:
            if self.selection.covers(change.record) and change.record is not None:
                self.copy[change.key] = change.record
            else:
                del self.copy[change.key]  # it was there, or the change would not concern this watcher
        return changes


@asynccontextmanager
async def fresh_memory() -> AsyncIterator[Store]:
    yield MemoryStore()


class StoreMachine(RuleBasedStateMachine):
    """Any adapter."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.state: dict[Key, Record] = {}
        self.history: list[Change] = []
        self.watchers: list[Watcher] = []
        self.states: dict[int, dict[Key, Record]] = {}

    def open(self) -> AbstractAsyncContextManager[Store]:
        return fresh_memory()

    @initialize()
    def start(self) -> None:
        self.context = self.open()
        self.store: Store = self.run(self.context.__aenter__())
        self.store.follow(self.hear)
        self.cache = WatchCache(self.store, FakeClock(), limits=RingLimits(max_changes=RING))
        self.states.setdefault(self.store.bounds().revision, dict(self.state))

    def stop(self) -> None:
        self.run(self.context.__aexit__(None, None, None))

    def teardown(self) -> None:
        if hasattr(self, "context"):
            self.stop()
        self.runner.close()

    def run(self, waiting: Any) -> Any:
        async def awaited() -> Any:
            return await waiting

        return self.runner.run(awaited())

    def hear(self, changes: Sequence[Change]) -> None:
        for change in changes:
            newest = max(self.states)
            assert change.revision == newest + 1
            assert change.previous == self.state.get(change.key)
            if change.record is None:
                del self.state[change.key]
            else:
                assert change.record.revision == change.revision
                self.state[change.key] = change.record
            self.history.append(change)
            self.states[change.revision] = dict(self.state)

    def write(self, intent: Intent) -> Write:
        key, expectation, body, index = intent
        current = self.state.get(key)
        revision = current.revision if current else ABSENT
        expect = {"any": None, "absent": ABSENT, "right": revision, "stale": revision + 1}[expectation]
        return Delete(key, expect) if body is None else Put(key, body, expect, index=index)

    def holds(self, write: Write) -> bool:
        current = self.state.get(write.key)
        if current is None:
            return isinstance(write, Put) and write.expect in (None, ABSENT)
        return write.expect in (None, current.revision)

    @rule(batch=st.lists(intents, min_size=1, max_size=4, unique_by=lambda intent: intent[0]))
    def commit(self, batch: list[Intent]) -> None:
        writes = [self.write(intent) for intent in batch]
        if all(map(self.holds, writes)):
            changes = self.run(self.store.commit(writes))
            assert list(changes) == self.history[-len(writes) :]
            return
        before = dict(self.state)
        with pytest.raises(PreconditionFailed) as refusal:
            self.run(self.store.commit(writes))
        assert refusal.value.current == before.get(refusal.value.key)
        assert self.state == before

    @rule(batches=st.lists(st.lists(intents, min_size=1, max_size=2, unique_by=lambda each: each[0]), max_size=8))
    def commit_together(self, batches: list[list[Intent]]) -> None:
        transactions = [[self.write(intent) for intent in batch] for batch in batches]

        async def all_at_once() -> list[Any]:
            return await asyncio.gather(*map(self.store.commit, transactions), return_exceptions=True)

        known = len(self.history)
        outcomes = self.run(all_at_once())
        done = [outcome for outcome in outcomes if isinstance(outcome, tuple)]
        assert sorted(change.revision for changes in done for change in changes) == [
            change.revision for change in self.history[known:]
        ]
        for writes, outcome in zip(transactions, outcomes, strict=True):
            if isinstance(outcome, PreconditionFailed):
                continue
            for write, change in zip(writes, outcome, strict=True):
                replaced = change.previous.revision if change.previous else ABSENT
                assert write.expect is None or write.expect == replaced
                assert (change.record.body if change.record else None) == getattr(write, "body", None)

    @rule(key=keys)
    def find(self, key: Key) -> None:
        assert self.run(self.store.find(key)) == self.state.get(key)

    @rule(selection=selections, limit=st.none() | st.integers(1, 4), back=st.integers(-1, 40))
    def read_all_pages(self, selection: Selection, limit: int | None, back: int) -> None:
        bounds = self.store.bounds()
        at = bounds.revision - back
        if not bounds.horizon <= at <= bounds.revision:
            with pytest.raises(Compacted if at < bounds.horizon else FutureRevision):
                self.run(self.store.page(selection, at=at, limit=limit))
            return
        page = self.run(self.store.page(selection, at=at, limit=limit))
        records = list(page.records)
        while page.has_more:
            assert len(page.records) == limit
            page = self.run(self.store.page(selection, at=at, limit=limit, after=page.next_after))
            records += page.records
        assert records == [record for key, record in sorted(self.states[at].items()) if selection.covers(record)]

    @rule(back=st.integers(0, 40), limit=st.none() | st.integers(1, 5))
    def read_history(self, back: int, limit: int | None) -> None:
        bounds = self.store.bounds()
        since = bounds.revision - back
        if since < bounds.horizon:
            with pytest.raises(Compacted):
                self.run(self.store.changes(since, limit=limit))
            return
        changes = self.run(self.store.changes(since, limit=limit))
        assert list(changes) == [change for change in self.history if change.revision > since][:limit]

    @rule(back=st.integers(0, 30))
    def compact(self, back: int) -> None:
        bounds = self.store.bounds()
        through = max(1, bounds.revision - back)
        self.run(self.store.compact(through))
        assert self.store.bounds() == (max(bounds.horizon, through), bounds.revision)

    @rule(selection=selections)
    def begin_to_watch(self, selection: Selection) -> None:
        watcher = Watcher(selection)
        self.run(watcher.list(self.store, self.cache))
        self.watchers.append(watcher)

    @precondition(lambda self: self.watchers)
    @rule(choice=st.integers(0, 99))
    def watch(self, choice: int) -> None:
        watcher = self.watchers[choice % len(self.watchers)]
        assert watcher.subscription is not None
        since = watcher.subscription.revision
        try:
            received = watcher.follow()
        except Compacted:
            changes_of_resource = [each for each in self.history if each.key.resource == watcher.selection.resource]
            assert len([each for each in changes_of_resource if each.revision > since]) > RING // 2
            self.run(watcher.list(self.store, self.cache))
        else:
            after = [change for change in self.history if change.revision > since]
            assert received == [change for change in after if watcher.selection.concerns(change)]
            assert watcher.subscription.revision == self.store.bounds().revision
        assert watcher.copy == {key: record for key, record in self.state.items() if watcher.selection.covers(record)}

    @invariant()
    def the_store_is_where_the_model_is(self) -> None:
        if self.states:
            assert self.store.bounds().revision == max(self.states)


class SqliteMachine(StoreMachine):
    """The durable adapter, which is closed and opened again in between."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()

    def open(self) -> AbstractAsyncContextManager[Store]:
        return open_sqlite_store(Path(self.folder.name) / "dray.db")

    @rule(is_warm=st.booleans())
    def restart(self, *, is_warm: bool) -> None:
        horizon = self.store.bounds().horizon
        self.stop()
        self.start()
        assert self.store.bounds().horizon == horizon
        if is_warm:
            self.run(self.cache.warm())
        for watcher in self.watchers:
            assert watcher.subscription is not None
            try:
                watcher.subscription = self.cache.subscribe(watcher.selection, since=watcher.subscription.revision)
            except Compacted:
                self.run(watcher.list(self.store, self.cache))

    def teardown(self) -> None:
        super().teardown()
        self.folder.cleanup()


TestMemoryStore = StoreMachine.TestCase
TestSqliteStore = SqliteMachine.TestCase
# Long runs: what goes wrong with the past needs a past.
TestMemoryStore.settings = settings(stateful_step_count=100)
TestSqliteStore.settings = settings(stateful_step_count=100, max_examples=max(10, settings().max_examples // 2))
