"""Processes that do what containers should not."""

import asyncio
import os
import signal
from contextlib import aclosing
from pathlib import Path

import pytest

from dray.client.port import Command, LogOptions
from dray.errors import ApiError, BadRequest
from dray.node.runtime.port import CannotStart, Runtime
from tests.contract.runtime.conftest import process
from tests.contract.runtime.test_runtimes import PATIENCE_SECONDS, Ended, is_running, make_pod, order, read


async def text_of(runtime: Runtime, container_id: str, *words: str) -> str:
    """What a command says."""
    execution = await runtime.execute(container_id, Command(words, stdout=True))
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(execution):
        return b"".join([piece.body async for piece in execution.output()]).decode()


async def wait_until_gone(pid: int) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while is_running(pid):  # noqa: ASYNC110 (the kernel tells nobody but its parent)
            await asyncio.sleep(0.01)


async def test_a_daemon_that_left_the_session_does_not_hold_up_the_end(processes: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    words = ("sh", "-c", "setsid sleep 600 & echo $!")
    await processes.open_sandbox(pod)
    await processes.start(order(pod, *words), ended)
    assert (await ended.wait()).exit_code == 0
    daemons = [int(await read(processes, pod))]
    found = await processes.start(order(pod, attempt=1), ended)
    daemons.append(int(await text_of(processes, found.container_id, *words)))
    await processes.stop(found.container_id, 0)
    for pid in daemons:
        os.kill(pid, signal.SIGKILL)


async def test_jobs_in_groups_of_their_own_end_with_a_container(processes: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    await processes.open_sandbox(pod)
    await processes.start(order(pod, "sh", "-c", "set -m; sleep 600 & echo $!"), ended)
    assert (await ended.wait()).exit_code == 0
    await wait_until_gone(int(await read(processes, pod)))


async def test_who_writes_without_end_leaves_others_their_turn(processes: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    await processes.open_sandbox(pod)
    found = await processes.start(order(pod, "yes"), ended)
    assert await text_of(processes, found.container_id, "echo", "hello") == "hello\n"
    async with aclosing(await processes.open_log(pod, "main", LogOptions(follow=True))) as pieces:
        assert (await anext(pieces)).startswith(b"y\ny\n")
    await processes.stop(found.container_id, 5.0)
    assert (await ended.wait()).exit_code == 143


@pytest.mark.parametrize(
    ("words", "env", "folder", "want"),
    [
        (("echo", "a\0b"), {}, "", "embedded null byte"),
        (("env",), {"A": "\0"}, "", "embedded null byte"),
        (("env",), {}, "/no/where", "No such file or directory /no/where"),
        (("/tmp",), {}, "", "Permission denied"),
    ],
)
async def test_what_cannot_be_started_is_told(
    processes: Runtime, words: tuple[str, ...], env: dict[str, str], folder: str, want: str
) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    with pytest.raises(CannotStart, match=want) as refused:
        await processes.start(order(pod, *words, env=env, working_dir=folder), Ended())
    assert refused.value.reason == "RunContainerError"


async def test_a_command_with_a_zero_in_it_is_refused(processes: Runtime) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    found = await processes.start(order(pod), Ended())
    with pytest.raises(ApiError, match="embedded null byte"):
        await processes.execute(found.container_id, Command(("echo", "\0"), stdout=True))
    await processes.stop(found.container_id, 0)


@pytest.mark.parametrize("has_terminal", [False, True])
async def test_much_input_arrives_whole(processes: Runtime, has_terminal: bool) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    found = await processes.start(order(pod), Ended())
    words = ("sh", "-c", ("stty raw -echo; " if has_terminal else "") + "echo ready; head -c 500000 | wc -c")
    execution = await processes.execute(found.container_id, Command(words, stdin=True, stdout=True, tty=has_terminal))
    async with asyncio.timeout(PATIENCE_SECONDS), aclosing(execution):
        output = execution.output()
        assert b"ready" in (await anext(output)).body
        await execution.send(b"x" * 500_000)
        assert b"".join([piece.body async for piece in output]).split() == [b"500000"]
    await processes.stop(found.container_id, 0)


async def test_giving_a_command_up_ends_whatever_waits_for_it(processes: Runtime) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    found = await processes.start(order(pod), Ended())
    execution = await processes.execute(found.container_id, Command(("sleep", "600"), stdin=True, stdout=True))
    sending = asyncio.ensure_future(execution.send(b"x" * 1_000_000))
    reading = asyncio.ensure_future(anext(execution.output(), None))
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE_SECONDS):
        await execution.aclose()
        await sending
        assert await reading is None
    await processes.stop(found.container_id, 0)


async def test_logs_outlive_the_agent_and_go_with_their_pod(tmp_path: Path) -> None:
    pod, ended = make_pod(), Ended()
    async with process(tmp_path) as before:
        await before.open_sandbox(pod)
        for attempt in range(3):
            await before.start(order(pod, "echo", f"run {attempt}", attempt=attempt), ended)
            await ended.wait()
    async with process(tmp_path) as after:
        assert await read(after, pod) == "run 2\n"
        assert await read(after, pod, previous=True) == "run 1\n"
        await after.start(order(pod, "echo", "run 3", attempt=3), ended)
        await ended.wait()
        assert await read(after, pod, previous=True) == "run 2\n"
        await after.forget_others([pod.metadata.uid])
        assert await read(after, pod) == "run 3\n"
    async with process(tmp_path) as last:
        await last.forget_others([])
        with pytest.raises(BadRequest):
            await last.open_log(pod, "main", LogOptions())
    assert not any((tmp_path / "pods").iterdir())
