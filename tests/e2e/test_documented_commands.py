"""Every command that the pages show is run, and prints what they show."""

import asyncio
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.documented import ROOT, Reader, follow, is_same, read_picture
from tools.draw_terminal import COMMANDS, PICTURE, draw, play

PAGES = [
    "README.md",
    *(
        f"docs/{name}.md"
        for name in ("tutorial", "backup", "configuration", "explain-codes", "lint-rules", "operations")
    ),
]
RUN_ELSEWHERE: dict[str, str] = {"docs/drivers/first-driver.md": "tests/e2e/test_first_driver.py"}
"""Pages whose commands need more than a cluster and a folder, and the file of the test that runs them."""
README = ROOT.joinpath("README.md").read_text(encoding="utf-8")

SHOWN = "NAME   AGE\npod1   1s\n...\nclaim pod1-gpu-7mlql at 127.0.0.1:6443"


@pytest.mark.parametrize(
    ("printed", "want"),
    [
        ("NAME   AGE\npod1   12m\nmore\nand more\nclaim pod1-gpu-xxw2k at 127.0.0.1:38001\n", True),
        ("NAME   AGE\npod1   1s\nclaim pod1-gpu-7mlql at 127.0.0.1:6443\n", True),
        ("NAME   AGE\npod2   1s\nclaim pod1-gpu-7mlql at 127.0.0.1:6443\n", False),
        ("NAME   AGE\npod1   1s\nclaim pod1-gpu-7mlql at 127.0.0.1:6443\nand more\n", False),
        ("NAME   AGE\npod1   1s\nclaim pod1-nic-7mlql at 127.0.0.1:6443\n", False),
    ],
)
def test_comparison_overlooks_what_is_masked_alone(printed: str, want: bool) -> None:
    assert is_same(SHOWN, printed) is want


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    reader = Reader(tmp_path)
    yield reader
    reader.leave()


@pytest.mark.parametrize("page", PAGES)
def test_commands_print_what_the_page_shows(page: str, reader: Reader) -> None:
    follow(page, reader)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"^make (\w+)", README, re.MULTILINE))))
def test_readme_names_targets_that_make_knows(target: str) -> None:
    done = subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_the_readme_calls_the_tests_is_what_ci_runs() -> None:
    assert "make test    # run the tests" in README
    assert "\nmake test\n" in ROOT.joinpath(".ci", "run").read_text(encoding="utf-8")


def test_page_with_commands_is_run_here_or_names_who_runs_it() -> None:
    pages = {file.relative_to(ROOT).as_posix() for file in ROOT.joinpath("docs").rglob("*.md")} | {"README.md"}
    showing = {page for page in pages if "```console" in ROOT.joinpath(page).read_text(encoding="utf-8")}
    assert sorted(showing - set(PAGES) - RUN_ELSEWHERE.keys()) == []
    assert [test for test in RUN_ELSEWHERE.values() if not ROOT.joinpath(test).is_file()] == []


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
