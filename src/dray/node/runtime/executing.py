"""A command that runs beside a container, with its streams: over pipes, or on a terminal."""

import asyncio
import fcntl
import os
import pty
import struct
import subprocess
import termios
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

from dray.client.port import Channel, Command, Output
from dray.errors import ApiError
from dray.node.runtime.spawning import Pieces, ProcessOrder, Spawner, kill_session, wait_for_exit

__all__ = ["ProcessExecution", "start_execution"]

_MOST_WAITING: Final = 64
"""Pieces that wait for a reader; a command that writes faster waits, too."""


async def start_execution(spawner: Spawner, order: ProcessOrder, command: Command) -> "ProcessExecution":
    """Start a command. Raises ApiError in the words of container runtimes where there is no such program."""
    terminal: tuple[int, int] | None = pty.openpty() if command.tty else None
    if terminal is not None:
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), terminal[1])
    else:
        streams = {
            "stdin": subprocess.PIPE if command.stdin else subprocess.DEVNULL,
            "stdout": subprocess.PIPE if command.stdout else subprocess.DEVNULL,
            "stderr": subprocess.PIPE if command.stderr else subprocess.DEVNULL,
        }
    try:
        process = await spawner.spawn(
            ProcessOrder(
                words=command.words,
                within=order.within,
                env={"TERM": "xterm", **order.env} if command.tty else order.env,
                folder=order.folder,
                cpus=order.cpus,
                stdin=streams["stdin"],
                stdout=streams["stdout"],
                stderr=streams["stderr"],
                has_terminal=command.tty,
            )
        )
    except OSError as fault:
        if terminal is not None:
            os.close(terminal[0])
        raise ApiError(f'exec: "{command.words[0]}": {fault.strerror or fault}') from fault
    finally:
        if terminal is not None:
            os.close(terminal[1])
    return ProcessExecution(process, terminal[0] if terminal is not None else None)


class ProcessExecution:
    """See `Execution`. Owns the process and the ends of its streams."""

    def __init__(self, process: subprocess.Popen[bytes], terminal: int | None) -> None:
        self._process = process
        self._terminal = terminal
        self._exit: asyncio.Task[int] = asyncio.ensure_future(wait_for_exit(process))
        self._is_closed = False
        self._pieces: asyncio.Queue[Output | None] = asyncio.Queue(_MOST_WAITING)
        self._pumps: list[asyncio.Task[None]] = []
        self._sending = asyncio.Lock()  # whoever has it uses the command's input
        for each in (process.stdin.fileno() if process.stdin is not None else None, terminal):
            if each is not None:
                os.set_blocking(each, False)

    async def output(self) -> AsyncGenerator[Output, None]:
        """See `Execution.output`."""
        streams = {channel: Pieces(source) for channel, source in self._list_sources()}
        self._pumps = [asyncio.ensure_future(_pump(*each, self._pieces)) for each in streams.items()]

        def end_streams(_: asyncio.Task[int]) -> None:
            for stream in streams.values():
                stream.end_when_empty()

        self._exit.add_done_callback(end_streams)
        try:
            open_ones = len(self._pumps)
            while open_ones and not self._is_closed:
                piece = await self._pieces.get()
                if piece is None:
                    open_ones -= 1
                else:
                    yield piece
            await asyncio.shield(self._exit)
        finally:
            await self._stop_pumps()

    def _list_sources(self) -> list[tuple[Channel, int]]:
        if self._terminal is not None:
            return [(Channel.STDOUT, self._terminal)]
        pipes = ((Channel.STDOUT, self._process.stdout), (Channel.STDERR, self._process.stderr))
        return [(channel, pipe.fileno()) for channel, pipe in pipes if pipe is not None]

    async def _stop_pumps(self) -> None:
        for each in self._pumps:
            each.cancel()
        await asyncio.gather(*self._pumps, return_exceptions=True)

    async def send(self, piece: bytes) -> None:
        """See `Execution.send`."""
        async with self._sending:
            target = self._terminal if self._terminal is not None else self._stdin()
            rest = memoryview(piece)
            while rest and target is not None and not self._exit.done():
                try:
                    rest = rest[os.write(target, rest) :]
                except BlockingIOError:
                    await self._wait_writable(target)
                except OSError:  # nobody reads any more
                    return

    async def _wait_writable(self, target: int) -> None:
        """Wait until there is room, or nobody left to make any."""
        loop, writable = asyncio.get_running_loop(), asyncio.Event()
        loop.add_writer(target, writable.set)
        waiting = asyncio.ensure_future(writable.wait())
        try:
            await asyncio.wait([waiting, self._exit], return_when=asyncio.FIRST_COMPLETED)
        finally:
            loop.remove_writer(target)
            waiting.cancel()

    def _stdin(self) -> int | None:
        stdin = self._process.stdin
        return None if stdin is None or stdin.closed else stdin.fileno()

    async def end_input(self) -> None:
        """See `Execution.end_input`; on a terminal, that is ctrl-D."""
        if self._terminal is not None:
            await self.send(b"\x04")
        elif self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    async def resize(self, width: int, height: int) -> None:
        """See `Execution.resize`."""
        if self._terminal is not None:
            with suppress(OSError):
                fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    async def wait(self) -> int:
        """See `Execution.wait`."""
        code = await asyncio.shield(self._exit)
        return code if code >= 0 else 128 - code

    async def aclose(self) -> None:
        """See `Execution.aclose`."""
        if self._is_closed:
            return
        self._is_closed = True
        kill_session(self._process.pid)
        await asyncio.shield(self._exit)
        await self._stop_pumps()
        while not self._pieces.empty():
            self._pieces.get_nowait()
        self._pieces.put_nowait(None)  # whoever waits for output finds that there is no more
        async with self._sending:
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()
            if self._terminal is not None:
                os.close(self._terminal)
                self._terminal = None


async def _pump(channel: Channel, stream: Pieces, pieces: "asyncio.Queue[Output | None]") -> None:
    """Read to the end, and say so."""
    async for body in stream:
        await pieces.put(Output(channel, body))
    await pieces.put(None)
