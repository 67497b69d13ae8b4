"""Every recorded case passes: our own slices always, the whole recordings where CASES names their folder."""

from __future__ import annotations

import pytest

from tests.conformance.recorded import find_file
from tools.conformance import judge_line, read_lines

FILES = (
    "allocator-hard.jsonl",
    "allocator.jsonl",
    "api-updates.jsonl",
    "api-validation.jsonl",
    "api-versions.jsonl",
    "cel.jsonl",
)


@pytest.mark.parametrize("name", FILES)
def test_recorded_cases_pass(name: str) -> None:
    failed = {
        case: verdict.mismatches
        for case, line in read_lines(find_file(name))
        if (verdict := judge_line(line)).mismatches
    }
    assert failed == {}
