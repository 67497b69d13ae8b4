"""Bars for what takes longer than a second: on standard error, on a terminal alone, and gone when it is done."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["show_progress"]

_PATIENCE_SECONDS: Final = 1.0
"""What is done sooner needs no bar."""


@contextmanager
def show_progress(title: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """A bar for the length of a block. Yields what to call with how much is done; without a total it just moves."""
    if not sys.stderr.isatty():
        yield lambda done: None
        return
    # Most runs show no bar, and start faster without rich.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import Progress  # noqa: PLC0415

    # What is printed meanwhile goes above the bar on a terminal, and into a file as ever.
    progress = Progress(console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    task = progress.add_task(title, total=total)
    timer = threading.Timer(_PATIENCE_SECONDS, progress.start)
    timer.start()
    try:
        yield lambda done: progress.update(task, completed=done)
    finally:
        timer.cancel()
        timer.join()
        progress.stop()
