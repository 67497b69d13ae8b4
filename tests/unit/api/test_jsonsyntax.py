import pytest

from dray.api.jsonsyntax import explain_json_syntax, mend_json_text


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
        (b'"a\nb"', "invalid character '\\n' in string"),
        (b'"\\x"', "invalid escape sequence `\\x` in string"),
        (b'"\\u12g4"', "invalid escape sequence `\\u12g4` in string"),
        (b"-x", "invalid character 'x' in numeric literal"),
        (b"1.x", "invalid character 'x' in numeric literal"),
        (b"1ex", "invalid character 'x' in numeric literal"),
        (b"01", "invalid character '1' after top-level value"),
        (b"trua", "invalid character 'a' in literal true (expecting 'e')"),
        (b"\xc3\xa9", "invalid character 'é' looking for beginning of value"),
        (b"\xc3", "invalid character '\\xc3' looking for beginning of value"),
        (b"\xef\xbb\xbf{}", "invalid character '\\ufeff' looking for beginning of value"),
        (b'"\\\xc3\xa9"', 'invalid escape sequence "\\\\\\xc3" in string'),
        (b'"\\u123', "unexpected end of JSON input"),
    ],
)
def test_first_fault_is_named(text: bytes, want: str) -> None:
    assert explain_json_syntax(text) == want


@pytest.mark.parametrize("text", [b"{}", b"[]", b" [1, -0.5e+10, true, null] ", b'{"a": {"b": "\\u00e9\\n"}}', b"0"])
def test_json_has_no_fault(text: bytes) -> None:
    assert explain_json_syntax(text) is None


def test_depth_is_bounded() -> None:
    assert explain_json_syntax(b"[" * 100_000) == "exceeded max depth"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        (b'{"a": "\\ud800\\udc00"}', b'{"a": "\\ud800\\udc00"}'),
        (b'{"a": "\\ud800x\\udc00"}', b'{"a": "\\ufffdx\\ufffd"}'),
        (b'{"a": "\\ud800\\u0041"}', b'{"a": "\\ufffd\\u0041"}'),
        (b'{"a": "\\\\ud800"}', b'{"a": "\\\\ud800"}'),
        (b'{"a": "\xff"}', b'{"a": "\xef\xbf\xbd"}'),
        (b'{"a": "\xff}', b'{"a": "\xff}'),
        (b"\xff", b"\xff"),
    ],
)
def test_what_is_no_text_becomes_the_replacement_character(text: bytes, want: bytes) -> None:
    assert mend_json_text(text) == want
