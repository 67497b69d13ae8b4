import asyncio
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dray.cli.main import app
from dray.store.port import Key, Put, Selection
from dray.store.sqlite import open_sqlite_store


def dray(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def store_object(folder: Path, name: str) -> None:
    async def put() -> None:
        async with open_sqlite_store(folder / "dray.db") as store:
            await store.commit([Put(Key("pods", "default", name), b"{}")])

    asyncio.run(put())


def stored(folder: Path) -> list[str]:
    async def read() -> list[str]:
        async with open_sqlite_store(folder / "dray.db") as store:
            return [record.key.name for record in (await store.page(Selection("pods"))).records]

    return asyncio.run(read())


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    store_object(folder, "before")
    return folder


def test_a_backup_is_put_back(data: Path, tmp_path: Path) -> None:
    saved = dray("backup", tmp_path / "copy", "--data-dir", data)
    assert (saved.exit_code, saved.stderr) == (0, "")
    assert "1 object at revision 2" in saved.stdout
    store_object(data, "after")
    assert dray("restore", tmp_path / "copy", "--data-dir", data).exit_code == 0
    assert stored(data) == ["before"]


def test_a_backup_starts_another_data_directory(data: Path, tmp_path: Path) -> None:
    dray("backup", tmp_path / "copy", "--data-dir", data)
    assert dray("restore", tmp_path / "copy", "--data-dir", tmp_path / "new" / "data").exit_code == 0
    assert stored(tmp_path / "new" / "data") == ["before"]


async def hold(folder: Path, *words: object) -> Result:
    async with open_sqlite_store(folder / "dray.db"):
        return dray(*words, "--data-dir", folder)


def test_a_store_in_use_is_copied_but_not_replaced(data: Path, tmp_path: Path) -> None:
    assert asyncio.run(hold(data, "backup", tmp_path / "copy")).exit_code == 0
    refused = asyncio.run(hold(data, "restore", tmp_path / "copy"))
    assert refused.exit_code == 2
    assert "is in use by another process" in refused.stderr
    assert "try: stop the dray that runs on it" in refused.stderr


def test_a_damaged_backup_replaces_nothing(data: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    dray("backup", copy, "--data-dir", data)
    text = copy.read_bytes()
    at = text.rindex(b"{}")
    copy.write_bytes(text[:at] + b"[]" + text[at + 2 :])
    refused = dray("restore", copy, "--data-dir", data)
    assert refused.exit_code == 2
    assert "damaged" in refused.stderr
    assert stored(data) == ["before"]


@pytest.mark.parametrize(
    ("words", "want"),
    [
        (("backup", "{tmp}/copy", "--data-dir", "{tmp}/none"), "does not exist"),
        (("backup", "{tmp}/none/copy", "--data-dir", "{tmp}/data"), "there is no folder "),
        (("restore", "{tmp}/none", "--data-dir", "{tmp}/data"), "does not exist"),
        (("restore", __file__, "--data-dir", "{tmp}/data"), "is not a database"),
    ],
)
def test_what_cannot_be_done_is_said(data: Path, tmp_path: Path, words: tuple[str, ...], want: str) -> None:
    refused = dray(*(word.format(tmp=tmp_path) for word in words))
    assert refused.exit_code == 2
    assert want in refused.stderr
    assert stored(data) == ["before"]


def test_a_backup_goes_into_a_file_of_a_folder_that_is_there(data: Path, tmp_path: Path) -> None:
    missing = dray("backup", tmp_path / "missing" / "copy", "--data-dir", data)
    assert missing.exit_code == 2
    assert missing.stderr == (
        f"error: there is no folder {tmp_path}/missing to write copy into\n  try: mkdir -p {tmp_path}/missing\n"
    )
    folder = dray("backup", tmp_path, "--data-dir", data)
    assert (folder.exit_code, folder.stdout) == (2, "")
    assert folder.stderr.startswith(f"error: {tmp_path} is a folder\n  try: dray backup {tmp_path}/objects.db")
