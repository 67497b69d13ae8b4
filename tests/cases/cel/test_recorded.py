"""What Kubernetes was recorded to make of expressions, where the environment variable CASES names the recordings."""

import json
import os
from pathlib import Path

import pytest

from tools.conformance_cel import run


def test_expressions_do_what_was_recorded() -> None:
    folder = os.environ.get("CASES")  # noqa: TID251 - where recordings lie is a matter of the machine
    if folder is None:
        pytest.skip("CASES names no folder of recordings")
    lines = [json.loads(line) for line in Path(folder, "cel.jsonl").read_text(encoding="utf-8").splitlines()]
    verdicts = run(lines)
    assert [
        (line["expression"], verdict.mismatches)
        for line, verdict in zip(lines, verdicts, strict=True)
        if not verdict.passed
    ] == []
    assert sum(verdict.texts_same for verdict in verdicts) >= 0.99 * sum(verdict.texts for verdict in verdicts)
