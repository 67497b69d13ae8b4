from dray.cel.errors import OPTIONAL_CHAINING_HINT, with_chaining_hint


def test_a_missing_key_gets_advice_once() -> None:
    once = with_chaining_hint("no such key: x")
    assert once == "no such key: x" + OPTIONAL_CHAINING_HINT
    assert with_chaining_hint(once) == once


def test_other_messages_get_none() -> None:
    assert with_chaining_hint("division by zero") == "division by zero"
