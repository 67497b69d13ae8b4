"""RFC 3339 as Go's `time.Parse` reads it, with its refusals word by word, for any year.

Users see these messages when a manifest holds a bad time, and scripts match them. Instants are plain integers here:
`datetime` ends at the years 1 and 9999, and an offset can lead beyond.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

__all__ = ["LAYOUT", "MICRO_LAYOUT", "TimeError", "format_seconds", "parse_nanoseconds"]

LAYOUT: Final = "2006-01-02T15:04:05Z07:00"
"""Go's name for RFC 3339; a fraction may follow the seconds."""
MICRO_LAYOUT: Final = "2006-01-02T15:04:05.000000Z07:00"
"""The same with exactly six decimals."""

_NANOSECONDS: Final = 1_000_000_000
_DAY: Final = 86_400
_DAYS_IN_MONTH: Final = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


class TimeError(ValueError):
    """Text is not an instant; the message is Go's."""


def parse_nanoseconds(text: str, layout: str) -> int:
    """Nanoseconds since 1970 of a text in one of the two layouts. Refuses with `TimeError`."""
    return _Parser(text, layout).parse()


@lru_cache(maxsize=1024)
def format_seconds(unix_seconds: int) -> str:
    """Print seconds since 1970 as date and time in UTC, without a zone."""
    days, second_of_day = divmod(unix_seconds, _DAY)
    year, month, day = _civil_from_days(days)
    minutes, second = divmod(second_of_day, 60)
    hour, minute = divmod(minutes, 60)
    sign = "-" if year < 0 else ""
    return f"{sign}{abs(year):04d}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:{second:02d}"


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
        nanoseconds = self._exact_fraction() if self._layout == MICRO_LAYOUT else self._optional_fraction()
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
