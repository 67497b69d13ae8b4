import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from dray.store.backup import back_up, restore, verify
from dray.store.opening import NotAStore, StoreCorrupted, StoreInUse, StoreTooNew
from dray.store.port import Bounds, Compacted, Selection
from dray.store.sqlite import open_sqlite_store
from tests.contract.store.objects import PODS, delete, pod, put


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "dray.db"


@pytest.fixture(autouse=True)
def _folder(path: Path) -> None:
    path.parent.mkdir()


async def bodies(path: Path) -> dict[str, bytes]:
    async with open_sqlite_store(path) as store:
        return {record.key.name: record.body for record in (await store.page(Selection(PODS))).records}


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def overwrite(path: Path, at: int, text: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(text)


def alter(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(statement)


async def test_a_running_store_is_copied_and_put_back(path: Path, tmp_path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"), b"one")
        await put(store, pod("gone"))
        removed = await delete(store, pod("gone"))
        summary = back_up(path, tmp_path / "copy")
        assert (summary.objects, summary.bounds) == (1, Bounds(1, removed.revision))
        assert summary.size_bytes == (tmp_path / "copy").stat().st_size
        await put(store, pod("a"), b"two")
        newest = (await put(store, pod("b"), b"new")).revision
    assert verify(tmp_path / "copy") == summary
    restored = restore(tmp_path / "copy", path)
    assert restored.objects == 1
    assert await bodies(path) == {"a": b"one"}
    async with open_sqlite_store(path) as store:
        assert store.bounds() == restored.bounds
        assert store.bounds().revision > newest
        with pytest.raises(Compacted):
            await store.changes(newest)
        assert (await put(store, pod("c"))).revision == restored.bounds.revision + 1
    assert await bodies(path.with_name("dray.db.replaced")) == {"a": b"two", "b": b"new"}


async def test_a_copy_is_one_file_of_its_owner(path: Path, tmp_path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"))
        copy = tmp_path / "copies" / "copy"
        copy.parent.mkdir()
        back_up(path, copy)
        back_up(path, copy)
    assert names(copy.parent) == ["copy"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    verify(copy)
    assert names(copy.parent) == ["copy"]


async def test_nothing_is_put_under_a_running_store(path: Path, tmp_path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"))
        back_up(path, tmp_path / "copy")
        with pytest.raises(StoreInUse):
            restore(tmp_path / "copy", path)
        await put(store, pod("a"))


async def test_a_store_can_be_put_where_there_was_none(path: Path, tmp_path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"), b"one")
    elsewhere = tmp_path / "elsewhere" / "dray.db"
    elsewhere.parent.mkdir()
    restore(path, elsewhere)
    assert await bodies(elsewhere) == {"a": b"one"}
    assert names(elsewhere.parent) == ["dray.db", "dray.db.lock"]


async def test_a_damaged_store_is_replaced_and_kept(path: Path, tmp_path: Path) -> None:
    async with open_sqlite_store(path) as store:
        await put(store, pod("a"), b"one")
        back_up(path, tmp_path / "copy")
    overwrite(path, 0, b"\xff" * 200)
    restore(tmp_path / "copy", path)
    assert await bodies(path) == {"a": b"one"}
    assert path.with_name("dray.db.replaced").read_bytes().startswith(b"\xff")
    restore(tmp_path / "copy", path)
    assert await bodies(path.with_name("dray.db.replaced")) == {"a": b"one"}


async def test_bad_copies_are_refused_and_change_nothing(path: Path, tmp_path: Path) -> None:
    async with open_sqlite_store(path) as store:
        for number in range(9):
            await put(store, pod(f"p{number}"), b"body of %d" % number)
        copy = tmp_path / "copy"
        back_up(path, copy)
    before = await bodies(path)

    def refused(error: type[Exception]) -> None:
        with pytest.raises(error):
            verify(copy)
        with pytest.raises(error):
            restore(copy, path)

    text = copy.read_bytes()
    overwrite(copy, text.index(b"body of 7"), b"b0dy")
    refused(StoreCorrupted)
    overwrite(copy, 0, text)
    overwrite(copy, 8192 * 2, b"\xff" * 100)
    refused(StoreCorrupted)
    overwrite(copy, 0, text)
    alter(copy, "PRAGMA user_version = 99")
    refused(StoreTooNew)
    overwrite(copy, 0, b"something else  ")
    refused(NotAStore)
    copy.unlink()
    refused(NotAStore)
    assert await bodies(path) == before
    assert names(path.parent) == ["dray.db", "dray.db.lock"]


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(NotAStore, match="does not exist"):
        back_up(tmp_path / "dray.db", tmp_path / "copy")
    assert names(tmp_path) == ["data"]


def test_a_blank_file_is_no_backup(path: Path, tmp_path: Path) -> None:
    (tmp_path / "copy").touch()
    with pytest.raises((NotAStore, StoreCorrupted)):
        verify(tmp_path / "copy")
    with pytest.raises((NotAStore, StoreCorrupted)):
        restore(tmp_path / "copy", path)
    assert not path.exists()
