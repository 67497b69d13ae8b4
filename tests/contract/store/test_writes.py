import asyncio
from itertools import pairwise

import pytest

from dray.store.port import (
    ABSENT,
    FIRST_REVISION,
    Bounds,
    Change,
    ChangeKind,
    Compacted,
    Delete,
    FutureRevision,
    PreconditionFailed,
    Put,
    Record,
    Store,
)
from tests.contract.store.objects import delete, pod, put


async def test_an_empty_store_has_the_first_revision(store: Store) -> None:
    assert store.bounds() == Bounds(FIRST_REVISION, FIRST_REVISION)
    assert await store.find(pod("a")) is None


async def test_a_write_is_read_back(store: Store) -> None:
    change = await put(store, pod("a"), b"one", index=(("spec.nodeName", "n1"),))
    assert change.record == Record(pod("a"), FIRST_REVISION + 1, b"one", None, (("spec.nodeName", "n1"),))
    assert await store.find(pod("a")) == change.record
    assert store.bounds().revision == change.revision


async def test_changes_say_what_was_before(store: Store) -> None:
    created = await put(store, pod("a"), b"one")
    changed = await put(store, pod("a"), b"two")
    removed = await delete(store, pod("a"))
    assert [each.kind for each in (created, changed, removed)] == list(ChangeKind)
    assert created.previous is None
    assert changed.previous == created.record
    assert removed.previous == changed.record
    assert removed.record is None
    assert removed.revision > changed.revision > created.revision


async def test_the_revision_is_stamped_into_the_body(store: Store) -> None:
    key = pod("a")
    (created,) = await store.commit((Put(key, b'{"v":"","x":1}', stamp_at=6),))
    assert created.record is not None
    assert created.record.body == b'{"v":"%d","x":1}' % created.revision
    for _ in range(7):  # until the next revision has one more digit
        await store.commit((Put(key, b'{"v":"","x":1}', stamp_at=6),))
    removed = await delete(store, key)
    assert (created.revision, removed.revision) == (2, 10)
    assert removed.previous is not None
    assert removed.previous.body_at(removed.revision) == b'{"v":"%d","x":1}' % removed.revision


async def test_a_body_without_stamp_is_the_same_at_any_revision(store: Store) -> None:
    change = await put(store, pod("a"), b"one")
    assert change.record is not None
    assert change.record.body_at(99) == b"one"


@pytest.mark.parametrize("expect", [ABSENT, 99])
async def test_a_present_object_refuses_other_expectations(store: Store, expect: int) -> None:
    change = await put(store, pod("a"))
    with pytest.raises(PreconditionFailed) as caught:
        await put(store, pod("a"), b"other", expect=expect)
    assert (caught.value.key, caught.value.expect, caught.value.current) == (pod("a"), expect, change.record)
    assert await store.find(pod("a")) == change.record
    assert store.bounds().revision == change.revision


async def test_an_absent_object_can_only_be_created(store: Store) -> None:
    for write in (Put(pod("a"), b"", expect=7), Delete(pod("a")), Delete(pod("a"), expect=7), Delete(pod("a"), ABSENT)):
        with pytest.raises(PreconditionFailed) as caught:
            await store.commit((write,))
        assert caught.value.current is None
    await put(store, pod("a"), expect=ABSENT)


async def test_expected_revisions_are_replaced_and_removed(store: Store) -> None:
    created = await put(store, pod("a"), expect=ABSENT)
    changed = await put(store, pod("a"), expect=created.revision)
    with pytest.raises(PreconditionFailed):
        await delete(store, pod("a"), expect=created.revision)
    await delete(store, pod("a"), expect=changed.revision)
    assert await store.find(pod("a")) is None


async def test_the_error_says_what_was_found_and_expected(store: Store) -> None:
    await put(store, pod("a"))
    with pytest.raises(PreconditionFailed, match="pods/ml/a is at revision 2, expected absent"):
        await put(store, pod("a"), expect=ABSENT)
    with pytest.raises(PreconditionFailed, match="pods/ml/b is absent, expected present"):
        await delete(store, pod("b"))


async def test_a_transaction_happens_as_a_whole(store: Store) -> None:
    first = await put(store, pod("a"), b"one")
    changes = await store.commit((Put(pod("b"), b"two", expect=ABSENT), Delete(pod("a"), first.revision)))
    assert [change.key for change in changes] == [pod("b"), pod("a")]
    assert [change.revision for change in changes] == [first.revision + 1, first.revision + 2]
    assert await store.find(pod("a")) is None


