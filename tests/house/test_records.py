"""Records of decisions are complete, and there when something refers to one."""

import re
from pathlib import Path

import pytest

from tests.house.test_text import ROOT, text_files

FOLDER = ROOT / "docs" / "adr"
RECORDS = sorted(FOLDER.glob("[0-9]*.md"))
REFERENCE = re.compile(r"\b(?:ADR |adr/)(\d{4})\b")
PARTS = ["## Context", "## Decision", "## What we gave up", "## How we would know it was wrong"]


def test_every_record_that_is_referred_to_is_there() -> None:
    numbers = {record.name[:4] for record in RECORDS}
    dangling = {
        f"{file.relative_to(ROOT)}: {number}"
        for file in text_files()
        for number in REFERENCE.findall(file.read_text(encoding="utf-8"))
        if number not in numbers
    }
    assert sorted(dangling) == []


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.name[:4])
def test_record_has_all_parts_on_one_page(record: Path) -> None:
    lines = record.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("## ")] == PARTS
    assert len(lines) <= 60
