"""`dray backup` and `dray restore`: copies of the objects in a data directory."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dray.cli.access import fail_with, refuse
from dray.cli.progress import show_progress
from dray.store.backup import StoreSummary, back_up, restore
from dray.store.opening import DATABASE_FILE, NotAStore, StoreCorrupted, StoreInUse
from dray.store.port import StoreError

__all__ = ["restore_file", "write_backup"]

_HINTS: dict[type[StoreError], str] = {
    StoreInUse: "stop the dray that runs on it, then restore again",
    StoreCorrupted: "restore an earlier backup",
    NotAStore: "name the folder with --data-dir, and a file that `dray backup` wrote",
}

DataDir = Annotated[Path, typer.Option("--data-dir", metavar="FOLDER", help="Where objects and keys are kept.")]


def write_backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write; replaced if it is there.")],
    data_dir: DataDir = Path("dray-data"),
) -> None:
    """Copy all objects into a file, while dray runs or not.

    The copy is checked from end to end.

    \b
      dray backup objects.db                           those of ./dray-data
      dray backup objects.db --data-dir /srv/cluster   those of another folder

    Exit codes: 0 the copy is good, 2 there is none.
    """  # noqa: D301  # the mark of lines that are kept as they are
    _refuse_place(file)
    with show_progress("copying"):
        summary = _attempt(lambda: back_up(data_dir / DATABASE_FILE, file))
    typer.echo(f"{file} holds {_describe(summary)}")


def restore_file(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `dray backup` wrote.")],
    data_dir: DataDir = Path("dray-data"),
) -> None:
    """Put a backup in the place of all objects; dray must not run.

    What was there stays beside it.

    \b
      dray restore objects.db                           into ./dray-data
      dray restore objects.db --data-dir /srv/cluster   into another folder, which is made if it is not there

    Exit codes: 0 the objects are those of the backup, 2 nothing was changed.
    """  # noqa: D301  # the mark of lines that are kept as they are
    with show_progress("copying"):
        summary = _attempt(lambda: _restore_into(file, data_dir))
    typer.echo(f"{data_dir} holds {_describe(summary)}; clients list again")


def _restore_into(file: Path, data_dir: Path) -> StoreSummary:
    if file.is_file():
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return restore(file, data_dir / DATABASE_FILE)


def _refuse_place(file: Path) -> None:
    """Leave the command if no file can be written there."""
    if file.is_dir():
        raise refuse(f"{file} is a folder", hint=f"dray backup {file / 'objects.db'}, a file in it")
    if not file.absolute().parent.is_dir():
        raise refuse(f"there is no folder {file.parent} to write {file.name} into", hint=f"mkdir -p {file.parent}")


def _attempt(act: Callable[[], StoreSummary]) -> StoreSummary:
    try:
        return act()
    except StoreError as fault:
        raise fail_with(fault, hint=_HINTS.get(type(fault), "")) from fault
    except OSError as fault:
        raise fail_with(fault, hint="a path that is there and may be written, and --data-dir") from fault


def _describe(summary: StoreSummary) -> str:
    noun = "object" if summary.objects == 1 else "objects"
    return f"{summary.objects} {noun} at revision {summary.bounds.revision}, {summary.size_bytes / 1e6:.1f} MB"
