import pytest

from dray.values.quoting import quote


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", '""'),
        ("abc", '"abc"'),
        ('a"b\\', r'"a\"b\\"'),
        ("a\nb\t", r'"a\nb\t"'),
        ("\x00\x7f", r'"\x00\x7f"'),
        ("ünï \N{ROCKET}", '"ünï \N{ROCKET}"'),
        ("\u200b", r'"\u200b"'),
        ("\U000e0001", r'"\U000e0001"'),
    ],
)
def test_text_is_quoted_as_go_quotes_it(text: str, want: str) -> None:
    assert quote(text) == want
