"""Every rule of `dray lint` is explained, in the order of the code, with an example that breaks it."""

import re
from pathlib import Path

import pytest

from dray.authoring.findings import RULES, Rule
from tests.cases.authoring.desk import lint_texts

PAGE = Path(__file__).parents[2] / "docs" / "lint-rules.md"
SECTION = re.compile(r"^### `([\w-]+)` (\w+)\n\n(.+?)\n\n```yaml\n(.*?)```$", re.MULTILINE | re.DOTALL)
SECTIONS = {name: (severity, example) for name, severity, _, example in SECTION.findall(PAGE.read_text("utf-8"))}


def test_every_rule_has_a_section_and_nothing_else_has() -> None:
    assert [f"{name} {severity}" for name, (severity, _) in SECTIONS.items()] == [
        f"{rule.name} {rule.severity}" for rule in RULES
    ]
    assert PAGE.read_text("utf-8").count("\n### ") == len(RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_example_breaks_the_rule(rule: Rule) -> None:
    findings = lint_texts({"example.yaml": SECTIONS[rule.name][1]})
    assert rule.name in {each.rule for each in findings}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_rule_says_what_it_is_about(rule: Rule) -> None:
    assert rule.title
    assert not rule.title.endswith(".")
    assert rule.help.endswith(".")
