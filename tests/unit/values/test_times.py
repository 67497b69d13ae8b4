from datetime import UTC, datetime, timedelta, timezone

import pytest

from dray.values.times import (
    MicroTime,
    Time,
    TimeError,
    format_age,
    format_micro_time,
    format_time,
    parse_micro_time,
    parse_time,
)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.999999999Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00,5Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T01:30:00+01:30", "2026-01-01T00:00:00Z"),
        ("2025-12-31T22:00:00-02:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T5:00:00Z", "2026-01-01T05:00:00Z"),
        ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("0000-02-29T00:00:00Z", "0000-02-29T00:00:00Z"),
        ("0000-01-01T00:00:00+00:01", "-0001-12-31T23:59:00Z"),
        ("9999-12-31T23:59:59-00:01", "10000-01-01T00:00:59Z"),
        ("2026-01-02T00:00:00+24:00", "2026-01-01T00:00:00Z"),
    ],
)
def test_time_parses_rfc_3339_and_prints_utc_to_the_second(text: str, want: str) -> None:
    assert format_time(parse_time(text)) == want


MISMATCH = 'parsing time "{}" as "2006-01-02T15:04:05Z07:00": cannot parse "{}" as "{}"'


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", MISMATCH.format("", "", "2006")),
        ("gpu", MISMATCH.format("gpu", "gpu", "2006")),
        ("2a26-01-01T00:00:00Z", MISMATCH.format("2a26-01-01T00:00:00Z", "2a26-01-01T00:00:00Z", "2006")),
        ("2026", MISMATCH.format("2026", "", "-")),
        ("2026-1-01", MISMATCH.format("2026-1-01", "1-01", "01")),
        ("2026-01-1T", MISMATCH.format("2026-01-1T", "1T", "02")),
        ("2026-01-01", MISMATCH.format("2026-01-01", "", "T")),
        ("2026-01-01 00:00:00Z", MISMATCH.format("2026-01-01 00:00:00Z", " 00:00:00Z", "T")),
        ("2026-01-01Tx", MISMATCH.format("2026-01-01Tx", "x", "15")),
        ("2026-01-01T00:0", MISMATCH.format("2026-01-01T00:0", "0", "04")),
        ("2026-01-01T00:00", MISMATCH.format("2026-01-01T00:00", "", ":")),
        ("2026-01-01T00:00:0Z", MISMATCH.format("2026-01-01T00:00:0Z", "0Z", "05")),
        ("2026-01-01T00:00:00", MISMATCH.format("2026-01-01T00:00:00", "", "Z07:00")),
        ("2026-01-01T00:00:00.Z", MISMATCH.format("2026-01-01T00:00:00.Z", ".Z", "Z07:00")),
        ("2026-01-01T00:00:00+0100", MISMATCH.format("2026-01-01T00:00:00+0100", "+0100", "Z07:00")),
        ("2026-13-01T00:00:00Z", 'parsing time "2026-13-01T00:00:00Z": month out of range'),
        ("2026-02-29T00:00:00Z", 'parsing time "2026-02-29T00:00:00Z": day out of range'),
        ("2026-01-01T24:00:00Z", 'parsing time "2026-01-01T24:00:00Z": hour out of range'),
        ("2026-01-01T00:60:00Z", 'parsing time "2026-01-01T00:60:00Z": minute out of range'),
        ("2026-01-01T00:00:60Z", 'parsing time "2026-01-01T00:00:60Z": second out of range'),
        ("2026-01-01T00:00:00+25:00", 'parsing time "2026-01-01T00:00:00+25:00": time zone offset hour out of range'),
        ("2026-01-01T00:00:00+00:61", 'parsing time "2026-01-01T00:00:00+00:61": time zone offset minute out of range'),
        ("2026-01-01T00:00:00Zx", 'parsing time "2026-01-01T00:00:00Zx": extra text: "x"'),
        ('é"', MISMATCH.format('\\xc3\\xa9\\"', '\\xc3\\xa9\\"', "2006")),
        ("a\nb", MISMATCH.format("a\\x0ab", "a\\x0ab", "2006")),
    ],
)
def test_time_refuses_as_go_does(text: str, want: str) -> None:
    with pytest.raises(TimeError) as refusal:
        parse_time(text)
    assert str(refusal.value) == want


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("2026-01-01T00:00:00.000001Z", "2026-01-01T00:00:00.000001Z"),
        ("2026-01-01T01:00:00.123456+01:00", "2026-01-01T00:00:00.123456Z"),
        ("1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"),
        ("0000-01-01T00:00:00.500000Z", "0000-01-01T00:00:00.500000Z"),
    ],
)
def test_micro_time_keeps_six_decimals(text: str, want: str) -> None:
    assert format_micro_time(parse_micro_time(text)) == want


