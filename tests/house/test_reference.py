"""What is declared is documented."""

import pytest

from dray.api.registry import SERVED, AnyKind
from dray.app.settings import SETTINGS, Setting
from tools.generate_docs import REFERENCE, render_pages


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
