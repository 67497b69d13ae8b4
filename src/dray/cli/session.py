"""What every verb is handed: the settings in force, a clock, a log."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from dray.app.settings import SettingsView, load_settings, system_environment
from dray.app.wire import wire_clock, wire_log
from dray.effects.clock import Clock
from dray.effects.log import Log
from dray.errors import InternalError

__all__ = ["Session", "get_session", "open_session"]


@dataclass(frozen=True, slots=True)
class Session:
    """One run of the command."""

    view: SettingsView
    clock: Clock
    log: Log
    is_debugging: bool = False
    """Whether errors are printed with their trace."""


def open_session(
    ctx: typer.Context, *, file: Path | None, flags: Mapping[str, str], is_debugging: bool = False
) -> None:
    """Read the settings and make the session, for the verb that runs next. Raises SettingsError."""
    view = load_settings(system_environment(), file=file, flags=flags)
    clock = wire_clock()
    ctx.obj = Session(view, clock, wire_log(view.settings, sys.stderr, clock), is_debugging)


def get_session(ctx: typer.Context) -> Session:
    """The session that was made before the verb."""
    session = ctx.find_object(Session)
    if session is None:
        raise InternalError("a verb runs without a session")
    return session
