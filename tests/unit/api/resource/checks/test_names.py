import pytest

from dray.api.resource.checks.names import (
    check_driver_name,
    check_label,
    check_node_name,
    check_qualified_name,
    shorten_key,
)
from dray.values.fieldpath import SPEC


@pytest.mark.parametrize(
    "text", ["model", "_", "example.com/model", "Example.COM/m", "a/b/c", "//", f"{'a' * 63}/{'b' * 32}"]
)
def test_qualified_name_is_sound(text: str) -> None:
    assert check_qualified_name(text, SPEC) == []


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", ["FieldValueInvalid"]),
        ("-", ["FieldValueInvalid"]),
        ("/", ["FieldValueInvalid", "FieldValueInvalid"]),
        ("a" * 33, ["FieldValueTooLong"]),
        ("." * 33, ["FieldValueTooLong", "FieldValueInvalid"]),
        (f"{'a' * 64}/b", ["FieldValueTooLong"]),
        ("a_b/c", ["FieldValueInvalid"]),
    ],
)
def test_qualified_name_has_faults(text: str, want: list[str]) -> None:
    assert [fault.reason.value for fault in check_qualified_name(text, SPEC)] == want


def test_driver_name_shows_what_was_written_not_its_lower_case() -> None:
    assert [fault.value for fault in check_driver_name("A B", SPEC)] == ['"A B"']


@pytest.mark.parametrize("length", [1, 96])
def test_short_key_is_shown_whole(length: int) -> None:
    assert shorten_key("a" * length) == "a" * length


def test_long_key_loses_its_middle() -> None:
    shown = shorten_key("a" * 60 + "b" * 60)
    assert (len(shown), shown[:47], shown[-46:]) == (96, "a" * 47, "b" * 46)


@pytest.mark.parametrize(
    ("text", "want_hint"),
    [
        ("My GPU", "did you mean my-gpu?"),
        ("a.b", "did you mean a-b?"),
        ("-a_", "did you mean a?"),
        ("", None),
        ("!", None),
    ],
)
def test_bad_label_gets_the_name_it_may_have_been_meant_for(text: str, want_hint: str | None) -> None:
    assert {fault.hint for fault in check_label(text, SPEC)} == {want_hint}


def test_bad_node_name_keeps_its_dots_in_the_hint() -> None:
    assert {fault.hint for fault in check_node_name("Node_1.Example.com", SPEC)} == {"did you mean node-1.example.com?"}
