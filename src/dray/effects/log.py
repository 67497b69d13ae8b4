"""Logs: a constant message and facts as pairs.

`info` is a state change an operator would tell a colleague, `debug` everything else, `error` means someone must act.
There are no other levels. Objects go in as references, never as bodies. Use the same keys everywhere: `pod claim node
driver pool device revision attempt seconds err`.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Protocol, TextIO

from dray.effects.clock import Clock
from dray.effects.level import Level

__all__ = ["JsonLog", "Level", "Log", "LogEntry", "MemoryLog", "TextLog"]

_PLAIN = re.compile(r"[^\s\"=]+")


class Log(Protocol):
    """Where a shell says what happened."""

    def debug(self, message: str, /, **facts: object) -> None:
        """Something only a developer asks about."""
        ...

    def info(self, message: str, /, **facts: object) -> None:
        """A state change worth telling."""
        ...

    def error(self, message: str, /, **facts: object) -> None:
        """Someone must act."""
        ...


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One line of a log before it is printed."""

    level: Level
    message: str
    facts: dict[str, object] = field(default_factory=dict)


class _LevelledLog:
    """The three verbs, brought together in `_write`."""

    def __init__(self, level: Level) -> None:
        self._level = level

    def debug(self, message: str, /, **facts: object) -> None:
        """Write at `debug`."""
        self._offer(LogEntry(Level.DEBUG, message, facts))

    def info(self, message: str, /, **facts: object) -> None:
        """Write at `info`."""
        self._offer(LogEntry(Level.INFO, message, facts))

    def error(self, message: str, /, **facts: object) -> None:
        """Write at `error`."""
        self._offer(LogEntry(Level.ERROR, message, facts))

    def _offer(self, entry: LogEntry) -> None:
        if self._level.covers(entry.level):
            self._write(entry)

    def _write(self, entry: LogEntry) -> None:
        raise NotImplementedError


class TextLog(_LevelledLog):
    """Lines for people: `2026-01-01T00:00:00.000000Z info claim allocated claim=ml/train-0 devices=3`."""

    def __init__(self, stream: TextIO, clock: Clock, *, level: Level = Level.INFO) -> None:
        super().__init__(level)
        self._stream = stream
        self._clock = clock

    def _write(self, entry: LogEntry) -> None:
        pairs = "".join(f" {name}={_quote_if_needed(str(value))}" for name, value in entry.facts.items())
        self._stream.write(f"{self._clock.now()} {entry.level:<5} {entry.message}{pairs}\n")


class JsonLog(_LevelledLog):
    """One JSON object a line, for machines: `time`, `level`, `message`, then the facts."""

    def __init__(self, stream: TextIO, clock: Clock, *, level: Level = Level.INFO) -> None:
        super().__init__(level)
        self._stream = stream
        self._clock = clock

    def _write(self, entry: LogEntry) -> None:
        line = {"time": str(self._clock.now()), "level": entry.level, "message": entry.message} | entry.facts
        self._stream.write(json.dumps(line, default=str, ensure_ascii=False) + "\n")


class MemoryLog(_LevelledLog):
    """Keeps what was logged, at every level, for tests and for the trail of an internal error."""

    def __init__(self) -> None:
        super().__init__(Level.DEBUG)
        self.entries: list[LogEntry] = []

    def _write(self, entry: LogEntry) -> None:
        self.entries.append(entry)


def _quote_if_needed(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)
