import math

import pytest

from dray.values.quantity import (
    MAX_INT64,
    MIN_INT64,
    ZERO,
    Quantity,
    QuantityError,
    QuantityFormat,
    QuantityFormatError,
    QuantityNumberError,
    QuantitySuffixError,
    decode_quantity,
    format_quantity,
    parse_quantity,
)

DECIMAL, BINARY, EXPONENT = QuantityFormat.DECIMAL_SI, QuantityFormat.BINARY_SI, QuantityFormat.DECIMAL_EXPONENT


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("0Ki", "0"),
        ("0.000", "0"),
        ("1", "1"),
        ("1000m", "1"),
        ("100m", "100m"),
        ("1500m", "1500m"),
        ("1.5", "1500m"),
        (".5", "500m"),
        ("-0.5", "-500m"),
        ("0.001k", "1"),
        ("1.5k", "1500"),
        ("10000k", "10M"),
        ("1000000000000000000", "1E"),
        ("999999E", "999999E"),
        ("1000E", "1e21"),
        ("1u", "1u"),
        ("1000n", "1u"),
        ("0.1n", "1n"),
        ("-0.1n", "-1n"),
        ("1.0000000001", "1000000001n"),
        ("1Ki", "1Ki"),
        ("1024Ki", "1Mi"),
        ("1500Mi", "1500Mi"),
        ("1.5Gi", "1536Mi"),
        ("-1.5Gi", "-1536Mi"),
        ("0.5Gi", "512Mi"),
        ("0.5Ki", "512"),
        ("0.0005Ki", "512m"),
        ("1.1Ki", "1126400m"),
        ("1000Ki", "1000Ki"),
        ("1024Pi", "1Ei"),
        ("8Ei", "9223372036854775807"),
        ("-9999Ei", "-9223372036854775807"),
        ("1e3", "1e3"),
        ("1e2", "100"),
        ("1e4", "10e3"),
        ("12e6", "12e6"),
        ("1500e3", "1500e3"),
        ("1.5e3", "1500"),
        ("1e-3", "1e-3"),
        ("1e-10", "1e-9"),
        ("1e-100000", "1e-9"),
        ("0e99", "0"),
        ("1e+3", "1e+3"),
        ("1e330", "1e330"),
        ("9999999999999999999999", "9999999999999999999999"),
        ("99999999999999999999999Ki", "9223372036854775807"),
    ],
)
def test_a_quantity_prints_with_the_largest_suffix_of_its_family_that_loses_nothing(text: str, want: str) -> None:
    assert format_quantity(parse_quantity(text)) == want


@pytest.mark.parametrize("text", ["1E3", "5.", "+1", "01", "1.500", "1.100k", "1e0", "+1Ki", "007Mi", "-1.234"])
def test_a_spelling_that_looks_canonical_to_kubernetes_is_kept(text: str) -> None:
    assert str(parse_quantity(text)) == text
    assert str(parse_quantity(text) + ZERO) == str(Quantity(parse_quantity(text).nanos, parse_quantity(text).family))


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", QuantityFormatError),
        ("abc", QuantityFormatError),
        ("1Zi", QuantityFormatError),
        ("1,3G", QuantityFormatError),
        ("1.2.3", QuantityFormatError),
        ("1 ", QuantityFormatError),
        (" 1", QuantityFormatError),
        ("1\n", QuantityFormatError),
        ("1-+2", QuantityFormatError),
        ("１", QuantityFormatError),  # noqa: RUF001 # a digit, but not of ASCII
        ("1" * 200 + "x", QuantityFormatError),
        ("10Mm", QuantitySuffixError),
        ("200K", QuantitySuffixError),
        ("1iK", QuantitySuffixError),
        ("1e", QuantitySuffixError),
        ("1-1", QuantitySuffixError),
        ("1e1e1", QuantityFormatError),
        ("--1", QuantitySuffixError),
        ("1e99999999999999999999", QuantitySuffixError),
        ("1e2147483647", QuantitySuffixError),
        ("Pi", QuantityNumberError),
        ("Ei", QuantityNumberError),
        ("e-10", QuantityNumberError),
        (".e19.", QuantityFormatError),
        ("1" * 5_000, QuantityNumberError),
    ],
)
def test_what_is_no_quantity_is_refused(text: str, want: type[QuantityError]) -> None:
    with pytest.raises(want) as refusal:
        parse_quantity(text)
    assert str(refusal.value) == want.message


