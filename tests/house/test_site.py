"""The site of docs/ builds strictly, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOADED = re.compile(r'<(?:script|img|iframe|link rel="(?:stylesheet|preload|preconnect)")[^>]*?(?:src|href)="([^"]+)"')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]  # quiet is not strict
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # noqa: TID251  # as `make docs` does
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    pages = {each.relative_to(ROOT / "docs").with_suffix("") for each in ROOT.joinpath("docs").rglob("*.md")}
    built = {each.relative_to(site).with_suffix("") for each in site.rglob("*.html")}
    assert {each.with_name("index") if each.name == "README" else each for each in pages} <= built


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    loaded = {each for page in site.rglob("*.html") for each in LOADED.findall(page.read_text(encoding="utf-8"))}
    assert loaded
    assert [each for each in loaded if "//" in each] == []


def test_links_out_of_the_folder_are_shown_as_paths(site: Path) -> None:
    text = site.joinpath("testing.html").read_text(encoding="utf-8")
    assert "<code>examples/testing/README.md</code>" in text
    assert "../examples/" not in text
