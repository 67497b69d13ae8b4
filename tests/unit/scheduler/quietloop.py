"""An event loop that knows when nothing is left to do: for tests in one process, whose time stands still."""

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["QuietLoop", "run_quietly"]

T = TypeVar("T")

_MOST_TURNS = 50_000
"""Turns of the loop after which whoever is still at work will never come to rest."""


class _Attentive(selectors.DefaultSelector):
    """Is asked to wait for the world only when nobody has anything to do."""

    def __init__(self) -> None:
        super().__init__()
        self.watching: asyncio.Future[None] | None = None
        self.turns = 0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        watching = self.watching
        if watching is None:
            return super().select(timeout)
        self.turns += 1
        if timeout != 0 or self.turns > _MOST_TURNS:
            self.watching = None
            if self.turns > _MOST_TURNS:
                watching.set_exception(AssertionError("somebody never comes to rest"))
            elif not watching.done():
                watching.set_result(None)
        return super().select(0)


class QuietLoop(asyncio.SelectorEventLoop):
    """The event loop of `run_quietly`. One waits for rest at a time."""

    def __init__(self) -> None:
        self._attentive = _Attentive()
        super().__init__(self._attentive)

    def watch(self) -> asyncio.Future[None]:
        """What is done once nobody can go on before time passes or something is asked for. May be done sooner."""
        assert self._attentive.watching is None
        self._attentive.turns = 0
        self._attentive.watching = self.create_future()
        return self._attentive.watching

    def look_away(self) -> None:
        """Nobody waits for rest any more."""
        self._attentive.watching = None


def run_quietly(work: Coroutine[Any, Any, T]) -> T:
    """Like `asyncio.run`, on a loop that knows when nothing is left to do."""
    with asyncio.Runner(loop_factory=QuietLoop) as runner:
        return runner.run(work)
