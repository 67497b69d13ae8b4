"""A point in time as decisions need it: a clock that only runs forward for waits, the time of day for objects."""

from __future__ import annotations

from typing import NamedTuple

from dray.values.times import MicroTime

__all__ = ["Moment"]


class Moment(NamedTuple):
    """Now. `seconds` count from some fixed moment and never run back; `date` is what stands in objects."""

    seconds: float
    date: MicroTime
