"""Texts of files for those who read them in spite of mistakes."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Final

import typer

from dray.authoring.reading import Manuscript, read_manuscript
from dray.cli.access import refuse
from dray.cli.manifestfiles import list_files

__all__ = ["DraftFiles", "read_drafts"]

MAX_BYTES: Final = 16 * 1024 * 1024
"""The largest file that is read: far more than any manifest, and little enough to be judged at once."""

DraftFiles = Annotated[
    list[str], typer.Option("--filename", "-f", metavar="FILE", help="YAML or JSON, or a folder; - is standard input.")
]


def read_drafts(files: Iterable[str], *, recursive: bool = False) -> list[Manuscript]:
    """Every file, those of a folder by name. Leaves the command where there is nothing to read."""
    manuscripts = [_read(each) for file in files for each in list_files(file, recursive=recursive)]
    empty = next((each.file for each in manuscripts if not each.findings and not any(each.drafts())), None)
    if empty is not None:
        raise refuse(f"{empty} holds no objects", hint="name a file with manifests")
    return manuscripts


def _read(file: str) -> Manuscript:
    name = "standard input" if file == "-" else file
    try:
        if file == "-":
            content = sys.stdin.buffer.read(MAX_BYTES + 1)
        else:
            with Path(file).open("rb") as stream:
                content = stream.read(MAX_BYTES + 1)
    except OSError as fault:
        raise refuse(f"cannot read {file}: {fault.strerror}", hint="check the path; - is standard input") from fault
    if len(content) > MAX_BYTES:
        raise refuse(f"{name} is larger than {MAX_BYTES // 1024 // 1024} MiB", hint="split it into several files")
    try:
        return read_manuscript(content.decode(), name)
    except UnicodeDecodeError as fault:
        raise refuse(f"{name} is not text in UTF-8", hint="name a file with YAML or JSON") from fault
