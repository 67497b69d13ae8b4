"""Which adapter stands behind each port that every verb has. Apart from `wire`: verbs without objects start faster."""

from typing import TextIO

from dray.app.logsetup import open_log
from dray.app.settings import Settings
from dray.effects.clock import Clock, SystemClock
from dray.effects.log import Log

__all__ = ["wire_clock", "wire_log"]


def wire_clock() -> Clock:
    """The machine's clock."""
    return SystemClock()


def wire_log(settings: Settings, stream: TextIO, clock: Clock) -> Log:
    """The log on `stream` that the settings ask for."""
    return open_log(settings.log, stream, clock)
