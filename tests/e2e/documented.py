"""Reads the commands that a page shows, and runs them in order as its reader would: in one folder, one shell's worth of
variables, and with whatever cluster the page itself begins.

A fence of the language `console` has commands after `$ ` and, below each, what it prints. A fence with a title is a
file that the reader writes. Commands that are not meant to be run stand in fences of other languages.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e import kubectl

__all__ = ["Command", "Done", "File", "Reader", "follow", "is_same", "read_page", "read_picture"]

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 120.0
_READS = re.compile(r"kubectl (get|describe|logs|events|wait)\b|dray (get|devices|explain|logs|status)\b")
"""What may be asked again until it answers as shown: others change things meanwhile."""
_MOST_TRIES = 100
_DRAWN = re.compile(r'<text class="[\w-]+" x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>')
_FENCE = re.compile(r"^```(\w+)?(?: title=\"([^\"]+)\")?$")
_ANY_LINES = r"(?:[^\n]*\n)*?"
_MASKS = [
    (re.compile(r"(?<=-)[bcdfghjklmnpqrstvwxz2456789]{5}\b"), "XXXXX"),  # the end of a generated name
    (re.compile(r"(?<=127\.0\.0\.1:)\d+"), "PORT"),
    (re.compile(r"\(x\d+ over \w+\)"), "(xN over AGE)"),
    (re.compile(r"(process|revision|holds) \d+"), r"\1 N"),
    (re.compile(r"\b\d+(\.\d+)? (ms|s|seconds|[kMG]i?B)\b"), r"N \2"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?"), "TIME"),
]


class Command(NamedTuple):
    """One command, and what the page says that it prints; empty where it says nothing."""

    line: str
    output: str


class File(NamedTuple):
    """A file that the reader of a page writes."""

    name: str
    text: str


class Done(NamedTuple):
    """How a command ended, and everything that it printed."""

    code: int
    output: str


def read_page(text: str) -> list[Command | File]:
    """The commands and files of a page, in order."""
    return [each for language, title, body in _fences(text) for each in _read_fence(language, title, body)]


def _fences(text: str) -> Iterator[tuple[str, str, list[str]]]:
    body: list[str] | None = None
    language = title = ""
    for line in text.splitlines():
        if body is None and (match := _FENCE.match(line)):
            language, title, body = match[1] or "", match[2] or "", []
        elif body is not None and line == "```":
            yield language, title, body
            body = None
        elif body is not None:
            body.append(line)


def _read_fence(language: str, title: str, body: list[str]) -> Iterator[Command | File]:
    if title:
        yield File(title, "\n".join([*body, ""]))
    elif language == "console":
        for block in re.split(r"^\$ ", "\n".join(body), flags=re.MULTILINE)[1:]:
            line, _, output = block.partition("\n")
            yield Command(line, output.strip("\n"))


def read_picture(picture: str) -> str:
    """The text that a picture of a terminal shows, line by line; pieces of a line are a blank apart."""
    lines: defaultdict[float, list[tuple[float, str]]] = defaultdict(list)
    for x, y, piece in _DRAWN.findall(picture):
        lines[float(y)].append((float(x), html.unescape(piece).replace("\xa0", " ")))
    return "\n".join(" ".join(piece for _, piece in sorted(lines[y])).rstrip() for y in sorted(lines))


def mask(text: str) -> str:
    """The text without what differs from run to run, and without the widths that follow from that."""
    for pattern, put in _MASKS:
        text = pattern.sub(put, text)
    return kubectl.mask(text, namespace="\0")


def is_same(shown: str, printed: str) -> bool:
    """Whether a page shows what was printed, but for masks; a line of `...` stands for any lines."""
    lines = (_ANY_LINES if line == "..." else re.escape(f"{line}\n") for line in mask(shown).split("\n"))
    return re.fullmatch("".join(lines), f"{mask(printed)}\n") is not None


def _write_programs(folder: Path) -> Path:
    """The programs that pages use, and no others of the same name."""
    free_port = '[ "$1" = up ] && shift && set -- up --port 0 "$@"'
    programs = {"dray": f'{free_port}\nexec {sys.executable} -m dray "$@"', "python": f'exec {sys.executable} "$@"'}
    if (kubectl_found := shutil.which("kubectl")) is not None:
        programs["kubectl"] = f'exec {kubectl_found} "$@"'
    folder.mkdir()
    for name, script in programs.items():
        folder.joinpath(name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        folder.joinpath(name).chmod(0o755)
    return folder


class Reader:
    """Somebody who types what a page says, in a folder of their own that has the examples of the repository.

    The port alone is not the page's: pages are read side by side, so each cluster takes a free one.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen = folder / "environment"
        self._place = folder / "work"
        self._place.mkdir()
        self._place.joinpath("examples").symlink_to(ROOT / "examples")
        self._environment = {
            "HOME": str(folder),
            "PATH": f"{_write_programs(folder / 'bin')}:{os.defpath}",
            "PYTHONUTF8": "1",
            "LANG": "C.UTF-8",
        }

    def write(self, file: File) -> None:
        """Save a file of the page."""
        self._place.joinpath(file.name).write_text(file.text, encoding="utf-8")

    def run(self, line: str) -> Done:
        """Run a command to its end. Variables that it exports, and the folder it goes to, are there for the next."""
        script = f'{line}\n__code=$?; {{ pwd; env -0; }} >"{self._seen}"; exit $__code'
        done = subprocess.run(
            ["/bin/bash", "-c", script],
            cwd=self._place,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
        place, _, variables = self._seen.read_text(encoding="utf-8").partition("\n")
        self._place = Path(place)
        self._environment = dict(each.split("=", 1) for each in variables.split("\0") if "=" in each)
        return Done(done.returncode, done.stdout)

    def leave(self) -> None:
        """End whatever the page has left running."""
        for record in self._folder.rglob("*.run"):
            part = [] if record.stem == "dray" else ["--only", record.stem]
            self.run(" ".join(["dray", "down", "--data-dir", str(record.parent), *part]))


def _find_fault(command: Command, reader: Reader) -> str:
    """What is wrong with a command; nothing is best."""
    fault = ""
    for _ in range(_MOST_TRIES if _READS.match(command.line) else 1):
        code, printed = reader.run(command.line)
        # What shows faults ends in 1, which a page tells by showing them.
        good = code == 0 or (code == 1 and command.output)
        if good and (not command.output or is_same(command.output, printed)):
            return ""
        fault = f"$ {command.line}\nended in {code} and printed\n{printed}\ninstead of\n{command.output}"
    return fault


def follow(page: str, reader: Reader) -> None:
    """Do all that a page shows, and fail where something else comes of it."""
    has_kubectl = shutil.which("kubectl") is not None
    steps = read_page(ROOT.joinpath(page).read_text(encoding="utf-8"))
    assert [each for each in steps if isinstance(each, Command)]
    for number, each in enumerate(steps):
        if isinstance(each, File):
            reader.write(each)
        elif "kubectl" in each.line and not has_kubectl:
            is_ci = os.environ.get("CI") == "true"  # noqa: TID251  # the convention of every CI
            (pytest.fail if is_ci else pytest.skip)(f"no kubectl in the path: {number} of {len(steps)} steps were run")
        elif fault := _find_fault(each, reader):
            pytest.fail(fault, pytrace=False)
