"""Bars for what takes longer than a second: on standard error, on a terminal alone, and gone when it is done."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

__all__ = ["Advance", "show_progress"]

_PATIENCE_SECONDS: Final = 1.0
"""What is done sooner needs no bar."""


class Advance(Protocol):
    """To be told how much is done."""

    def __call__(self, done: int, total: int | None = None) -> None:
        """So much is done, of so much: what was known before, unless a total is given."""
        ...


def _ignore(done: int, total: int | None = None) -> None:  # named as callers may
    """Nobody looks."""


@contextmanager
def show_progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """A bar for the length of a block. Yields what to call with how much is done; without a total it just moves."""
    if not sys.stderr.isatty():
        yield _ignore
        return
    # Most runs show no bar, and start faster without rich.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    # What is printed meanwhile goes above the bar on a terminal, and into a file as ever.
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    progress = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    task = progress.add_task(title, total=total)
    timer = threading.Timer(_PATIENCE_SECONDS, progress.start)
    timer.start()

    def advance(done: int, total: int | None = None) -> None:
        progress.update(task, completed=done, total=total)

    try:
        yield advance
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
