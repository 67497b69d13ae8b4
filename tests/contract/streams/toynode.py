"""A node with logs that are given, and containers that understand a few words."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from dray.client.port import Channel, Command, ContainerAddress, Execution, LogOptions, Output
from dray.errors import ApiError, BadRequest

__all__ = ["ToyNode"]


class ToyNode:
    """Answers for the node `toy`. What it was asked for is in `asked`, how many commands run in `running`."""

    def __init__(self) -> None:
        self.logs: dict[str, bytes] = {}
        self.asked: list[tuple[ContainerAddress, LogOptions | Command]] = []
        self.running = 0
        self.followers = 0
        self.is_idle = asyncio.Event()
        """Set once nothing runs any more and nobody follows, after something did."""

    def serves(self, node: str) -> bool:
        return node == "toy"

    async def open_log(self, container: ContainerAddress, options: LogOptions) -> AsyncGenerator[bytes, None]:
        self.asked.append((container, options))
        if container.container not in self.logs:
            name, pod = container.container, container.pod
            raise BadRequest(f'container "{name}" in pod "{pod}" is waiting to start: ContainerCreating')
        return self._read(self.logs[container.container], options)

    async def _read(self, log: bytes, options: LogOptions) -> AsyncGenerator[bytes, None]:
        self.followers += 1
        try:
            for line in log.splitlines(keepends=True)[-(options.tail_lines or 0) :]:
                yield line
            if options.follow:
                await asyncio.Event().wait()
        finally:
            self.followers -= 1
            self.is_idle.set()

    async def start(self, container: ContainerAddress, command: Command) -> Execution:
        self.asked.append((container, command))
        if command.words[0] == "nothing":
            raise BadRequest("nothing runs there")
        return ToyExecution(self, command)


class ToyExecution:
    def __init__(self, node: ToyNode, command: Command) -> None:
        self._node = node
        self._command = command
        self._input: asyncio.Queue[bytes | tuple[int, int] | None] = asyncio.Queue(4)
        self._code: int | ApiError = 0
        self._is_closed = False
        node.running += 1

    async def output(self) -> AsyncGenerator[Output, None]:
        words = self._command.words
        match words:
            case ["say", out, err]:
                yield Output(Channel.STDOUT, out.encode())
                yield Output(Channel.STDERR, err.encode())
            case ["exit", code]:
                self._code = int(code)
            case ["break"]:
                self._code = ApiError("the container went away")
            case ["flood", count]:
                for _ in range(int(count)):
                    yield Output(Channel.STDOUT, b"x" * 32_768)
            case ["size"]:
                size = await self._input.get()
                assert isinstance(size, tuple)
                yield Output(Channel.STDOUT, b"%dx%d" % size)
            case ["cat"]:
                async with aclosing(self._echo()) as pieces:
                    async for piece in pieces:
                        yield piece
            case _:
                await asyncio.Event().wait()

    async def _echo(self) -> AsyncGenerator[Output, None]:
        while (piece := await self._input.get()) is not None:
            assert isinstance(piece, bytes)
            yield Output(Channel.STDOUT, piece)

    async def send(self, piece: bytes) -> None:
        await self._input.put(piece)

    async def end_input(self) -> None:
        await self._input.put(None)

    async def resize(self, width: int, height: int) -> None:
        await self._input.put((width, height))

    async def wait(self) -> int:
        if isinstance(self._code, ApiError):
            raise self._code
        return self._code

    async def aclose(self) -> None:
        self._node.running -= not self._is_closed
        self._node.is_idle.set()
        self._is_closed = True