async def test_a_transaction_that_fails_in_part_does_nothing(store: Store) -> None:
    before = store.bounds()
    with pytest.raises(PreconditionFailed):
        await store.commit((Put(pod("a"), b"one"), Put(pod("b"), b"two", expect=5)))
    assert store.bounds() == before
    assert await store.find(pod("a")) is None
    assert await store.changes(before.revision) == ()


async def test_a_transaction_may_be_empty_but_not_repeat_a_key(store: Store) -> None:
    assert await store.commit(()) == ()
    with pytest.raises(ValueError, match="same key"):
        await store.commit((Put(pod("a"), b"one"), Delete(pod("a"))))


async def test_of_many_who_create_one_wins(store: Store) -> None:
    outcomes = await asyncio.gather(
        *(put(store, pod("a"), b"%d" % number, expect=ABSENT) for number in range(20)), return_exceptions=True
    )
    won = [each for each in outcomes if isinstance(each, Change)]
    lost = [each for each in outcomes if isinstance(each, PreconditionFailed)]
    assert (len(won), len(lost)) == (1, 19)
    assert {each.current.body for each in lost if each.current} == {won[0].record.body if won[0].record else b""}


async def test_a_counter_that_many_raise_loses_nothing(store: Store) -> None:
    async def raise_counter() -> None:
        while True:
            record = await store.find(pod("a"))
            assert record is not None
            try:
                await put(store, pod("a"), b"%d" % (int(record.body) + 1), expect=record.revision)
            except PreconditionFailed:
                continue
            return

    await put(store, pod("a"), b"0")
    await asyncio.gather(*(raise_counter() for _ in range(30)))
    record = await store.find(pod("a"))
    assert record is not None
    assert record.body == b"30"


async def test_writes_of_one_key_that_wait_together_keep_their_order(store: Store) -> None:
    changes = await asyncio.gather(*(put(store, pod("a"), b"%d" % number) for number in range(50)))
    assert [change.record.body for change in changes if change.record] == [b"%d" % number for number in range(50)]
    for earlier, later in pairwise(changes):
        assert later.previous == earlier.record


async def test_listeners_hear_durable_changes_in_order_before_the_writer(store: Store) -> None:
    heard: list[Change] = []
    stop = store.follow(heard.extend)

    async def write(number: int) -> None:
        change = await put(store, pod(f"p{number}"))
        assert change in heard

    await asyncio.gather(*map(write, range(20)))
    revisions = [change.revision for change in heard]
    assert revisions == sorted(set(revisions))
    assert heard == list(await store.changes(FIRST_REVISION))
    stop()
    stop()
    await put(store, pod("late"))
    assert len(heard) == 20


async def test_a_listener_may_read_what_it_hears_of(store: Store) -> None:
    seen: list[int] = []
    store.follow(lambda changes: seen.append(store.bounds().revision - changes[-1].revision))
    await put(store, pod("a"))
    assert seen == [0]


async def test_a_cancelled_writer_harms_nobody(store: Store) -> None:
    async with asyncio.TaskGroup() as tasks:
        impatient = tasks.create_task(put(store, pod("a")))
        patient = tasks.create_task(put(store, pod("b")))
        await asyncio.sleep(0)
        impatient.cancel()
    assert await store.find(pod("b")) == (await patient).record
    await put(store, pod("c"))


async def test_changes_come_in_pages(store: Store) -> None:
    made = [await put(store, pod(f"p{number}")) for number in range(5)]
    assert await store.changes(FIRST_REVISION) == tuple(made)
    assert await store.changes(made[1].revision, limit=2) == (made[2], made[3])
    assert await store.changes(made[-1].revision) == ()
    assert await store.changes(made[-1].revision + 9) == ()


async def test_compaction_forgets_the_past_and_keeps_the_present(store: Store) -> None:
    await put(store, pod("a"), b"old")
    await put(store, pod("gone"))
    kept = await put(store, pod("a"), b"new")
    horizon = (await delete(store, pod("gone"))).revision
    later = await put(store, pod("a"), b"newer")
    await store.compact(horizon)
    assert store.bounds() == Bounds(horizon, later.revision)
    with pytest.raises(Compacted) as caught:
        await store.changes(horizon - 1)
    assert (caught.value.asked, caught.value.horizon) == (horizon - 1, horizon)
    assert await store.changes(horizon) == (later,)
    assert later.previous == kept.record
    assert await store.find(pod("a")) == later.record


async def test_compaction_only_moves_forward(store: Store) -> None:
    for number in range(5):
        await put(store, pod(f"p{number}"))
    newest = store.bounds().revision
    await store.compact(newest - 1)
    await store.compact(newest - 3)
    assert store.bounds() == Bounds(newest - 1, newest)
    with pytest.raises(FutureRevision) as caught:
        await store.compact(newest + 1)
    assert (caught.value.asked, caught.value.newest) == (newest + 1, newest)
