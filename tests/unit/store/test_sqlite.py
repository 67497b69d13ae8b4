"""What the durable store does beyond the contract: it remembers, locks, refuses and fails clearly."""

import asyncio
import sqlite3
import stat
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from dray.store.database import Database, StoreFull
from dray.store.opening import NotAStore, StoreCorrupted, StoreInUse, StoreTooNew, migrate
from dray.store.port import Bounds, Change, Put, Selection, StoreBusy, StoreFailed
from dray.store.sqlite import open_sqlite_store
from tests.contract.store.objects import PODS, delete, pod, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dray.db"


async def fill(path: Path, count: int = 20) -> Bounds:
    async with open_sqlite_store(path) as store:
        for number in range(count):
            await put(store, pod(f"p{number:03}"), b"body of %d" % number * 50, index=(("node", "n"),))
        return store.bounds()


def alter(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)


async def test_everything_is_there_after_a_restart(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        created = await put(store, pod("a"), b"one", index=(("node", "n"),))
        (stamped,) = await store.commit((Put(pod("b"), b"{}", stamp_at=1),))
        await put(store, pod("gone"))
        removed = await delete(store, pod("gone"))
        history = await store.changes(1)
    async with open_sqlite_store(path) as store:
        assert store.bounds() == Bounds(1, removed.revision)
        assert await store.find(pod("a")) == created.record
        assert await store.find(pod("b")) == stamped.record
        assert await store.find(pod("gone")) is None
        assert await store.changes(1) == history
        assert (await put(store, pod("c"))).revision == removed.revision + 1


async def test_history_that_is_read_shares_the_memory_of_the_present(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"), b"one")
        await put(store, pod("a"), b"two")
        await put(store, pod("a"), b"three")
        first, second, third = await store.changes(1)
        assert second.previous is first.record
        assert third.previous is second.record
        assert third.record is await store.find(pod("a"))


async def test_the_revision_goes_on_after_its_row_is_compacted(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"))
        last = await delete(store, pod("a"))
        await store.compact(last.revision)
    async with open_sqlite_store(path) as store:
        assert store.bounds() == Bounds(last.revision, last.revision)
        assert (await put(store, pod("a"))).revision == last.revision + 1


async def test_compaction_survives_a_restart_and_frees_rows(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        for number in range(30):
            await put(store, pod("a"), b"%d" % number)
        await put(store, pod("gone"))
        await delete(store, pod("gone"))
        for number in range(5):
            await put(store, pod("a"), b"%d" % number)
        newest = store.bounds().revision
        await store.compact(newest - 5)
    async with open_sqlite_store(path) as store:
        assert store.bounds() == Bounds(newest - 5, newest)
        assert len(await store.changes(newest - 5)) == 5
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM states").fetchone() == (6,)


async def test_long_histories_are_compacted_in_steps_between_commits(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dray.store.sqlite._COMPACTION_STEP", 10)
    async with open_sqlite_store(path) as store:
        await asyncio.gather(*(put(store, pod(f"p{number % 7}")) for number in range(95)))
        newest = store.bounds().revision
        await asyncio.gather(store.compact(newest), *(put(store, pod("a")) for _ in range(5)), store.compact(newest))
        assert store.bounds() == Bounds(newest, newest + 5)
    async with open_sqlite_store(path) as store:
        assert len((await store.page(Selection(PODS))).records) == 8


async def test_many_waiting_writes_share_one_transaction(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups: list[int] = []
    append = Database.append

    def count(database: Database, changes: Sequence[Change]) -> None:
        groups.append(len(changes))
        append(database, changes)

    monkeypatch.setattr(Database, "append", count)
    async with open_sqlite_store(path) as store:
        await asyncio.gather(*(put(store, pod(f"p{number}")) for number in range(3000)))
    assert groups == [1024, 1024, 952]


async def test_only_one_process_writes(path: Path) -> None:
    async with open_sqlite_store(path):
        with pytest.raises(StoreInUse, match=r"dray\.db is in use"):
            async with open_sqlite_store(path):
                pass
    async with open_sqlite_store(path):
        pass


async def test_only_its_owner_reads_the_file(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"))
        files = sorted(path.parent.iterdir())
        assert [file.name for file in files] == ["dray.db", "dray.db-shm", "dray.db-wal", "dray.db.lock"]
        assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert not path.with_name("dray.db-wal").exists()


async def test_the_disk_is_synced_at_every_commit(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        connection = store._database._connection
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def read(path: Path) -> bytes:
    return path.read_bytes()


def overwrite(path: Path, at: int, text: bytes) -> None:
    with path.open("r+b" if path.exists() else "w+b") as file:
        file.seek(at)
        file.write(text)


async def refused(path: Path, error: type[Exception], match: str) -> None:
    before = read(path)
    with pytest.raises(error, match=match):
        async with open_sqlite_store(path):
            pass
    assert read(path) == before
    with pytest.raises(error, match=match):  # and nothing stays locked
        async with open_sqlite_store(path):
            pass


async def test_other_files_are_refused_untouched(path: Path) -> None:
    overwrite(path, 0, b"no database at all" * 100)
    await refused(path, NotAStore, "is not a database")
    other = path.with_name("other.db")
    alter(other, "CREATE TABLE other (a)")
    await refused(other, NotAStore, "is not a store of dray")


async def test_a_first_start_that_was_cut_short_is_repeated(path: Path) -> None:
    alter(path, "PRAGMA journal_mode = WAL")
    assert read(path) != b""
    assert (await fill(path)).revision == 21


async def test_a_newer_format_is_refused_untouched(path: Path) -> None:
    await fill(path)
    alter(path, "PRAGMA user_version = 99")
    await refused(path, StoreTooNew, r"has format 99, this dray knows formats up to 1")


async def test_a_damaged_page_is_told(path: Path) -> None:
    await fill(path, 200)
    overwrite(path, 3 * 8192, b"\xff" * 64)
    await refused(path, StoreCorrupted, "damaged")


async def test_a_flipped_bit_inside_an_object_is_told(path: Path) -> None:
    await fill(path)
    overwrite(path, read(path).index(b"body of 7body"), b"bodz")
    await refused(path, StoreCorrupted, "the stored state of pods/ml/p007 at revision 9 is damaged")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE states SET name = 'other' WHERE since = 5",
        "UPDATE states SET body = NULL WHERE since = 5",
        "UPDATE states SET indexed = NULL WHERE since = 5",
        "UPDATE states SET since = 500 WHERE since = 5",
    ],
)
async def test_a_changed_column_is_told(path: Path, damage: str) -> None:
    await fill(path)
    alter(path, damage)
    await refused(path, StoreCorrupted, "is damaged")


async def test_a_lost_row_is_told(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        for _ in range(3):
            await put(store, pod("a"))
    alter(path, "DELETE FROM states WHERE since = 3")
    await refused(path, StoreCorrupted, "history of pods/ml/a has a gap before revision 4")


async def test_a_full_disk_fails_the_write_and_nothing_else(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"), b"one")
        before = store.bounds()
        connection = store._database._connection
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        connection.execute(f"PRAGMA max_page_count = {pages}")
        outcomes = await asyncio.gather(
            *(put(store, pod(f"big{number}"), b"x" * 20_000) for number in range(3)), return_exceptions=True
        )
        assert [type(each) for each in outcomes] == [StoreFull] * 3
        assert store.bounds() == before
        assert await store.find(pod("big0")) is None
        connection.execute("PRAGMA max_page_count = 100000")
        after = await put(store, pod("big0"), b"x" * 20_000)
        assert after.revision == before.revision + 1
    async with open_sqlite_store(path) as store:
        assert await store.find(pod("big0")) == after.record


async def test_a_failing_disk_stops_all_writes_and_no_reads(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        written = await put(store, pod("a"), b"one")
        store._database._connection.execute("PRAGMA query_only = 1")
        with pytest.raises(StoreFailed, match="cannot write the store"):
            await put(store, pod("a"), b"two")
        with pytest.raises(StoreFailed, match="takes no more writes"):
            await put(store, pod("b"))
        assert await store.find(pod("a")) == written.record
    async with open_sqlite_store(path) as store:
        assert await store.find(pod("a")) == written.record


async def test_a_listener_that_fails_is_reported_and_stops_all_writes(path: Path) -> None:
    reported: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: reported.append(context["exception"]))

    def fail(changes: Sequence[Change]) -> None:
        raise KeyError(changes[0].key.name)

    async with open_sqlite_store(path) as store:
        store.follow(fail)
        with pytest.raises(StoreFailed, match="could not be shown"):
            await put(store, pod("a"))
        with pytest.raises(StoreFailed, match="takes no more writes"):
            await put(store, pod("b"))
    assert [type(each) for each in reported] == [KeyError]
    async with open_sqlite_store(path) as store:
        assert await store.find(pod("a")) is not None


async def test_a_closed_store_takes_no_writes_but_finishes_those_under_way(path: Path) -> None:
    async with open_sqlite_store(path) as store:
        under_way = [asyncio.ensure_future(put(store, pod(f"p{number}"))) for number in range(5)]
        await asyncio.sleep(0)
    assert len(await asyncio.gather(*under_way)) == 5
    with pytest.raises(StoreFailed, match="the store is closed"):
        await put(store, pod("late"))
    async with open_sqlite_store(path) as store:
        assert len((await store.page(Selection(PODS))).records) == 5


async def test_too_many_waiting_writes_are_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dray.store.groupcommit._MAX_WAITING_BYTES", 2500)
    async with open_sqlite_store(path) as store:
        outcomes = await asyncio.gather(
            *(put(store, pod(f"p{number}"), b"x" * 1000) for number in range(5)), return_exceptions=True
        )
        assert [type(each) for each in outcomes] == [Change] * 3 + [StoreBusy] * 2
        await put(store, pod("p4"))


def test_migrations_run_once_and_in_order(tmp_path: Path) -> None:
    folder = tmp_path / "migrations"
    folder.mkdir()
    folder.joinpath("0001_first.sql").write_text("CREATE TABLE a (x);", encoding="utf-8")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, folder)
        folder.joinpath("0002_second.sql").write_text("INSERT INTO a VALUES (1); CREATE TABLE b (y);", encoding="utf-8")
        migrate(connection, folder)
        migrate(connection, folder)
        assert connection.execute("SELECT x FROM a").fetchall() == [(1,)]
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)


def test_a_migration_that_fails_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    tmp_path.joinpath("0001_first.sql").write_text("CREATE TABLE a (x); CREATE TABLE a (x);", encoding="utf-8")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, tmp_path)
        assert not connection.in_transaction
        assert connection.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)
        assert connection.execute("PRAGMA user_version").fetchone() == (0,)
