"""Versions against a slow model that compares them rule by rule, as semver.org spells them out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dray.values.semver import SemverError, attribute_version_faults, format_semver, parse_semver
from tests.properties.strategies.values import semver_texts


def model_identifiers(left: str, right: str) -> int:
    if left.isdigit() and right.isdigit():
        return (int(left) > int(right)) - (int(left) < int(right))
    if left.isdigit() or right.isdigit():
        return -1 if left.isdigit() else 1
    return (left.encode() > right.encode()) - (left.encode() < right.encode())


def model_compare(left: str, right: str) -> int:
    (left_release, _, left_pre), (right_release, _, right_pre) = (
        text.split("+", 1)[0].partition("-") for text in (left, right)
    )
    for one, other in zip(left_release.split("."), right_release.split("."), strict=True):
        if int(one) != int(other):
            return 1 if int(one) > int(other) else -1
    if not left_pre or not right_pre:
        return (not left_pre) - (not right_pre)
    left_parts, right_parts = left_pre.split("."), right_pre.split(".")
    for one, other in zip(left_parts, right_parts, strict=False):
        if verdict := model_identifiers(one, other):
            return verdict
    return (len(left_parts) > len(right_parts)) - (len(left_parts) < len(right_parts))


@given(semver_texts())
def test_printing_undoes_parsing(text: str) -> None:
    assert format_semver(parse_semver(text)) == text
    assert attribute_version_faults(text) == ()


@given(semver_texts())
def test_normalising_changes_no_version_that_is_one(text: str) -> None:
    assert str(parse_semver(text, normalise=True)) == text
    assert str(parse_semver(f"v{text}", normalise=True)) == text


@given(semver_texts(), semver_texts())
def test_order_agrees_with_the_model(left: str, right: str) -> None:
    one, other, verdict = parse_semver(left), parse_semver(right), model_compare(left, right)
    assert (one < other, one == other, one > other) == (verdict < 0, verdict == 0, verdict > 0)
    assert (one <= other, one >= other) == (verdict <= 0, verdict >= 0)
    assert verdict or hash(one) == hash(other)


@given(semver_texts(), semver_texts(), semver_texts())
def test_order_is_transitive(a: str, b: str, c: str) -> None:
    low, middle, high = sorted(map(parse_semver, (a, b, c)))
    assert low <= middle <= high
    assert low <= high


@given(st.text("0123v.+-aZ_ ", max_size=12), st.booleans())
def test_any_text_is_parsed_or_refused(text: str, normalise: bool) -> None:
    try:
        version = parse_semver(text, normalise=normalise)
    except SemverError:
        return
    assert parse_semver(str(version)) == version
    assert attribute_version_faults(str(version)) == ()
