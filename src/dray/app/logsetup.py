"""Which log a process writes, from its settings."""

from typing import TextIO

from dray.app.settings import LogFormat, LogSettings
from dray.effects.clock import Clock
from dray.effects.log import JsonLog, Log, TextLog

__all__ = ["open_log"]


def open_log(settings: LogSettings, stream: TextIO, clock: Clock) -> Log:
    """A log on `stream`, in the form and from the level that the settings name."""
    if settings.format is LogFormat.JSON:
        return JsonLog(stream, clock, level=settings.level)
    return TextLog(stream, clock, level=settings.level)
