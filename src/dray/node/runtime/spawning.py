"""Starting local processes: with an environment and processors of their own, ended as a whole.

A process is started in a thread that has the processors it is to have, because a child inherits them; and in a session
of its own, so that it can be ended with everything it started.
"""

import asyncio
import errno
import os
import signal
import subprocess
from collections.abc import AsyncGenerator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

__all__ = ["Pieces", "ProcessOrder", "Spawner", "find_cpus", "kill_group", "kill_session", "read_stat", "wait_for_exit"]

_CPUSET_PREFIX: Final = "DRA_CPUSET_"
"""Variables by which CPU drivers tell which processors a container may use."""

_PIECE_BYTES: Final = 32 << 10
_SESSION: Final = 3
"""The field of `/proc/<pid>/stat` that has the session, counted from the state."""

Stream = int | IO[bytes] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessOrder:
    """What to start."""

    words: Sequence[str]
    within: Sequence[str] = ()
    """Words before them, which put the process into namespaces."""
    env: Mapping[str, str]
    folder: str
    cpus: frozenset[int] = frozenset()
    """Processors it may use; empty means those of the agent."""
    stdin: Stream = subprocess.DEVNULL
    stdout: Stream = subprocess.PIPE
    stderr: Stream = subprocess.PIPE
    has_terminal: bool = False
    """Whether stdin is a terminal, which then controls the process."""


class Spawner:
    """Starts processes, one after the other, in a thread that lives as long as it does."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spawner")

    async def spawn(self, order: ProcessOrder) -> subprocess.Popen[bytes]:
        """Start a process. Raises OSError where it cannot be started. One that nobody waits for any more is ended."""
        begun = self._thread.submit(_spawn, order)
        try:
            return await asyncio.wrap_future(begun)
        except asyncio.CancelledError:
            begun.add_done_callback(_discard)
            raise


def _discard(begun: Future[subprocess.Popen[bytes]]) -> None:
    """End a process that was started too late, if it was."""
    if not begun.cancelled() and begun.exception() is None:
        with begun.result() as process:
            kill_session(process.pid)


def _spawn(order: ProcessOrder) -> subprocess.Popen[bytes]:
    usual = os.sched_getaffinity(0)
    # `setsid --ctty` makes the terminal its own; else a new session is enough.
    words = [*(("setsid", "--ctty") if order.has_terminal else ()), *order.within, *order.words]
    try:
        if order.cpus:
            os.sched_setaffinity(0, order.cpus)
        return subprocess.Popen(
            words,
            env=dict(order.env),
            cwd=order.folder,
            stdin=order.stdin,
            stdout=order.stdout,
            stderr=order.stderr,
            start_new_session=not order.has_terminal,
        )
    except ValueError as fault:  # a word, a variable or a path with a zero in it
        raise OSError(errno.EINVAL, str(fault)) from fault
    finally:
        os.sched_setaffinity(0, usual)


def find_cpus(env: Mapping[str, str]) -> frozenset[int]:
    """The processors that variables of CPU drivers name together; none if there are no such variables."""
    sets = [_parse_cpus(value) for name, value in env.items() if name.startswith(_CPUSET_PREFIX)]
    return frozenset().union(*sets)


def _parse_cpus(text: str) -> frozenset[int]:
    """Read `0-3,8`; what is no list of processors is none."""
    cpus: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            return frozenset()
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


async def wait_for_exit(process: subprocess.Popen[bytes]) -> int:
    """Wait until a process has ended; its code, negative for a signal. Nothing of its session outlives it."""
    loop = asyncio.get_running_loop()
    descriptor = os.pidfd_open(process.pid)
    ended = asyncio.Event()
    loop.add_reader(descriptor, ended.set)
    try:
        await ended.wait()
    finally:
        loop.remove_reader(descriptor)
        os.close(descriptor)
    await asyncio.to_thread(kill_session, process.pid)
    return process.wait()


class Pieces:
    """What is written to the other end of a pipe or terminal, as it comes, until nobody has it open any more."""

    def __init__(self, source: int) -> None:
        self._source = source
        self._is_last = False
        self._readable = asyncio.Event()

    def end_when_empty(self) -> None:
        """Whoever counts has ended: wait no longer for those that have the other end open still."""
        self._is_last = True
        self._readable.set()

    async def __aiter__(self) -> AsyncGenerator[bytes, None]:
        loop = asyncio.get_running_loop()
        os.set_blocking(self._source, False)
        loop.add_reader(self._source, self._readable.set)
        try:
            while True:
                await self._readable.wait()
                try:
                    piece = os.read(self._source, _PIECE_BYTES)
                except BlockingIOError:
                    if self._is_last:
                        return
                    self._readable.clear()
                    continue
                except OSError:  # how the end of a terminal shows
                    return
                if not piece:
                    return
                yield piece
                await asyncio.sleep(0)  # who writes without end must not keep others from their turn
        finally:
            loop.remove_reader(self._source)


def kill_group(pid: int, number: int) -> None:
    """Send a signal to a process and what it started in its group. One that is gone is a no-op."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def kill_session(pid: int) -> None:
    """Kill everything that a process started in its session, in whichever group, and the process itself."""
    kill_group(pid, signal.SIGKILL)
    for each in Path("/proc").iterdir():
        if each.name.isdecimal() and read_stat(int(each.name))[_SESSION:][:1] == [str(pid)]:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(int(each.name), signal.SIGKILL)


def read_stat(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing of one that is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []
