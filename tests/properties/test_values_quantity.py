"""Quantities against a slow model on fractions, which shares no code with them."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from dray.values.quantity import Quantity, QuantityError, QuantityFormat, format_quantity, parse_quantity
from tests.properties.strategies.values import BINARY_SUFFIXES, DECIMAL_SUFFIXES, QuantityText, quantity_texts

MAX_INT64 = 2**63 - 1
NANO = Fraction(1, 10**9)
quantities = quantity_texts.map(lambda parts: parse_quantity(parts.text))
results = quantities | st.builds(Quantity.__add__, quantities, quantities)


def round_away(value: Fraction) -> int:
    return math.ceil(value) if value > 0 else math.floor(value)


def model_value(parts: QuantityText) -> Fraction:
    number = Fraction(f"{parts.whole or '0'}.{parts.fraction or '0'}")
    if parts.suffix in BINARY_SUFFIXES:
        number = min(number * 2 ** BINARY_SUFFIXES[parts.suffix], Fraction(MAX_INT64))
    elif parts.suffix in DECIMAL_SUFFIXES:
        number *= Fraction(10) ** DECIMAL_SUFFIXES[parts.suffix]
    else:
        number *= Fraction(10) ** int(parts.suffix[1:])
    return round_away(number / NANO) * NANO * (-1 if parts.sign == "-" else 1)


def model_text(value: Fraction, family: QuantityFormat) -> str:
    """Try every suffix, largest first, until no fraction is left."""
    if value == 0:
        return "0"
    if family is QuantityFormat.BINARY_SI and value.denominator == 1 and 1024 <= abs(value) <= MAX_INT64:
        factors = [(Fraction(2**power), suffix) for suffix, power in BINARY_SUFFIXES.items()]
    elif family is QuantityFormat.DECIMAL_EXPONENT or value % 10**21 == 0:
        factors = [(Fraction(10) ** power, f"e{power}") for power in range(-9, 180, 3) if power]
    else:
        factors = [(Fraction(10) ** power, suffix) for suffix, power in DECIMAL_SUFFIXES.items()]
    for factor, suffix in sorted([*factors, (Fraction(1), "")], reverse=True):
        if (value / factor).denominator == 1:
            return f"{value / factor}{suffix}"
    raise AssertionError(value)


def exact(quantity: Quantity) -> Fraction:
    return quantity.nanos * NANO


@given(quantity_texts)
def test_parsing_agrees_with_the_model(parts: QuantityText) -> None:
    assert exact(parse_quantity(parts.text)) == model_value(parts)


@given(results)
def test_canonical_text_agrees_with_the_model(quantity: Quantity) -> None:
    fresh = Quantity(quantity.nanos, quantity.family)
    assert str(fresh) == model_text(exact(quantity), quantity.family)


@given(results)
def test_parsing_undoes_printing(quantity: Quantity) -> None:
    text = format_quantity(quantity)
    again = parse_quantity(text)
    assert again == quantity
    # A binary sum that no binary suffix divides prints as a bare number, which is decimal when read again.
    assert str(again) == text or quantity.family is QuantityFormat.BINARY_SI


@given(st.text("0123456789.+-eEinumkKMGTP ", max_size=12))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except QuantityError:
        return
    assert parse_quantity(str(quantity)) == quantity


@given(results, results)
def test_order_agrees_with_the_model(left: Quantity, right: Quantity) -> None:
    assert (left < right) == (exact(left) < exact(right))
    assert (left == right) == (exact(left) == exact(right))
    assert (left <= right) == (left < right or left == right)
    assert (left > right) == (right < left)
    assert (left >= right) == (right <= left)
    assert left != right or hash(left) == hash(right)


@given(st.lists(results, max_size=6))
def test_order_is_total(several: list[Quantity]) -> None:
    for lower, upper in pairwise(sorted(several)):
        assert lower <= upper
    assert [exact(quantity) for quantity in sorted(several)] == sorted(map(exact, several))


@given(results, results, st.integers(-(2**70), 2**70))
def test_arithmetic_agrees_with_the_model(left: Quantity, right: Quantity, factor: int) -> None:
    assert exact(left + right) == exact(left) + exact(right)
    assert exact(left - right) == exact(left) - exact(right)
    assert exact(left * factor) == exact(left) * factor
    assert exact(-left) == -exact(left)


@given(results, results, results)
def test_arithmetic_obeys_its_laws(a: Quantity, b: Quantity, c: Quantity) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert (a + b) - b == a
    assert a - b == -(b - a)
    assert a + a == a * 2
    if a < b:
        assert a + c < b + c


@given(results, results)
def test_a_result_has_the_family_of_the_left_operand_unless_that_is_zero(left: Quantity, right: Quantity) -> None:
    want = right.family if left.is_zero else left.family
    assert (left + right).family is want
    assert (left - right).family is want


@given(results)
def test_integers_round_away_from_zero(quantity: Quantity) -> None:
    def clamp(number: int) -> int:
        return min(max(number, -MAX_INT64 - 1), MAX_INT64)

    assert quantity.value() == clamp(round_away(exact(quantity)))
    assert quantity.milli_value() == clamp(round_away(exact(quantity) * 1000))
    assert quantity.sign == (exact(quantity) > 0) - (exact(quantity) < 0)
    if quantity.is_integer:
        assert quantity.as_integer() == exact(quantity)


@given(results)
def test_floats_are_the_nearest(quantity: Quantity) -> None:
    assume(abs(exact(quantity)) < 10**300)
    assert quantity.as_approximate_float() == float(exact(quantity))
