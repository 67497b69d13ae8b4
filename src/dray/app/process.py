"""A process that serves until it is asked to end: its event loop, its signals, and the failure that ended it."""

import asyncio
import gc
import signal
from collections.abc import Coroutine
from typing import Final

import uvloop

__all__ = ["catch_signals", "run_process", "settle_memory", "spare_collector"]

_COLLECT_AFTER: Final = 50_000
"""Objects made before the collector looks for cycles: API objects form none, so looking often is time lost."""

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def run_process(work: Coroutine[None, None, None]) -> None:
    """Run until the work is done. Of failures in groups, the one cause is raised, if it was one."""
    try:
        uvloop.run(work)
    except BaseExceptionGroup as failures:
        raise _find_cause(failures) from failures


def _find_cause(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    """The one failure that ended everything, if it was one."""
    cause: BaseException = failures
    while isinstance(cause, BaseExceptionGroup) and len(cause.exceptions) == 1:
        cause = cause.exceptions[0]
    return cause


def catch_signals() -> asyncio.Event:
    """What is set once the process is asked to end, by Ctrl-C or by SIGTERM. Asked again, it ends at once."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def end() -> None:
        ended.set()
        for each in _SIGNALS:
            loop.remove_signal_handler(each)

    for each in _SIGNALS:
        loop.add_signal_handler(each, end)
    return ended


def spare_collector() -> None:
    """Have nobody look for cycles while everything is being loaded. `settle_memory` ends it."""
    gc.disable()


def settle_memory() -> None:
    """What is there now stays: the collector need not look at it again, and looks at the rest less often.

    Collects first, unless the collector was spared: then what is garbage already stays too, which is little.
    """
    if gc.isenabled():
        gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 20, 100)
    gc.enable()