def test_the_refusals_have_the_texts_of_kubernetes() -> None:
    assert QuantityFormatError.message == (
        "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
    )
    assert QuantitySuffixError.message == "unable to parse quantity's suffix"
    assert QuantityNumberError.message == "unable to parse numeric part of quantity"


def test_equality_and_hash_look_at_the_value_alone() -> None:
    spellings = ["0.5Gi", "512Mi", "536870912", "536870912000m", "536.870912e6"]
    assert len({parse_quantity(text) for text in spellings}) == 1
    assert parse_quantity("200M") == parse_quantity("0.2G")
    assert parse_quantity("1") != parse_quantity("1Ki")
    assert parse_quantity("1") != 1


def test_order_is_by_value() -> None:
    texts = ["-1Ki", "-1", "-1n", "0", "1n", "1m", "1", "1k", "1Ki", "1E", "1Ei", "1e30"]
    quantities = [parse_quantity(text) for text in texts]
    backwards = quantities[::-1]
    assert sorted(backwards) == quantities
    assert parse_quantity("1") <= parse_quantity("1.0")
    assert parse_quantity("1") >= parse_quantity("1.0")
    with pytest.raises(TypeError):
        assert ZERO < 1  # type: ignore[operator] # the point of the test


@pytest.mark.parametrize("text", ["Mi", ".", "-.", "+", "m", "-m", "e3", ".Gi", "n", "E"])
def test_suffix_or_sign_without_digits_is_zero(text: str) -> None:
    assert parse_quantity(text).is_zero


def test_line_breaks_around_a_json_string_are_refused() -> None:
    with pytest.raises(QuantityFormatError):
        decode_quantity("1Gi\n")


@pytest.mark.parametrize(
    ("left", "right", "want_sum", "want_difference"),
    [
        ("1", "1Ki", "1025", "-1023"),
        ("1Ki", "1", "1025", "1023"),
        ("1Gi", "1Gi", "2Gi", "0"),
        ("1Gi", "1m", "1073741824001m", "1073741823999m"),
        ("0", "1Gi", "1Gi", "-1Gi"),
        ("0Ki", "1500", "1500", "-1500"),
        ("1e3", "1k", "2e3", "0"),
        ("1k", "1e3", "2k", "0"),
        ("100m", "900m", "1", "-800m"),
        ("8Ei", "1Ki", "9223372036854776831", "9223372036854774783"),
    ],
)
def test_sums_print_in_the_family_of_the_left_operand(
    left: str, right: str, want_sum: str, want_difference: str
) -> None:
    assert str(parse_quantity(left) + parse_quantity(right)) == want_sum
    assert str(parse_quantity(left) - parse_quantity(right)) == want_difference


def test_a_quantity_can_be_negated_and_multiplied() -> None:
    assert str(-parse_quantity("1.5Gi")) == "-1536Mi"
    assert str(parse_quantity("512Mi") * 3) == "1536Mi"
    assert str(1000 * parse_quantity("1m")) == "1"
    assert str(parse_quantity("1Gi") * 0) == "0"
    with pytest.raises(TypeError):
        parse_quantity("1") * 1.5  # type: ignore[operator] # the point of the test


