"""Every code of an explanation is documented, and nothing else is."""

import re
from enum import StrEnum
from pathlib import Path

import pytest

from dray.allocator.reasons import HeadlineCode, ReasonCode, RemedyCode
from dray.scheduler.core.accounts import Situation, WaitCode

PAGE = Path(__file__).parents[2] / "docs" / "explain-codes.md"
SECTIONS: dict[str, type[StrEnum]] = {
    "Situations": Situation,
    "Waits": WaitCode,
    "Nodes": HeadlineCode,
    "Devices": ReasonCode,
    "Ways out": RemedyCode,
}


def read_sections() -> dict[str, list[str]]:
    parts = re.split(r"^## (.+)$", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        title: re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
        for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


@pytest.mark.parametrize("title", SECTIONS)
def test_section_lists_every_code(title: str) -> None:
    assert sorted(read_sections()[title]) == sorted(map(str, SECTIONS[title]))


def test_there_are_no_other_tables() -> None:
    assert [title for title, codes in read_sections().items() if codes] == list(SECTIONS)
