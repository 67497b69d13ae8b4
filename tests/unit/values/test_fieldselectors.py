import pytest

from dray.values.fieldselectors import EVERY_FIELD, format_field_selector, parse_field_selector
from dray.values.selectors import SelectorError

FIELDS = {"metadata.name": "a", "status.phase": "Running", "text": "x,y=z\\"}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", ""),
        (",", ""),
        ("a=b", "a=b"),
        ("a==b", "a=b"),
        ("a!=b", "a!=b"),
        ("a=", "a="),
        ("b=1,,a=2,", "a=2,b=1"),
        (r"a=x\,y\=z\\", r"a=x\,y\=z\\"),
        ("a=b c", "a=b c"),
        ("a=!b", "a=!b"),
        ("=b", "=b"),
    ],
)
def test_a_field_selector_prints_sorted(text: str, want: str) -> None:
    assert format_field_selector(parse_field_selector(text)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", True),
        ("metadata.name=a", True),
        ("metadata.name=b", False),
        ("metadata.name!=b", True),
        ("metadata.name!=a", False),
        ("absent=", True),
        ("absent!=a", True),
        ("absent!=", False),
        (r"text=x\,y\=z\\", True),
        ("metadata.name=a,status.phase!=Running", False),
    ],
)
def test_a_field_selector_matches_when_every_requirement_holds(text: str, want: bool) -> None:
    selector = parse_field_selector(text)
    assert selector.matches(FIELDS) is want
    assert selector.matches_by(lambda field: FIELDS.get(field, "")) is want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("metadata.name", "invalid selector: 'metadata.name'; can't understand 'metadata.name'"),
        ("a>1", "invalid selector: 'a>1'; can't understand 'a>1'"),
        ("a=1,b in (c)", "invalid selector: 'a=1,b in (c)'; can't understand 'b in (c)'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=b\c", r"invalid field selector: invalid escape sequence: \c"),
        ("a=b\\", "invalid field selector: invalid escape sequence: \\"),
    ],
)
def test_a_field_selector_is_refused_as_the_api_server_does(text: str, want: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        parse_field_selector(text)
    assert str(refusal.value) == want


def test_a_field_selector_tells_the_value_it_pins() -> None:
    selector = parse_field_selector("spec.nodeName=n,status.phase!=Failed")
    assert selector.find_exact_value("spec.nodeName") == "n"
    assert selector.find_exact_value("status.phase") is None
    assert selector.find_exact_value("metadata.name") is None


def test_the_empty_selector_matches_everything() -> None:
    assert parse_field_selector("") == EVERY_FIELD
    assert EVERY_FIELD.is_empty
    assert EVERY_FIELD.matches({})
