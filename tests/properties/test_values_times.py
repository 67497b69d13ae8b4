"""Instants against the standard library's calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from dray.values.times import MicroTime, Time, TimeError, parse_micro_time, parse_time
from tests.properties.strategies.values import unix_microseconds

moments = st.datetimes(
    min_value=datetime(2, 1, 1),
    max_value=datetime(9998, 12, 31),
    timezones=st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)


@given(moments)
def test_any_offset_is_understood(moment: datetime) -> None:
    text = moment.isoformat(timespec="microseconds")
    assert parse_micro_time(text).to_datetime() == moment
    assert parse_time(text).to_datetime() == moment.astimezone(UTC).replace(microsecond=0)


@given(moments)
def test_printing_agrees_with_the_standard_library(moment: datetime) -> None:
    utc = moment.astimezone(UTC).replace(tzinfo=None)
    assert str(Time.from_datetime(moment)) == f"{utc.isoformat(timespec='seconds')}Z"
    assert str(MicroTime.from_datetime(moment)) == f"{utc.isoformat(timespec='microseconds')}Z"


@given(unix_microseconds)
def test_parsing_undoes_printing(microseconds: int) -> None:
    moment = MicroTime(microseconds)
    assert parse_micro_time(str(moment)) == moment
    assert parse_time(str(moment.to_time())) == moment.to_time()
    assert 0 <= moment.seconds_since(moment.to_time().to_micro_time()) < 1


@given(unix_microseconds, unix_microseconds)
def test_order_and_difference_follow_the_count(left: int, right: int) -> None:
    one, other = Time(left), Time(right)
    assert (one < other, one <= other, one > other, one >= other, one == other) == (
        left < right,
        left <= right,
        left > right,
        left >= right,
        left == right,
    )
    assert other.plus_seconds(one.seconds_since(other)) == one


@given(st.text("0123456789-T:.Z+ ", max_size=28))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        moment = parse_time(text)
    except TimeError:
        return
    assert str(moment).endswith("Z")
