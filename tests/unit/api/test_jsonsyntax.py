import pytest

from dray.api.jsonsyntax import explain_json_syntax


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b"", "unexpected end of JSON input"),
        (b"  ", "unexpected end of JSON input"),
        (b"{", "unexpected end of JSON input"),
        (b'{"a', "unexpected end of JSON input"),
        (b"x", "invalid character 'x' looking for beginning of value"),
        (b"'a'", "invalid character '\\'' looking for beginning of value"),
        (b"{a: 1}", "invalid character 'a' looking for beginning of object key string"),
        (b'{"a" 1}', "invalid character '1' after object key"),
        (b'{"a": 1 "b": 2}', "invalid character '\"' after object key:value pair"),
        (b"[1 2]", "invalid character '2' after array element"),
        (b"[1,]", "invalid character ']' looking for beginning of value"),
        (b"{} {}", "invalid character '{' after top-level value"),
        (b'"a\nb"', "invalid character '\\n' in string literal"),
        (b'"\\x"', "invalid character 'x' in string escape code"),
        (b'"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.x", "invalid character 'x' after decimal point in numeric literal"),
        (b"1ex", "invalid character 'x' in exponent of numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"trua", "invalid character 'a' in literal true (expecting 'e')"),
        (b"\xc3\xa9", "invalid character 'Ã' looking for beginning of value"),
    ],
)
def test_first_fault_is_named(text: bytes, want: str) -> None:
    assert explain_json_syntax(text) == want


@pytest.mark.parametrize("text", [b"{}", b"[]", b" [1, -0.5e+10, true, null] ", b'{"a": {"b": "\\u00e9\\n"}}', b"0"])
def test_json_has_no_fault(text: bytes) -> None:
    assert explain_json_syntax(text) is None


def test_depth_is_bounded() -> None:
    assert explain_json_syntax(b"[" * 100_000) == "exceeded max depth"
