"""Where manifests come from: files, folders, standard input."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer

from dray.cli.access import refuse
from dray.cli.manifests import Manifest, ManifestError, read_manifests

__all__ = ["Filenames", "ManifestHead", "Recursive", "list_files", "load_manifests", "read_head"]

Filenames = Annotated[
    list[str], typer.Option("--filename", "-f", metavar="FILE", help="YAML or JSON, or a folder; - is standard input.")
]
Recursive = Annotated[bool, typer.Option("--recursive", "-R", help="Look into folders of folders too.")]

_ENDINGS: Final = (".yaml", ".yml", ".json")


class ManifestMeta(msgspec.Struct, rename="camel"):
    """Which object."""

    name: str = ""
    namespace: str = ""
    generate_name: str = ""


class ManifestHead(msgspec.Struct, rename="camel"):
    """What an object says it is."""

    api_version: str = ""
    kind: str = ""
    metadata: ManifestMeta = msgspec.field(default_factory=ManifestMeta)


def read_head(manifest: Manifest) -> ManifestHead:
    """What an object says it is. Leaves the command, with its place, where it does not say."""
    try:
        head = msgspec.json.decode(manifest.json, type=ManifestHead)
    except msgspec.DecodeError as fault:
        raise refuse(f"{manifest.place}: {fault}", hint=f"dray check -f {manifest.source}") from fault
    missing = [name for name, text in (("apiVersion", head.api_version), ("kind", head.kind)) if not text]
    if missing:
        raise refuse(f"{manifest.place}: the object has no {missing[0]}", hint=f"dray check -f {manifest.source}")
    return head


def load_manifests(files: Iterable[str], *, recursive: bool = False) -> list[Manifest]:
    """The objects of all files in order, those of a folder by name. Leaves the command if there are none to be had."""
    return [manifest for file in files for each in list_files(file, recursive=recursive) for manifest in _read(each)]


def list_files(file: str, *, recursive: bool = False) -> Iterator[str]:
    """The file itself, or the manifests in a folder by name. Leaves the command if it has none."""
    if file == "-" or not Path(file).is_dir():
        yield file
        return
    found = sorted(each for each in Path(file).glob("**/*" if recursive else "*") if each.suffix in _ENDINGS)
    if not found:
        hint = "" if recursive else "--recursive, which looks into its folders too"
        raise refuse(f"{file} has no files that end in {', '.join(_ENDINGS)}", hint=hint)
    yield from map(str, found)


def _read(file: str) -> list[Manifest]:
    try:
        if file == "-":
            return read_manifests(sys.stdin.buffer.read().decode(), "standard input")
        return read_manifests(Path(file).read_text(encoding="utf-8"), file)
    except OSError as fault:
        raise refuse(f"cannot read {file}: {fault.strerror}", hint="check the path; - is standard input") from fault
    except UnicodeDecodeError as fault:
        raise refuse(f"{file} is not text in UTF-8", hint="name a file with YAML or JSON") from fault
    except ManifestError as fault:
        raise refuse(str(fault), hint=f"dray lint -f {file} says what is wrong, and what to write") from fault
