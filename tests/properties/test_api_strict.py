"""The quick tests of strict decoding find a fault exactly where the slow walk finds one."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dray.api.jsonsyntax import explain_json_syntax
from dray.api.mending import ValueFault, mend
from dray.api.resource.claim import ResourceClaim
from dray.api.shapes import get_shape
from dray.api.strict import StrictReader, _Walk

SHAPE = get_shape(ResourceClaim)
READER = StrictReader(ResourceClaim)

text_values = st.text(alphabet='a":,{}[]\\é\n\u2028', max_size=6)
keys = st.sampled_from(["a", "b", 'q":', "\\", "é"])
maps = st.lists(st.tuples(keys, text_values), max_size=4)
field_names = st.sampled_from(["metadata", "spec", "kind", "Kind", "bogus"])


def quote(text: str, *, ascii_only: bool, by_number: bool) -> str:
    """A JSON string, with quotes in it escaped in one of two ways."""
    letters = (json.dumps(letter, ensure_ascii=ascii_only)[1:-1] for letter in text)
    return '"' + "".join("\\u0022" if by_number and letter == '\\"' else letter for letter in letters) + '"'


@st.composite
def documents(draw: st.DrawFn) -> str:
    ascii_only, by_number = draw(st.booleans()), draw(st.booleans())

    def as_json(pairs: list[tuple[str, str]]) -> str:
        members = (f"{quote(key, ascii_only=ascii_only, by_number=by_number)}: {value}" for key, value in pairs)
        return "{" + ", ".join(members) + "}"

    labels = [(key, quote(value, ascii_only=ascii_only, by_number=by_number)) for key, value in draw(maps)]
    meta = [("labels", as_json(labels))] * draw(st.integers(0, 2)) + [(draw(st.sampled_from(["name", "nmae"])), '"x"')]
    members = [(name, '"x"' if name.lower() == "kind" else "{}") for name in draw(st.lists(field_names, max_size=3))]
    return as_json([("metadata", as_json(meta)), *members])


@given(documents())
def test_quick_tests_agree_with_the_walk(document: str) -> None:
    text = document.encode()
    assert READER.find_faults(text) == _Walk().find(SHAPE, text)


def is_json(text: bytes) -> bool:
    def refuse(word: str) -> None:
        raise ValueError(word)

    try:
        json.loads(text, parse_constant=refuse)
    except ValueError:
        return False
    return True


@given(documents(), st.integers(0, 200), st.sampled_from([b"", b"x", b'"', b"}", b",", b"\\", b"1", b"\x01"]))
def test_a_text_is_explained_exactly_if_it_is_not_json(document: str, place: int, noise: bytes) -> None:
    text = document.encode()
    place = min(place, len(text))
    broken = text[:place] + noise + text[place + 1 :]
    try:
        broken.decode()
    except UnicodeDecodeError:
        return
    assert (explain_json_syntax(broken) is None) is is_json(broken)


values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["metadata", "name", "labels", "spec", "devices", "requests", "count"]), inner
        )
    ),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["metadata", "spec", "status", "kind"]), values))
def test_what_was_mended_stays_as_it_is(document: dict[str, Any]) -> None:
    try:
        mended = mend(SHAPE, json.dumps(document).encode())
    except ValueFault:
        return
    assert mend(SHAPE, mended) == mended
