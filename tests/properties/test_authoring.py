"""Whatever people write, it is judged and converted: nothing crashes, nothing is lost, and once is enough."""

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dray.authoring.planting import parse_tree
from dray.authoring.tree import plant
from dray.authoring.yamlwriting import write_yaml
from tests.cases.authoring.desk import convert_texts, lint_texts

ROOT = Path(__file__).parents[2]
TEXTS = [
    file.read_text(encoding="utf-8")
    for folder in ("examples/seeds", "tests/golden/manifests")
    for file in sorted(ROOT.joinpath(folder).glob("*.yaml"))
]
VALUES = st.sampled_from(
    ["null", "[]", "{}", "5", "true", "[1, 2]", "{a: b}", "...", "|", "", "- a", "*x", "&x y", "1e400"]
)
STRAYS = st.sampled_from(
    ["  # stray", "---", "...", "\u2013--", "apiVersion: v1", "kind: List", "items:", "metadata: 3", "spec: []", "\ta"]
)


@st.composite
def garbled(draw: st.DrawFn) -> str:
    """A manifest to which a few things have happened."""
    lines = draw(st.sampled_from(TEXTS)).split("\n")
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        match draw(st.integers(0, 6)):
            case 0:
                lines[at : at + 1] = []
            case 1:
                lines.insert(at, lines[draw(st.integers(0, len(lines) - 1))])
            case 2:
                lines[at] = " " * draw(st.integers(1, 4)) + lines[at]
            case 3:
                lines[at] = lines[at][draw(st.integers(0, 3)) :]
            case 4:
                lines[at] = f"{lines[at].partition(':')[0]}: {draw(VALUES)}"
            case 5:
                lines[at] = draw(STRAYS)
            case _:
                lines[at] += draw(st.sampled_from([" # said", "\u2026", ",", ":", '"', "\u2028"]))
        lines = lines or [""]
    return "\n".join(lines)


def plain_documents(text: str) -> list[object]:
    found = [parse_tree(part) for part in f"\n{text}".split("\n---\n")]
    return [each.tree.plain() for each in found if each is not None]


@given(garbled())
def test_garbled_manifests_are_judged(text: str) -> None:
    for finding in lint_texts({"x": text}):
        assert finding.line >= 0
        assert finding.message


@given(garbled())
def test_converting_twice_is_converting_once(text: str) -> None:
    once = convert_texts({"x": text})
    twice = convert_texts({"x": once.text})
    assert plain_documents(twice.text) == plain_documents(once.text)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(exclude_categories=("Cs", "Cc"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc/.-: #", min_size=1), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abc/.-: #", min_size=1), JSON, min_size=1, max_size=4))
def test_anything_that_is_written_can_be_read(value: dict[str, object]) -> None:
    planting = parse_tree(write_yaml(plant(value)))  # type: ignore[arg-type]  # hypothesis draws no more than JSON
    assert planting is not None
    assert planting.tree.plain() == value
