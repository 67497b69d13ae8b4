import json

from dray.cli.printing import render_columns, render_error, render_json


def test_error_is_one_line_and_its_hint_another() -> None:
    assert render_error("no such file: x.yaml") == "error: no such file: x.yaml\n"
    assert render_error("no such verb", hint="dray check") == "error: no such verb\n  try: dray check\n"


def test_columns_line_up_without_trailing_spaces() -> None:
    text = render_columns(("name", "value"), [("log.level", "info"), ("x", 1)])
    assert text == "NAME        VALUE\nlog.level   info\nx           1\n"


def test_json_ends_in_a_newline() -> None:
    text = render_json({"a": [1]})
    assert json.loads(text) == {"a": [1]}
    assert text.endswith("}\n")
