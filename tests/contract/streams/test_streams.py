"""What every way to the containers of a node does."""

import asyncio
from contextlib import aclosing

import pytest
from msgspec.structs import replace

from dray.client.port import Channel, Command, ContainerAddress, Execution, LogOptions, Output
from dray.errors import ApiError, BadRequest
from dray.values.times import Time
from tests.contract.streams.conftest import Way

APP = ContainerAddress("toy", "default", "web 0/β", "uid-1", "app")


async def read(execution: Execution) -> list[Output]:
    return [piece async for piece in execution.output()]


async def text(execution: Execution) -> bytes:
    return b"".join(piece.body for piece in await read(execution))


async def until_idle(way: Way) -> None:
    """Wait for what happens after a connection has ended."""
    async with asyncio.timeout(10):
        await way.node.is_idle.wait()


async def test_logs_are_read_to_their_end(way: Way) -> None:
    way.node.logs["app"] = b"one\ntwo\n"
    pieces = await way.streams.open_log(APP, LogOptions())
    assert b"".join([piece async for piece in pieces]) == b"one\ntwo\n"


async def test_all_options_of_logs_arrive(way: Way) -> None:
    way.node.logs["app"] = b""
    options = LogOptions(previous=True, timestamps=True, tail_lines=7, since_time=Time(1_700_000_000), limit_bytes=5)
    async with aclosing(await way.streams.open_log(APP, options)) as pieces:
        assert [piece async for piece in pieces] == []
    (container, asked), *_ = way.node.asked
    assert asked == options
    assert (container.namespace, container.pod, container.container) == ("default", "web 0/β", "app")


async def test_a_followed_log_goes_on_until_it_is_closed(way: Way) -> None:
    way.node.logs["app"] = b"one\n"
    async with aclosing(await way.streams.open_log(APP, LogOptions(follow=True))) as pieces:
        assert await anext(pieces) == b"one\n"
        assert way.node.followers == 1
    await until_idle(way)
    assert way.node.followers == 0


async def test_a_refused_log_says_why_before_its_first_piece(way: Way) -> None:
    with pytest.raises(BadRequest, match=r'container "app" in pod ".*" is waiting to start'):
        await way.streams.open_log(APP, LogOptions())


async def test_outputs_come_apart_and_then_the_exit_code(way: Way) -> None:
    command = Command(("say", "out", "err"), stdout=True, stderr=True)
    async with aclosing(await way.streams.start(APP, command)) as execution:
        assert await read(execution) == [Output(Channel.STDOUT, b"out"), Output(Channel.STDERR, b"err")]
        assert await execution.wait() == 0
    ((container, asked),) = way.node.asked
    # An agent of several nodes is not told which one is meant.
    assert container in (APP, replace(APP, node=""))
    assert asked == command


async def test_exit_codes_are_told(way: Way) -> None:
    async with aclosing(await way.streams.start(APP, Command(("exit", "42"), stdout=True))) as execution:
        assert await read(execution) == []
        assert await execution.wait() == 42


async def test_input_is_passed_until_it_ends(way: Way) -> None:
    async with aclosing(await way.streams.start(APP, Command(("cat",), stdin=True, stdout=True))) as execution:
        reading = asyncio.ensure_future(text(execution))
        for number in range(100):
            await execution.send(b"%d," % number)
        await execution.end_input()
        assert await reading == b"".join(b"%d," % number for number in range(100))


async def test_a_terminal_hears_of_its_size(way: Way) -> None:
    command = Command(("size",), stdin=True, stdout=True, tty=True)
    async with aclosing(await way.streams.start(APP, command)) as execution:
        await execution.resize(120, 40)
        assert await text(execution) == b"120x40"


async def test_much_output_arrives_whole(way: Way) -> None:
    async with aclosing(await way.streams.start(APP, Command(("flood", "100"), stdout=True))) as execution:
        assert len(await text(execution)) == 3_276_800


async def test_a_refused_command_says_why(way: Way) -> None:
    with pytest.raises(BadRequest, match="nothing runs there"):
        await way.streams.start(APP, Command(("nothing",), stdout=True))


async def test_a_command_that_breaks_off_says_why(way: Way) -> None:
    async with aclosing(await way.streams.start(APP, Command(("break",), stdout=True))) as execution:
        assert await read(execution) == []
        with pytest.raises(ApiError, match="the container went away"):
            await execution.wait()


async def test_closing_ends_a_command(way: Way) -> None:
    async with aclosing(await way.streams.start(APP, Command(("sleep",), stdout=True))):
        assert way.node.running == 1
    await until_idle(way)
    assert way.node.running == 0
