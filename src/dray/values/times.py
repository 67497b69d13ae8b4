"""Instants as API objects write them: `Time` to the second, `MicroTime` to the microsecond, both in UTC.

An instant is one integer, so that comparing, hashing and subtracting cost nothing and every year Kubernetes can write
is covered. Parsing takes what Go's `time.Parse` takes with the RFC 3339 layout (a `MicroTime` needs exactly six
decimals) and refuses the rest in Go's words. Nothing here reads a clock.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import ClassVar, Final, Self

from dray.values.rfc3339 import LAYOUT, MICRO_LAYOUT, TimeError, format_seconds, parse_nanoseconds

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
_NANOSECONDS: Final = 1_000_000_000
_DAY: Final = 86_400
_REMEMBERED: Final = 4096
"""Texts whose instant is kept: objects that are written in one second, and their owners' entries, share it."""
_PLAIN: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII)
_PLAIN_MICRO: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


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
        return f"{format_seconds(self._count)}Z"


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
        return f"{format_seconds(seconds)}.{microseconds:06d}Z"


@lru_cache(maxsize=_REMEMBERED)
def parse_time(text: str) -> Time:
    """Read RFC 3339 with any offset; a fraction is cut off. Refuses with `TimeError`."""
    if _PLAIN.fullmatch(text):
        try:
            return Time.from_datetime(datetime.fromisoformat(text))
        except ValueError:
            pass  # a field out of range, or year 0: the careful parser knows which
    return Time(parse_nanoseconds(text, LAYOUT) // _NANOSECONDS)


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
    return MicroTime(parse_nanoseconds(text, MICRO_LAYOUT) // 1000)


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
