from typing import Any

import pytest

from dray.merge.gotext import encode_json, format_plain, format_source, format_type


@pytest.mark.parametrize(
    ("value", "plain", "source", "type_name"),
    [
        ("x", "x", '"x"', "string"),
        (80, "80", "80", "int64"),
        (True, "true", "true", "bool"),
        (None, "<nil>", "interface {}(nil)", "<nil>"),
        ([1, "a"], "[1 a]", '[]interface {}{1, "a"}', "[]interface {}"),
        (
            {"b": [], "a": {"c": None}},
            "map[a:map[c:<nil>] b:[]]",
            'map[string]interface {}{"a":map[string]interface {}{"c":interface {}(nil)}, "b":[]interface {}{}}',
            "map[string]interface {}",
        ),
    ],
)
def test_values_print_as_in_go(value: Any, plain: str, source: str, type_name: str) -> None:
    assert (format_plain(value), format_source(value), format_type(value)) == (plain, source, type_name)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-0.0, "-0"),
        (1.5, "1.5"),
        (-2.0, "-2"),
        (100000.0, "100000"),
        (1000000.0, "1e+06"),
        (1234567.5, "1.2345675e+06"),
        (0.0001, "0.0001"),
        (0.00001, "1e-05"),
        (1e100, "1e+100"),
        (-1.25e-7, "-1.25e-07"),
    ],
)
def test_floats_print_as_in_go(value: float, text: str) -> None:
    assert format_plain(value) == text


def test_json_is_compact_and_safe_for_browsers() -> None:
    assert encode_json({"b": "<&>", "a": [1, None]}) == '{"b":"\\u003c\\u0026\\u003e","a":[1,null]}'