@pytest.mark.parametrize(
    ("text", "rest", "element"),
    [
        ("2026-01-01T00:00:00Z", "Z", ".000000"),
        ("2026-01-01T00:00:00.12345Z", ".12345Z", ".000000"),
        ("2026-01-01T00:00:00.1234567Z", "7Z", "Z07:00"),
    ],
)
def test_micro_time_refuses_another_number_of_decimals(text: str, rest: str, element: str) -> None:
    with pytest.raises(TimeError) as refusal:
        parse_micro_time(text)
    layout = "2006-01-02T15:04:05.000000Z07:00"
    assert str(refusal.value) == f'parsing time "{text}" as "{layout}": cannot parse "{rest}" as "{element}"'


def test_times_are_values() -> None:
    early, late = Time(10), Time(70)
    assert early < late <= Time(70)
    assert late > early >= Time(10)
    assert early == Time(10) != late
    assert {early, Time(10), late} == {early, late}
    assert late.seconds_since(early) == 60
    assert early.plus_seconds(60) == late
    assert repr(early) == "Time('1970-01-01T00:00:10Z')"


def test_a_time_and_a_micro_time_are_never_equal_and_do_not_compare() -> None:
    assert Time(0) != MicroTime(0)
    with pytest.raises(TypeError):
        assert Time(0) < MicroTime(0)  # type: ignore[operator] # the point of the test


def test_micro_time_differences_have_fractions() -> None:
    early = MicroTime(1_500_000)
    assert early.plus_seconds(0.25).unix_microseconds == 1_750_000
    assert early.plus_seconds(0.25).seconds_since(early) == 0.25
    assert early.to_time() == Time(1)
    assert Time(1).to_micro_time() == MicroTime(1_000_000)


def test_datetimes_convert_both_ways() -> None:
    moment = datetime(2026, 1, 1, 1, 0, 0, 999_999, tzinfo=timezone(timedelta(hours=1)))
    assert Time.from_datetime(moment) == parse_time("2026-01-01T00:00:00Z")
    assert MicroTime.from_datetime(moment).to_datetime() == moment
    assert Time(0).to_datetime() == datetime(1970, 1, 1, tzinfo=UTC)
    with pytest.raises(ValueError, match="naive"):
        Time.from_datetime(datetime(2026, 1, 1))  # the point of the test


def test_the_zero_time_is_the_first_second_of_year_one() -> None:
    assert parse_time("0001-01-01T00:00:00Z").is_zero
    assert MicroTime(0).is_zero is False


@pytest.mark.parametrize(
    ("seconds", "want"),
    [
        (-2, "<invalid>"),
        (-1.9, "0s"),
        (-1, "0s"),
        (0, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (185, "3m5s"),
        (599, "9m59s"),
        (600, "10m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (3 * 3600 + 60, "3h1m"),
        (8 * 3600, "8h"),
        (48 * 3600 - 1, "47h"),
        (48 * 3600, "2d"),
        (49 * 3600, "2d1h"),
        (8 * 86_400, "8d"),
        (2 * 365 * 86_400 - 1, "729d"),
        (2 * 365 * 86_400, "2y"),
        (2 * 365 * 86_400 + 86_400, "2y1d"),
        (8 * 365 * 86_400 - 1, "7y364d"),
        (8 * 365 * 86_400, "8y"),
        (100 * 365 * 86_400, "100y"),
    ],
)
def test_an_age_shows_two_units_while_it_is_small(seconds: float, want: str) -> None:
    assert format_age(seconds) == want
