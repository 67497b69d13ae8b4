"""Every command that the pages show is run, and prints what they show."""

import asyncio
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.documented import ROOT, Command, File, Reader, is_same, read_page, read_picture
from tools.draw_terminal import COMMANDS, PICTURE, draw, play

PAGES = ["docs/configuration.md"]
READS = re.compile(r"kubectl (get|describe|logs|events|wait)\b|dray (get|devices|explain|logs|status)\b")
"""What may be asked again until it answers as shown: others change things meanwhile."""
MOST_TRIES = 100


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    reader.leave()


def fault_of(command: Command, reader: Reader) -> str:
    """What is wrong with a command; nothing is best."""
    fault = ""
    for _ in range(MOST_TRIES if READS.match(command.line) else 1):
        code, printed = reader.run(command.line)
        # What shows faults ends in 1, which a page tells by showing them.
        good = code == 0 or (code == 1 and command.output)
        if good and (not command.output or is_same(command.output, printed)):
            return ""
        fault = f"$ {command.line}\nended in {code} and printed\n{printed}\ninstead of\n{command.output}"
    return fault


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page: str, reader: Reader) -> None:
    has_kubectl = shutil.which("kubectl") is not None
    steps = read_page(ROOT.joinpath(page).read_text(encoding="utf-8"))
    assert [each for each in steps if isinstance(each, Command)]
    for number, each in enumerate(steps):
        if isinstance(each, File):
            reader.write(each)
        elif "kubectl" in each.line and not has_kubectl:
            is_ci = os.environ.get("CI") == "true"  # noqa: TID251  # the convention of every CI
            (pytest.fail if is_ci else pytest.skip)(f"no kubectl in the path: {number} of {len(steps)} steps were run")
        else:
            assert fault_of(each, reader) == ""


def test_picture_shows_what_its_commands_print() -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("no kubectl in the path")
    shown, printed = read_picture(PICTURE.read_text(encoding="utf-8")), read_picture(draw(asyncio.run(play())))
    assert [line.removeprefix("$ ").strip() for line in shown.splitlines() if line.startswith("$")] == list(COMMANDS)
    assert is_same(shown, printed), printed


def test_picture_loads_nothing() -> None:
    picture = PICTURE.read_text(encoding="utf-8")
    assert "kubectl" in read_picture(picture)
    assert re.findall(r"url\((?!#)|href|@import|<image|<script", picture) == []
