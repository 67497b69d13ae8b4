"""What is said of manifests that people write, and what becomes of them. Read a golden beside its manifest."""

from pathlib import Path

import pytest

from dray.cli.findingtext import render_findings
from tests.cases.authoring.desk import convert_texts, lint_texts
from tests.conftest import Golden

MANIFESTS = sorted(Path(__file__).with_name("manifests").glob("*.yaml"))


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.stem)
def test_manifest_is_judged(file: Path, golden: Golden) -> None:
    findings = lint_texts({file.name: file.read_text(encoding="utf-8")})
    golden.check(f"manifests/{file.stem}.txt", render_findings(findings, 0).rpartition("0 objects")[0])


@pytest.mark.parametrize("file", MANIFESTS, ids=lambda file: file.stem)
def test_manifest_is_converted(file: Path, golden: Golden) -> None:
    converted = convert_texts({file.name: file.read_text(encoding="utf-8")})
    golden.check(f"manifests/{file.stem}.yaml", converted.text)
    told = [*converted.problems, *(f"missing: {each}" for each in converted.missing)]
    golden.check(f"manifests/{file.stem}.errors.txt", "".join(f"{each}\n" for each in told))
