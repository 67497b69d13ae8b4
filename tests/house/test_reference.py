"""What is declared is documented."""

import re

import pytest

from dray.api.registry import SERVED, AnyKind
from dray.app.settings import SETTINGS, Setting
from dray.cli.verbtable import VERBS
from tools.generate_docs import REFERENCE, render_pages

CHANGELOG = REFERENCE.parents[1] / "CHANGELOG.md"


@pytest.mark.parametrize(("name", "text"), list(render_pages().items()), ids=lambda each: each[:20].strip())
def test_page_is_up_to_date(name: str, text: str) -> None:
    assert REFERENCE.joinpath(name).read_text(encoding="utf-8") == text, "run `make docs` and review the diff"


@pytest.mark.parametrize("kind", list(SERVED), ids=lambda kind: kind.name)
def test_kind_has_docs_and_columns(kind: AnyKind) -> None:
    assert kind.struct.__doc__
    assert "Name" in [column.name for column in kind.columns]


@pytest.mark.parametrize("setting", list(SETTINGS.values()), ids=lambda setting: setting.name)
def test_setting_has_a_unit_and_a_sentence(setting: Setting) -> None:
    assert setting.unit
    assert setting.description.endswith(".")


def test_every_verb_is_in_the_changelog() -> None:
    text = CHANGELOG.read_text(encoding="utf-8")
    named = {word for line in re.findall(r"`dray ([^`]+)`|`(\w+)`", text) for each in line for word in each.split()}
    assert sorted(set(VERBS) - named) == []