@pytest.mark.parametrize(
    ("text", "want", "want_milli"),
    [
        ("1.1", 2, 1_100),
        ("-1.1", -2, -1_100),
        ("1n", 1, 1),
        ("-1n", -1, -1),
        ("1Ki", 1_024, 1_024_000),
        ("9223372036854775807", MAX_INT64, MAX_INT64),
        ("1e30", MAX_INT64, MAX_INT64),
        ("-1e30", MIN_INT64, MIN_INT64),
        ("0", 0, 0),
    ],
)
def test_integer_values_round_away_from_zero_and_stop_at_64_bits(text: str, want: int, want_milli: int) -> None:
    assert parse_quantity(text).value() == want
    assert parse_quantity(text).milli_value() == want_milli


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("0", 0),
        ("1", 1),
        ("1.5k", 1_500),
        ("1.Ki", 1_024),
        ("80Gi", 80 * 2**30),
        ("99999Gi", 99_999 * 2**30),
        ("9E", 9 * 10**18),
        ("1.0", None),
        ("0.0", None),
        ("1000m", None),
        ("0.5Ki", None),
        ("1Pi", None),
        ("100000Gi", None),
        ("10E", None),
        ("9999999999999999999", None),
        ("9999999999999999999999999999999999999G", None),
    ],
)
def test_being_an_integer_depends_on_the_spelling(text: str, want: int | None) -> None:
    quantity = parse_quantity(text)
    assert quantity.as_integer() == want
    assert quantity.is_integer is (want is not None)


def test_arithmetic_keeps_integers_integers() -> None:
    total = parse_quantity("50k") + Quantity.of(20) - parse_quantity("100k")
    assert total.as_integer() == -49_980
    assert (parse_quantity("1") + parse_quantity("1000m")).as_integer() is None
    assert (parse_quantity("0.0") + parse_quantity("1")).as_integer() == 1
    assert (parse_quantity("1") + parse_quantity("0.0")).as_integer() == 1


@pytest.mark.parametrize(
    ("text", "want"),
    [("1.5", 1_500), ("1m", 1), ("100u", None), ("9223372036854775807m", MAX_INT64), ("1E", None), ("-1", -1_000)],
)
def test_exact_thousandths_exist_unless_the_value_is_finer_or_too_large(text: str, want: int | None) -> None:
    assert parse_quantity(text).as_exact_milli() == want


def test_floats_are_the_nearest_and_may_be_infinite() -> None:
    assert parse_quantity("0.3").as_approximate_float() == 0.3
    assert parse_quantity("1e400").as_approximate_float() == math.inf
    assert parse_quantity("-1e400").as_approximate_float() == -math.inf


def test_signs() -> None:
    assert [parse_quantity(text).sign for text in ("-1n", "0", "1n")] == [-1, 0, 1]
    assert ZERO.is_zero
    assert not parse_quantity("1n").is_zero


def test_quantities_are_made_from_integers() -> None:
    assert str(Quantity.of(2048, BINARY)) == "2Ki"
    assert str(Quantity.of(2000, EXPONENT)) == "2e3"
    assert str(Quantity.of_milli(1500)) == "1500m"
    assert Quantity.of(5).as_integer() == 5
    assert repr(Quantity.of(5)) == "Quantity('5')"
    assert Quantity.of(5).family is DECIMAL


def test_binary_results_beyond_64_bits_print_so_that_they_can_be_read_back() -> None:
    total = parse_quantity("4Ei") + parse_quantity("4Ei")
    assert str(total) == "9223372036854775808"
    assert parse_quantity(str(total)) == total


@pytest.mark.parametrize(
    ("json", "want"),
    [(" 1Gi ", "1Gi"), (1, "1"), (1.5, "1500m"), (1000.0, "1k"), (1e22, "10e21"), (2**70, "1180591620717411303424")],
)
def test_json_strings_and_numbers_decode(json: str | float, want: str) -> None:
    assert str(decode_quantity(json)) == want


@pytest.mark.parametrize("json", [True, math.inf, math.nan, "", "x"])
def test_other_json_is_refused(json: str | float) -> None:
    with pytest.raises(QuantityFormatError):
        decode_quantity(json)
