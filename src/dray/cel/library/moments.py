"""Durations and timestamps: reading, printing and taking apart.

A time zone is UTC or an offset such as `+05:30`; names of places are refused, because what they mean depends on the
machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from dray.cel.errors import EvaluationError
from dray.cel.functions import Implementation, Overload, declare
from dray.cel.values import INT_MAX, INT_MIN, Duration, Timestamp
from dray.values.quoting import quote

__all__ = ["MOMENTS", "format_duration", "format_timestamp", "parse_duration", "parse_timestamp"]

_NANOS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {
    "ns": 1,
    "us": 1_000,
    "\u00b5s": 1_000,
    "\u03bcs": 1_000,
    "ms": 1_000_000,
    "s": _NANOS,
    "m": 60 * _NANOS,
    "h": 3600 * _NANOS,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)")
_MAX_DIGITS = 4_000
_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)


def parse_duration(text: str) -> Duration | None:
    """Read Go's durations, `-1h30m0.5s`; None if it is none or does not fit 64 bits."""
    sign = -1 if text.startswith("-") else 1
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total, at = 0, 0
    while at < len(rest):
        match = _PART.match(rest, at)
        if match is None or match[3] not in _UNITS or not (match[1] or match[2]) or match.end() - at > _MAX_DIGITS:
            return None
        unit = _UNITS[match[3]]
        total += int(match[1] or 0) * unit
        if match[2]:
            total += int(Fraction(int(match[2]) * unit, 10 ** len(match[2])))
        at = match.end()
    total *= sign
    return Duration(total) if INT_MIN <= total <= INT_MAX else None


def format_duration(span: Duration) -> str:
    """Seconds without an exponent: `5400.5s`."""
    seconds = span.nanoseconds / _NANOS
    return f"{int(seconds)}s" if seconds.is_integer() else f"{Decimal(repr(seconds)):f}s"


def parse_timestamp(text: str) -> Timestamp | None:
    """Read RFC 3339, the way Go does; None if it is not."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        return None
    year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
    offset = 0
    if match[8]:
        hours, minutes = int(match[9]), int(match[10])
        if hours > 24 or minutes > 60:
            return None
        offset = (hours * 60 + minutes) * (-60 if match[8] == "-" else 60)
    try:
        local = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    seconds = (local - _EPOCH) // timedelta(seconds=1) - offset
    nanoseconds = int((match[7] or "")[:9].ljust(9, "0"))
    return Timestamp(seconds * _NANOS + nanoseconds, offset)


def format_timestamp(moment: Timestamp) -> str:
    """RFC 3339 with as many digits of the second as are needed."""
    local = _local(moment, moment.offset_seconds)
    fraction = f"{moment.nanoseconds % _NANOS:09d}".rstrip("0")
    text = local.strftime("%m-%dT%H:%M:%S") + (f".{fraction}" if fraction else "")
    if moment.offset_seconds == 0:
        zone = "Z"
    else:
        minutes = abs(moment.offset_seconds) // 60
        zone = f"{'-' if moment.offset_seconds < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return f"{local.year:04d}-{text}{zone}"


def _local(moment: Timestamp, offset_seconds: int) -> datetime:
    try:
        return _EPOCH + timedelta(seconds=moment.nanoseconds // _NANOS + offset_seconds)
    except OverflowError:
        raise EvaluationError("timestamp overflow") from None


def _zone_offset(zone: str) -> int:
    """Seconds east of UTC."""
    if zone in {"", "UTC"}:
        return 0
    hours_text, colon, minutes_text = zone.partition(":")
    if not colon:
        raise EvaluationError(f"unknown time zone {zone}")
    try:
        hours, minutes = int(hours_text), int(minutes_text)
    except ValueError:
        raise EvaluationError(f"strconv.Atoi: parsing {quote(zone)}: invalid syntax") from None
    if not 0 <= minutes <= 59:
        raise EvaluationError(f"timezone offset minutes out of range [0, 59]: {zone}")
    return (hours * 60 - minutes if zone.startswith("-") else hours * 60 + minutes) * 60


def _part(take: Callable[[datetime], int]) -> Implementation:
    def part(moment: Timestamp, zone: str = "") -> int:
        return take(_local(moment, _zone_offset(zone)))

    return part


def _milliseconds(moment: Timestamp, zone: str = "") -> int:
    _zone_offset(zone)
    return moment.nanoseconds % _NANOS // 1_000_000


_PARTS: tuple[tuple[str, str, Implementation], ...] = (
    ("getFullYear", "year", _part(lambda local: local.year)),
    ("getMonth", "month", _part(lambda local: local.month - 1)),
    ("getDayOfYear", "day_of_year", _part(lambda local: local.timetuple().tm_yday - 1)),
    ("getDayOfMonth", "day_of_month", _part(lambda local: local.day - 1)),
    ("getDate", "day_of_month_1_based", _part(lambda local: local.day)),
    ("getDayOfWeek", "day_of_week", _part(lambda local: (local.weekday() + 1) % 7)),
    ("getHours", "hours", _part(lambda local: local.hour)),
    ("getMinutes", "minutes", _part(lambda local: local.minute)),
    ("getSeconds", "seconds", _part(lambda local: local.second)),
    ("getMilliseconds", "milliseconds", _milliseconds),
)


def _count(unit: int) -> Callable[[Duration], int]:
    def count(span: Duration) -> int:
        whole = abs(span.nanoseconds) // unit
        return -whole if span.nanoseconds < 0 else whole

    return count


MOMENTS: list[Overload] = declare(
    *((f"timestamp_to_{name}: timestamp::{function}() -> int", take) for function, name, take in _PARTS),
    *((f"timestamp_to_{name}_with_tz: timestamp::{function}(string) -> int", take) for function, name, take in _PARTS),
    ("duration_to_hours: duration::getHours() -> int", _count(3600 * _NANOS)),
    ("duration_to_minutes: duration::getMinutes() -> int", _count(60 * _NANOS)),
    ("duration_to_seconds: duration::getSeconds() -> int", _count(_NANOS)),
    ("duration_to_milliseconds: duration::getMilliseconds() -> int", _count(1_000_000)),
)
