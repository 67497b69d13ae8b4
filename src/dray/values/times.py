"""Instants as API objects write them: `Time` to the second, `MicroTime` to the microsecond, both in UTC.

An instant is one integer, so that comparing, hashing and subtracting cost nothing and every year Kubernetes can write
is covered. Parsing takes what Go's `time.Parse` takes with the RFC 3339 layout (a `MicroTime` needs exactly six
decimals) and refuses the rest in Go's words. Nothing here reads a clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import ClassVar, Final, Self

__all__ = [
    "MicroTime",
    "Time",
    "TimeError",
    "format_age",
    "format_micro_time",
    "format_time",
    "parse_micro_time",
    "parse_time",
]

_MICROSECONDS: Final = 1_000_000
_DAY: Final = 86_400
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class TimeError(ValueError):
    """Text is not an instant; the message is Go's."""


class _Instant:
    """One integer count since 1970; only instants of the same class compare."""

    __slots__ = ("_count",)
    _per_second: ClassVar[int]

    def __init__(self, count: int) -> None:
        self._count = count

    @classmethod
    def from_datetime(cls, moment: datetime) -> Self:
        """Take an aware datetime; what is finer than the class can hold is cut off."""
        if moment.tzinfo is None:
            raise ValueError("a naive datetime names no instant")
        microseconds = (moment - _EPOCH) // timedelta(microseconds=1)
        return cls(microseconds * cls._per_second // _MICROSECONDS)

    def to_datetime(self) -> datetime:
        """The same instant as an aware datetime in UTC; OverflowError outside the years 1 to 9999."""
        return _EPOCH + timedelta(microseconds=self._count * (_MICROSECONDS // self._per_second))

    @property
    def is_zero(self) -> bool:
        """Whether this is Go's zero time, the first second of year 1, which API objects print as null."""
        return self._count == -62_135_596_800 * self._per_second

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Instant) and other.__class__ is self.__class__ and self._count == other._count

    def __lt__(self, other: Self) -> bool:
        return self._count < other._count if other.__class__ is self.__class__ else NotImplemented

    def __le__(self, other: Self) -> bool:
        return self._count <= other._count if other.__class__ is self.__class__ else NotImplemented

    def __gt__(self, other: Self) -> bool:
        return self._count > other._count if other.__class__ is self.__class__ else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return self._count >= other._count if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self) -> int:
        return hash(self._count)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Time(_Instant):
    """An instant to the second: `Time(unix_seconds)`, printed `2026-01-01T00:00:00Z`."""

    __slots__ = ()
    _per_second = 1

    @property
    def unix_seconds(self) -> int:
        """Seconds since 1970."""
        return self._count

    def seconds_since(self, earlier: Time) -> int:
        """How long after `earlier` this is; negative if before."""
        return self._count - earlier._count

    def plus_seconds(self, seconds: int) -> Time:
        """The instant so many seconds later."""
        return Time(self._count + seconds)

    def to_micro_time(self) -> MicroTime:
        """The same instant with decimals."""
        return MicroTime(self._count * _MICROSECONDS)

    def __str__(self) -> str:
        return f"{_format_seconds(self._count)}Z"


class MicroTime(_Instant):
    """An instant to the microsecond: `MicroTime(unix_microseconds)`, printed `2026-01-01T00:00:00.000000Z`."""

    __slots__ = ()
    _per_second = _MICROSECONDS

    @property
    def unix_microseconds(self) -> int:
        """Microseconds since 1970."""
        return self._count

    def seconds_since(self, earlier: MicroTime) -> float:
        """How long after `earlier` this is; negative if before."""
        return (self._count - earlier._count) / _MICROSECONDS

    def plus_seconds(self, seconds: float) -> MicroTime:
        """The instant so many seconds later, to the nearest microsecond."""
        return MicroTime(self._count + round(seconds * _MICROSECONDS))

    def to_time(self) -> Time:
        """The second this instant lies in."""
        return Time(self._count // _MICROSECONDS)

    def __str__(self) -> str:
        seconds, microseconds = divmod(self._count, _MICROSECONDS)
        return f"{_format_seconds(seconds)}.{microseconds:06d}Z"


def parse_time(text: str) -> Time:
    """Read RFC 3339 with any offset; a fraction is cut off. Refuses with `TimeError`."""
    if _PLAIN.fullmatch(text):
        try:
            return Time.from_datetime(datetime.fromisoformat(text))
        except ValueError:
            pass  # a field out of range, or year 0: the careful parser knows which
    return Time(_Parser(text, _LAYOUT).parse() // _NANOSECONDS)


def format_time(moment: Time) -> str:
    """Print to the second in UTC; the inverse of `parse_time`."""
    return str(moment)


def parse_micro_time(text: str) -> MicroTime:
    """Read RFC 3339 with exactly six decimals and any offset. Refuses with `TimeError`."""
    if _PLAIN_MICRO.fullmatch(text):
        try:
            return MicroTime.from_datetime(datetime.fromisoformat(text))
        except ValueError:
            pass  # as in parse_time
    return MicroTime(_Parser(text, _MICRO_LAYOUT).parse() // 1000)


def format_micro_time(moment: MicroTime) -> str:
    """Print with six decimals in UTC; the inverse of `parse_micro_time`."""
    return str(moment)


def format_age(seconds: float) -> str:
    """Print how long something has lasted, as kubectl's tables do: two units while small, then one."""
    whole = int(seconds)
    minutes, hours, days = whole // 60, whole // 3600, whole // _DAY
    if whole < -1:
        return "<invalid>"
    if whole < 120:
        return f"{max(whole, 0)}s"
    if minutes < 10:
        return _two_units(minutes, "m", whole % 60, "s")
    if hours < 3:
        return f"{minutes}m"
    if hours < 8:
        return _two_units(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two_units(days, "d", hours % 24, "h")
    if days < 2 * 365:
        return f"{days}d"
    if days < 8 * 365:
        return _two_units(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _two_units(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"


# The civil calendar on plain integers, because datetime ends at the years 1 and 9999 and an offset can lead beyond.
# Days are counted in eras of 400 years that start on 1 March, so that a leap day is the last day of its year.
_ERA_DAYS: Final = 146_097
_EPOCH_DAYS: Final = 719_468


def _days_from_civil(year: int, month: int, day: int) -> int:
    year -= month <= 2
    era, year_of_era = divmod(year, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * _ERA_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - _EPOCH_DAYS


def _civil_from_days(days: int) -> tuple[int, int, int]:
    era, day_of_era = divmod(days + _EPOCH_DAYS, _ERA_DAYS)
    year_of_era = (day_of_era - day_of_era // 1460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = shifted + 3 if shifted < 10 else shifted - 9
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


def _format_seconds(unix_seconds: int) -> str:
    days, second_of_day = divmod(unix_seconds, _DAY)
    year, month, day = _civil_from_days(days)
    minutes, second = divmod(second_of_day, 60)
    hour, minute = divmod(minutes, 60)
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"


_NANOSECONDS: Final = 1_000_000_000
_LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
_MICRO_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
_PLAIN: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_PLAIN_MICRO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_DAYS_IN_MONTH: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class _Parser:
    """Walks a text along the layout as Go does, so that the first element that does not fit is named as Go names it."""

    def __init__(self, text: str, layout: str) -> None:
        self._text = text
        self._layout = layout
        self._rest = text

    def parse(self) -> int:
        """Nanoseconds since 1970."""
        year = self._year()
        self._skip("-")
        month = self._number("01", name="month", low=1, high=12)
        self._skip("-")
        day = self._number("02")
        self._skip("T")
        hour = self._number("15", name="hour", high=23)
        self._skip(":")
        minute = self._number("04", name="minute", high=59)
        self._skip(":")
        second = self._number("05", name="second", high=59)
        nanoseconds = self._exact_fraction() if self._layout == _MICRO_LAYOUT else self._optional_fraction()
        offset = self._offset()
        if self._rest:
            raise self._refuse(f": extra text: {_quote(self._rest)}")
        is_leap_year = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        if not 1 <= day <= _DAYS_IN_MONTH[month - 1] + (month == 2 and is_leap_year):
            raise self._refuse(": day out of range")
        seconds = _days_from_civil(year, month, day) * _DAY + hour * 3600 + minute * 60 + second - offset
        return seconds * _NANOSECONDS + nanoseconds

    def _year(self) -> int:
        digits = self._rest[:4]
        if len(digits) < 4 or not _is_number(digits):
            raise self._mismatch("2006")
        self._rest = self._rest[4:]
        return int(digits)

    def _number(self, element: str, *, name: str = "", low: int = 0, high: int = 99) -> int:
        """Two digits; Go takes a lone digit for the hour."""
        width = 2 if _is_number(self._rest[:2]) and len(self._rest) >= 2 else 1
        digits = self._rest[:width]
        if not _is_number(digits) or (width == 1 and element != "15"):
            raise self._mismatch(element)
        number = int(digits)
        if not low <= number <= high:
            raise self._refuse(f": {name} out of range")
        self._rest = self._rest[width:]
        return number

    def _skip(self, separator: str) -> None:
        if not self._rest.startswith(separator):
            raise self._mismatch(separator)
        self._rest = self._rest[1:]

    def _optional_fraction(self) -> int:
        match = re.match(r"[.,]([0-9]+)", self._rest)
        if match is None:
            return 0
        self._rest = self._rest[match.end() :]
        return int(match[1][:9].ljust(9, "0"))

    def _exact_fraction(self) -> int:
        match = re.match(r"[.,]([0-9]{6})", self._rest)
        if match is None:
            raise self._mismatch(".000000")
        self._rest = self._rest[match.end() :]
        return int(match[1]) * 1000

    def _offset(self) -> int:
        if self._rest.startswith("Z"):
            self._rest = self._rest[1:]
            return 0
        match = re.match(r"([+-])([0-9]{2}):([0-9]{2})", self._rest)
        if match is None:
            raise self._mismatch("Z07:00")
        hours, minutes = int(match[2]), int(match[3])
        # A whole day and a whole hour are let through, as Go does.
        if hours > 24 or minutes > 60:
            raise self._refuse(f": time zone offset {'minute' if minutes > 60 else 'hour'} out of range")
        self._rest = self._rest[match.end() :]
        seconds = hours * 3600 + minutes * 60
        return -seconds if match[1] == "-" else seconds

    def _mismatch(self, element: str) -> TimeError:
        return self._refuse(f" as {_quote(self._layout)}: cannot parse {_quote(self._rest)} as {_quote(element)}")

    def _refuse(self, detail: str) -> TimeError:
        return TimeError(f"parsing time {_quote(self._text)}{detail}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _quote(text: str) -> str:
    """Quote as Go's time package does: bytes that are not printable ASCII in hexadecimal."""
    quoted = "".join(
        "\\" + chr(byte) if byte in b'"\\' else chr(byte) if 0x20 <= byte < 0x80 else f"\\x{byte:02x}"
        for byte in text.encode("utf-8", "surrogatepass")
    )
    return f'"{quoted}"'
