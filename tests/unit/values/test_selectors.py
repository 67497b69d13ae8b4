import pytest

from dray.values.selectors import (
    EVERYTHING,
    LabelSelector,
    Operator,
    Requirement,
    SelectorError,
    format_label_selector,
    parse_label_selector,
    requirement_of,
    selector_of,
)

LABELS = {"app": "web", "cores": "8", "empty": "", "word": "x", "huge": "9223372036854775808"}


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", ""),
        ("  ", ""),
        ("a", "a"),
        ("!a", "!a"),
        ("! a", "!a"),
        ("a=b", "a=b"),
        ("a==b", "a==b"),
        ("a!=b", "a!=b"),
        ("a=", "a="),
        ("a=,b", "a=,b"),
        ("a>1", "a>1"),
        ("a<1", "a<1"),
        (" b = c , a ", "a,b=c"),
        ("a in (c,b,c)", "a in (b,c)"),
        ("a notin(b)", "a notin (b)"),
        ("a in ()", "a in ()"),
        ("a in (,)", "a in ()"),
        ("a in (b,)", "a in (,b)"),
        ("a in (,b)", "a in (,b)"),
        ("a in (b,,c)", "a in (,b,c)"),
        ("in in (in,notin)", "in in (in,notin)"),
        ("notin", "notin"),
        ("example.com/a=b", "example.com/a=b"),
        ("b=1,a=2,b=3", "a=2,b=1,b=3"),
    ],
)
def test_a_label_selector_prints_sorted_by_key(text: str, want: str) -> None:
    assert format_label_selector(parse_label_selector(text)) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("app", True),
        ("other", False),
        ("!other", True),
        ("!app", False),
        ("app=web", True),
        ("app==db", False),
        ("app!=db", True),
        ("app!=web", False),
        ("other!=web", True),
        ("app in (web,db)", True),
        ("other in (web)", False),
        ("app notin (web)", False),
        ("other notin (web)", True),
        ("empty=", True),
        ("empty in ()", True),
        ("app=", False),
        ("cores>7", True),
        ("cores>8", False),
        ("cores<9", True),
        ("other>1", False),
        ("word>1", False),
        ("huge>1", False),
        ("app=web,cores>7", True),
        ("app=web,cores>8", False),
        ("", True),
    ],
)
def test_a_label_selector_matches_when_every_requirement_holds(text: str, want: bool) -> None:
    assert parse_label_selector(text).matches(LABELS) is want


VALUE_RULE = "a valid label must be an empty string or consist of"


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("(a)", "found '(', expected: !, identifier, or 'end of string'"),
        ("! =a", "unable to parse requirement: found '=', expected: identifier"),
        ("a===b", "unable to parse requirement: found '=', expected: identifier"),
        ("!", "unable to parse requirement: found '', expected: identifier"),
        ("a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in", "unable to parse requirement: found '' expected: '('"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a in (=", "unable to parse requirement: found '=', expected: ',', ')' or identifier"),
        ("a in (b", "unable to parse requirement: found '', expected: ',' or ')'"),
        ("a in (b c)", "unable to parse requirement: found 'c', expected: ',' or ')'"),
        ("a in (b,", "unable to parse requirement: found '', expected: ',', or identifier"),
        ("a,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("a=b c", "found 'c', expected: ',' or 'end of string'"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        (
            "a>x",
            "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, "
            "the value must be an integer",
        ),
    ],
)
def test_a_label_selector_is_refused_as_the_api_server_does(text: str, want: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        parse_label_selector(text)
    assert str(refusal.value) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("-a", 'unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of'),
        ("a/b/c=d", 'unable to parse requirement: <nil>: Invalid value: "a/b/c": a valid label key must consist of'),
        ("a=-b", f'unable to parse requirement: values[0][a]: Invalid value: "-b": {VALUE_RULE}'),
        ("a in (b,-c)", f'unable to parse requirement: values[0][a]: Invalid value: "-c": {VALUE_RULE}'),
        ("a>-2", f'unable to parse requirement: values[0][a]: Invalid value: "-2": {VALUE_RULE}'),
        ("a>_", "unable to parse requirement: [values[0]: Invalid value: \"_\": for 'Gt'"),
    ],
)
def test_keys_and_values_of_a_selector_follow_the_rules_for_labels(text: str, want: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        parse_label_selector(text)
    assert str(refusal.value).startswith(want)


@pytest.mark.parametrize(
    ("key", "operator", "values", "want"),
    [
        ("app", "In", ["web"], True),
        ("app", "In", ["db"], False),
        ("app", "NotIn", ["db"], True),
        ("other", "NotIn", ["db"], True),
        ("app", "Exists", [], True),
        ("app", "DoesNotExist", [], False),
        ("cores", "Gt", ["7"], True),
        ("cores", "Lt", ["7"], False),
        ("other", "Lt", ["7"], False),
    ],
)
def test_requirements_of_objects_match(key: str, operator: str, values: list[str], want: bool) -> None:
    assert requirement_of(key, operator, values).matches(LABELS) is want


@pytest.mark.parametrize(
    ("operator", "values", "want"),
    [
        ("Like", [], '"Like" is not a valid label selector operator'),
        ("In", [], "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"),
        ("Exists", ["a"], 'values: Invalid value: ["a"]: values set must be empty for exists and does not exist'),
        (
            "Gt",
            ["1", "2"],
            "values: Invalid value: [\"1\",\"2\"]: for 'Gt', 'Lt' operators, exactly one value is required",
        ),
    ],
)
def test_wrong_requirements_of_objects_are_refused(operator: str, values: list[str], want: str) -> None:
    with pytest.raises(SelectorError) as refusal:
        requirement_of("a", operator, values)
    assert str(refusal.value) == want


def test_the_selector_of_an_object_asks_for_its_labels_and_requirements() -> None:
    selector = selector_of({"b": "1", "a": "2"}, [requirement_of("aa", "Exists")])
    assert str(selector) == "a=2,aa,b=1"
    assert selector.matches({"a": "2", "aa": "", "b": "1"})
    assert not selector.matches({"a": "2", "b": "1"})


def test_the_empty_selector_matches_everything() -> None:
    assert parse_label_selector("") == EVERYTHING == selector_of({})
    assert EVERYTHING.is_empty
    assert not parse_label_selector("a").is_empty
    assert EVERYTHING.matches({})


def test_selectors_are_values() -> None:
    assert parse_label_selector("b,a") == parse_label_selector("a,b")
    assert LabelSelector((Requirement("a", Operator.EXISTS),)) in {parse_label_selector("a")}
