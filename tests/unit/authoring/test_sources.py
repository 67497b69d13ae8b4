import pytest

from dray.authoring.sources import split_source

ONE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: one}\n"
TWO = "apiVersion: v1\nkind: Namespace\nmetadata: {name: two}\n"


@pytest.mark.parametrize(
    "separator", ["\u2013--", "\u2014", "--", "----", "___", "===", " ---", "\u2212\u2212\u2212 # two"]
)
def test_separator_that_is_none_parts_documents_all_the_same(separator: str) -> None:
    first, second = split_source(f"{ONE}{separator}\n{TWO}")
    assert (first.slips, first.text.strip()) == ([], ONE.strip())
    assert [(slip.rule, slip.line) for slip in second.slips] == [("yaml-separator", 4)]
    assert (second.first_line, second.text.strip()) == (4, TWO.strip())


@pytest.mark.parametrize("separator", ["---", "--- ", "--- # two", "...\n---", "..."])
def test_separator_of_yaml_is_no_slip(separator: str) -> None:
    chunks = split_source(f"{ONE}{separator}\n{TWO}")
    assert [slip for chunk in chunks for slip in chunk.slips] == []
    assert len([chunk for chunk in chunks if "apiVersion" in chunk.text]) == 2


def test_object_without_a_separator_is_parted() -> None:
    _, second = split_source(ONE + TWO)
    assert [(slip.rule, slip.line) for slip in second.slips] == [("yaml-separator", 4)]


def test_field_that_is_there_twice_is_no_second_object() -> None:
    (only,) = split_source("kind: Namespace\n" + ONE)
    assert only.slips == []


@pytest.mark.parametrize(
    ("line", "rule", "mended"),
    [
        ("\tname: x", "yaml-space", "  name: x"),
        ("a:\u00a0b", "yaml-space", "a: b"),
        ("  \u2013 name: x", "yaml-dash", "  - name: x"),
        ("a: \u201cb\u201d", "yaml-quotes", 'a: "b"'),
        ("pool: {...}", "ellipsis", "pool: {}"),
        ("list: [a, ...]", "ellipsis", "list: [a]"),
        ("  ...", "ellipsis", "  # ..."),
        ("  - \u2026", "ellipsis", "  # ..."),
    ],
)
def test_line_is_read_as_it_was_meant(line: str, rule: str, mended: str) -> None:
    (chunk,) = split_source(f"kind: X\n{line}\n")
    assert [(slip.rule, slip.line) for slip in chunk.slips] == [(rule, 2)]
    assert chunk.lines[1] == mended
    assert chunk.original[1] == line


def test_block_of_text_is_left_alone() -> None:
    text = "data:\n  a: |\n    ---\n    ...\n    \u2013 x\n    \u201cy\u201d\n  b: c\n"
    (chunk,) = split_source(text)
    assert (chunk.slips, chunk.text) == ([], text + "\n")


def test_items_of_a_list_at_the_margin_are_no_separators() -> None:
    (chunk,) = split_source("items:\n-\n  kind: X\n")
    assert chunk.slips == []


def test_lines_may_end_as_on_windows_and_begin_with_a_mark() -> None:
    (chunk,) = split_source("\ufeff" + ONE.replace("\n", "\r\n"))
    assert (chunk.slips, chunk.text.strip()) == ([], ONE.strip())
