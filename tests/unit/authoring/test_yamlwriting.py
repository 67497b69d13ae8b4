"""What is not touched is written as it was; what is touched says what the tree says."""

import pytest
import yaml

from dray.authoring.planting import parse_tree
from dray.authoring.tree import Json, Tree, plant
from dray.authoring.yamlwriting import write_inline, write_yaml

TEXT = """\
# above all
kind:   Thing   # a kind
spec:     # of it

  # the first
  list:
    - name: 'a'  # by name
      text: |
        # no comment
          deep

      flow: {x: "1",   y: [a, b]}
    # the second
    -   name: "b"
        octal: 0644
  # behind the list
  "quoted": yes
# outdented
tail: >-
  folded
  text
# the end
"""


def read(text: str) -> tuple[Tree, tuple[str, ...]]:
    planting = parse_tree(text)
    assert planting is not None
    return planting.tree, planting.tail


def test_untouched_document_is_written_word_by_word() -> None:
    tree, tail = read(TEXT)
    assert write_yaml(tree, tail) == TEXT


def test_one_value_changes_one_line() -> None:
    tree, tail = read(TEXT)
    tree.fields["kind"].value = "Other"
    tree.fields["kind"].comments.append("was Thing")
    assert write_yaml(tree, tail) == TEXT.replace("kind:   Thing", "# was Thing\nkind:   Other")


def test_entry_under_another_name_keeps_its_value() -> None:
    tree, tail = read(TEXT)
    tree.fields["spec"].rename("quoted", "plain")
    assert write_yaml(tree, tail) == TEXT.replace('"quoted": yes', "plain: yes")


def test_part_that_moves_is_indented_anew() -> None:
    tree, tail = read(TEXT)
    item = tree.fields["spec"].items_at("list")[1]
    item.value = {"inner": Tree(item.value)}
    written = write_yaml(tree, tail)
    assert '    -   inner:\n          name: "b"\n          octal: 0644\n' in written
    assert yaml.safe_load(written)["spec"]["list"][1] == {"inner": {"name": "b", "octal": 0o644}}


def test_part_that_goes_takes_nothing_with_it() -> None:
    tree, tail = read(TEXT)
    del tree.fields["spec"].fields["list"]
    written = write_yaml(tree, tail)
    assert yaml.safe_load(written) == {"kind": "Thing", "spec": {"quoted": True}, "tail": "folded text"}
    assert "# behind the list" in written


@pytest.mark.parametrize(
    "text",
    [
        "a: &x {b: 1}\nc: *x\n",
        "a: &x\n  b: 1\nc:\n  <<: *x\n  d: 2\n",
        "a: 1\na: 2\nb: 3\n",
        "? a\n: b\n",
        "- - 1\n  - 2\n-\n  x: 1\n",
        "a: !!str 3\n",
        '{"a": [1, 2, {"b": null}]}\n',
        "a: |+\n  x\n\n\nb: 1\n",
        "a: |2\n    x\n   y\nb: 1\n",
        'a: "x\\\n  y"\n',
        "a: plain\n  goes on\nb: 1\n",
        "a:\n\n\n  - 1\n",
        "a: \u2028\nb: 2\n",
    ],
)
def test_odd_yaml_says_the_same_after_a_change(text: str) -> None:
    tree, tail = read(text)
    want = tree.plain()
    assert parse_plain(write_yaml(tree, tail)) == want
    if isinstance(want, dict):
        added: Json = {"list": [1, {"x": "y: z"}]}
        tree.put("added", added)
        assert parse_plain(write_yaml(tree, tail)) == want | {"added": added}


def parse_plain(text: str) -> object:
    return read(text)[0].plain()


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "yes",
        "0644",
        "1e3",
        "~",
        "a: b",
        "# c",
        "'",
        '"',
        "- a",
        " a ",
        "\t",
        "\u2028",
        "{a",
        "*x",
        "---",
        "a\nb",
        "\n",
    ],
)
def test_text_stays_text(value: str) -> None:
    assert parse_plain(write_yaml(plant({"a": value, "b": [value]}))) == {"a": value, "b": [value]}
    assert parse_plain(write_inline({"a": [value]})) == {"a": [value]}
