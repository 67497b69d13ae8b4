"""Selectors: printing and parsing undo each other, and matching agrees with the sentence each operator stands for."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from dray.values.fieldselectors import FieldRequirement, FieldSelector, parse_field_selector
from dray.values.names import label_key_faults, label_value_faults
from dray.values.selectors import LabelSelector, Operator, Requirement, SelectorError, parse_label_selector
from tests.properties.strategies.values import label_keys, label_values, labels

_EQUALITIES = st.sampled_from([Operator.EQUALS, Operator.DOUBLE_EQUALS, Operator.NOT_EQUALS])
_SETS = st.sampled_from([Operator.IN, Operator.NOT_IN])
_COMPARISONS = st.sampled_from([Operator.GREATER_THAN, Operator.LESS_THAN])
_EXISTENCES = st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])
requirements = st.one_of(
    st.builds(Requirement, label_keys, _EQUALITIES, label_values.map(lambda value: (value,))),
    st.builds(Requirement, label_keys, _SETS, st.sets(label_values, min_size=1, max_size=3).map(sorted).map(tuple)),
    st.builds(Requirement, label_keys, _COMPARISONS, st.integers(0, 2**63 - 1).map(lambda number: (str(number),))),
    st.builds(Requirement, label_keys, _EXISTENCES, st.just(())),
)
label_selectors = st.lists(requirements, max_size=4).map(
    lambda several: LabelSelector(tuple(sorted(several, key=lambda requirement: requirement.key)))
)
_FIELD_NAMES = st.sampled_from(["metadata.name", "spec.nodeName", "a"])
field_selectors = st.lists(
    st.builds(FieldRequirement, _FIELD_NAMES, st.text("ab,=\\! ", max_size=5), st.booleans()), max_size=4
).map(lambda several: FieldSelector(tuple(sorted(several, key=str))))


def model_matches(requirement: Requirement, values_by_key: Mapping[str, str]) -> bool:
    key, operator, values = requirement
    present = key in values_by_key
    sentences = {
        Operator.EXISTS: lambda: present,
        Operator.DOES_NOT_EXIST: lambda: not present,
        Operator.EQUALS: lambda: present and values_by_key[key] == values[0],
        Operator.DOUBLE_EQUALS: lambda: present and values_by_key[key] == values[0],
        Operator.NOT_EQUALS: lambda: not present or values_by_key[key] != values[0],
        Operator.IN: lambda: present and values_by_key[key] in values,
        Operator.NOT_IN: lambda: not present or values_by_key[key] not in values,
        Operator.GREATER_THAN: lambda: is_int64(values_by_key.get(key)) and int(values_by_key[key]) > int(values[0]),
        Operator.LESS_THAN: lambda: is_int64(values_by_key.get(key)) and int(values_by_key[key]) < int(values[0]),
    }
    return sentences[operator]()


def is_int64(text: str | None) -> bool:
    return text is not None and text.isdigit() and int(text) < 2**63


@given(label_selectors)
def test_parsing_undoes_printing_of_label_selectors(selector: LabelSelector) -> None:
    assert parse_label_selector(str(selector)) == selector


@given(label_selectors, labels)
def test_matching_agrees_with_the_model(selector: LabelSelector, values_by_key: dict[str, str]) -> None:
    want = all(model_matches(requirement, values_by_key) for requirement in selector.requirements)
    assert selector.matches(values_by_key) is want


@given(st.text("ab1-/.=!<>(), in", max_size=12))
def test_any_text_is_a_label_selector_or_refused(text: str) -> None:
    try:
        selector = parse_label_selector(text)
    except SelectorError:
        return
    assert parse_label_selector(str(selector)) == selector


@given(label_keys, label_values)
def test_generated_keys_and_values_follow_the_rules(label_key: str, value: str) -> None:
    assert label_key_faults(label_key) == ()
    assert label_value_faults(value) == ()


@given(field_selectors)
def test_parsing_undoes_printing_of_field_selectors(selector: FieldSelector) -> None:
    assert parse_field_selector(str(selector)) == selector


@given(st.text("ab=!,\\ ", max_size=12))
def test_any_text_is_a_field_selector_or_refused(text: str) -> None:
    try:
        selector = parse_field_selector(text)
    except SelectorError:
        return
    assert parse_field_selector(str(selector)) == selector


@given(field_selectors, st.dictionaries(_FIELD_NAMES, st.text("ab,=", max_size=2)))
def test_a_field_selector_matches_when_every_requirement_holds(selector: FieldSelector, fields: dict[str, str]) -> None:
    want = all((fields.get(r.field, "") == r.value) != r.is_negated for r in selector.requirements)
    assert selector.matches(fields) is want
