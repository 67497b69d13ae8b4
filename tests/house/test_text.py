"""Rules about every text file of the repository."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "tools", "bench", "docs", "examples", "requirements", ".ci")
SUFFIXES = {".py", ".md", ".yaml", ".yml", ".toml", ".txt", ".jsonl", ".json", ".sh", ""}
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.joinpath("docs").rglob("*.md"), *ROOT.joinpath("examples").rglob("*.md")])
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")

# Places of one machine. Written in halves, so that this file is no finding of its own.
MACHINE = re.compile(
    "|".join(re.escape(a + b) for a, b in [("/wo", "rk/"), ("/ro", "ot/"), ("/ho", "me/"), ("/opt/", "py")])
)


def text_files() -> Iterator[Path]:
    for folder in FOLDERS:
        for file in sorted(ROOT.joinpath(folder).rglob("*")):
            if file.is_file() and file.suffix in SUFFIXES and "__pycache__" not in file.parts:
                yield file
    yield from (file for file in sorted(ROOT.iterdir()) if file.is_file() and file.suffix in SUFFIXES)


def findings(pattern: re.Pattern[str]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{number}"
        for file in text_files()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_place_of_one_machine_is_named() -> None:
    assert findings(MACHINE) == []


def test_every_to_do_has_a_condition() -> None:
    assert findings(re.compile(r"\b(?:TO" r"DO(?! when )|FIX" r"ME|X" r"XX)\b")) == []


def test_ends_with_a_newline_and_no_space_before_it() -> None:
    untidy = [
        str(file.relative_to(ROOT))
        for file in text_files()
        if (text := file.read_text(encoding="utf-8"))
        and (not text.endswith("\n") or re.search(r"[ \t]\n", text))
        and not {"golden", "cases", "recorded"} & set(file.parts)
    ]
    assert untidy == []


def anchors(page: Path) -> set[str]:
    """Anchors of a page as GitHub makes them from headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_index_has_every_record_in_order() -> None:
    folder = ROOT / "docs" / "adr"
    records = sorted(file.name for file in folder.glob("0*.md"))
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| \[\d{4}\]\((\d{4}-[^)]+)\)", index, re.MULTILINE) == records
    for name in records:
        assert (folder / name).read_text(encoding="utf-8").startswith(f"# {name[:4]} ")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(target)
    assert broken == []
