import json

import pytest

from dray.api.yamltext import YamlError, parse_yaml_documents


def read(text: str) -> object:
    (document,) = parse_yaml_documents(text)
    return json.loads(document.json)


@pytest.mark.parametrize(
    ("scalar", "want"),
    [
        ("text", "text"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("", None),
        ("~", None),
        ("null", None),
        ("yes", True),
        ("Off", False),
        ("n", False),
        ("12", 12),
        ("-12", -12),
        ("0644", 0o644),
        ("0o17", 15),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("09", 9),
        ("1e3", 1000),
        ("0.5", 0.5),
        ("1.5Gi", "1.5Gi"),
        ("12:30:45", "12:30:45"),
        ("2026-01-01", "2026-01-01"),
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("!!str 12", "12"),
        ("<", "<"),
        ("snow ☃", "snow ☃"),
        (".inf", ".inf"),
    ],
)
def test_scalar_means_what_it_means_to_kubectl(scalar: str, want: object) -> None:
    assert read(f"key: {scalar}\n") == {"key": want}


def test_keys_are_text() -> None:
    assert read("1: one\ntrue: yes\n'2': two\n") == {"1": "one", "true": True, "2": "two"}


def test_documents_come_one_by_one_with_their_lines() -> None:
    documents = list(parse_yaml_documents("# first\na: 1\n---\n---\n# nothing\n---\n\nb: 2\n"))
    assert [(document.line, document.json) for document in documents] == [(2, b'{"a":1}'), (8, b'{"b":2}')]


def test_duplicate_keys_are_kept_for_the_codec() -> None:
    (document,) = parse_yaml_documents("a: 1\na: 2\n")
    assert document.json == b'{"a":1,"a":2}'


def test_anchors_and_merges_are_written_out() -> None:
    text = "one: &one {x: 1, y1: 2}\ntwo:\n  <<: *one\n  x: 3\nthree: *one\nfour: {<<: [*one, {z: 4}]}\n"
    assert read(text) == {
        "one": {"x": 1, "y1": 2},
        "two": {"y1": 2, "x": 3},
        "three": {"x": 1, "y1": 2},
        "four": {"x": 1, "y1": 2, "z": 4},
    }


def test_json_is_yaml() -> None:
    assert read('{\n\t"a": [1, true, null, "x"],\n\t"b": {}\n}') == {"a": [1, True, None, "x"], "b": {}}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: [\n", 2),
        ("a: 1\n  b: 2\n", 2),
        ("a: 1\n...b\nc: 2\n", 2),
        ("a:\n\t- b\n", 2),
        ("a: 1\nb: \x01\n", 2),
        ("a: &a [*a]\n", 1),
        ("a: *none\n", 1),
        ("? [1]\n: x\n", 1),
        ("a: 1e999\n", 1),
        ("a: &a {<<: {<<: *a}}\n", 1),
        ("[" * 100_000, 1),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(YamlError) as refusal:
        list(parse_yaml_documents(text))
    assert refusal.value.line == line


def test_aliases_that_explode_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(YamlError):
        list(parse_yaml_documents("\n".join(lines)))
