"""What every verb is handed: the settings in force, a clock, a log."""

import sys
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from dray.app.settings import SettingsView, load_settings, system_environment
from dray.errors import InternalError

if TYPE_CHECKING:
    from dray.effects.clock import Clock
    from dray.effects.log import Log

__all__ = ["Session", "get_session", "is_debugging", "open_session"]

_DEBUGGING: Final[ContextVar[bool]] = ContextVar("debugging", default=False)
"""For what words errors without being handed the session."""


@dataclass(frozen=True)
class Session:
    """One run of the command. Clock and log are made when they are first needed: some verbs need neither."""

    view: SettingsView

    @cached_property
    def clock(self) -> "Clock":
        """The machine's clock."""
        from dray.app.sessionwire import wire_clock  # noqa: PLC0415

        return wire_clock()

    @cached_property
    def log(self) -> "Log":
        """What dray tells on standard error."""
        from dray.app.sessionwire import wire_log  # noqa: PLC0415

        return wire_log(self.view.settings, sys.stderr, self.clock)


def open_session(
    ctx: typer.Context, *, file: Path | None, flags: Mapping[str, str], is_debugging: bool = False
) -> None:
    """Read the settings and make the session, for the verb that runs next. Raises SettingsError."""
    _DEBUGGING.set(is_debugging)
    ctx.obj = Session(load_settings(system_environment(), file=file, flags=flags))


def is_debugging() -> bool:
    """Whether errors of this run are printed with their trace."""
    return _DEBUGGING.get()


def get_session(ctx: typer.Context) -> Session:
    """The session that was made before the verb."""
    session = ctx.find_object(Session)
    if session is None:
        raise InternalError("a verb runs without a session")
    return session
