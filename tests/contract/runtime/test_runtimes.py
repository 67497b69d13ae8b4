"""What every runtime does alike, and what only real processes do."""

import asyncio
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from dray.api.codec import get_codec
from dray.api.core.kinds import POD
from dray.api.core.pod import Pod
from dray.api.core.probes import ExecAction
from dray.client.port import Channel, Command, LogOptions
from dray.errors import ApiError, BadRequest
from dray.node.runtime.port import CannotStart, ContainerEnd, ContainerOrder, Runtime

PATIENCE_SECONDS = 20.0


def make_pod(*, annotations: dict[str, str] | None = None, **container: Any) -> Pod:
    spec = {"containers": [{"name": "main", "image": "example/app:1"} | container], "nodeName": "node-a"}
    meta = {"name": "p", "namespace": "default", "uid": "3f0c", "annotations": annotations or {}}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    return get_codec(POD, "v1").decode(msgspec.json.encode(body))


class Ended:
    """The end of a container, once it is told."""

    def __init__(self) -> None:
        self._ends: asyncio.Queue[ContainerEnd] = asyncio.Queue()

    def __call__(self, end: ContainerEnd) -> None:
        self._ends.put_nowait(end)

    async def wait(self) -> ContainerEnd:
        return await asyncio.wait_for(self._ends.get(), PATIENCE_SECONDS)


def order(pod: Pod, *words: str, attempt: int = 0, **more: Any) -> ContainerOrder:
    return ContainerOrder(pod=pod, name="main", attempt=attempt, words=words or ("sleep", "600"), **more)


async def read(runtime: Runtime, pod: Pod, **options: Any) -> str:
    pieces = await runtime.open_log(pod, "main", LogOptions(**options))
    async with asyncio.timeout(PATIENCE_SECONDS):
        return b"".join([piece async for piece in pieces]).decode()


async def test_a_container_starts_and_stops_and_tells_its_end_once(runtime: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    assert await runtime.open_sandbox(pod) == await runtime.open_sandbox(pod)
    found = await runtime.start(order(pod), ended)
    assert found.container_id.startswith(runtime.version.partition(":")[0])
    await runtime.stop(found.container_id, 5.0)
    assert (await ended.wait()).exit_code == 143
    await runtime.stop(found.container_id, 5.0)
    await runtime.close_sandbox(pod)
    await runtime.close_sandbox(pod)
    await runtime.forget(pod)
    with pytest.raises(BadRequest):
        await runtime.open_log(pod, "main", LogOptions())


async def test_a_container_that_does_not_stop_is_killed(runtime: Runtime) -> None:
    pod, ended = make_pod(annotations={"sim.dray.dev/stop-seconds": "60"}), Ended()
    await runtime.open_sandbox(pod)
    words = ("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done")
    found = await runtime.start(order(pod, *words), ended)
    if runtime.can_probe:
        await log_has(runtime, pod, "ready")
    await runtime.stop(found.container_id, 0.05)
    assert (await ended.wait()).exit_code == 137


async def test_a_container_that_stops_slowly_can_be_told_again_with_less_time(runtime: Runtime) -> None:
    pod, ended = make_pod(annotations={"sim.dray.dev/stop-seconds": "60"}), Ended()
    await runtime.open_sandbox(pod)
    found = await runtime.start(order(pod, "sh", "-c", "trap '' TERM; echo ready; while :; do sleep 1; done"), ended)
    if runtime.can_probe:
        await log_has(runtime, pod, "ready")
    stopping = asyncio.create_task(runtime.stop(found.container_id, 60.0))
    await asyncio.sleep(0)
    await runtime.stop(found.container_id, 0.0)
    assert (await ended.wait()).exit_code == 137
    await stopping


async def log_has(runtime: Runtime, pod: Pod, text: str) -> None:
    async with asyncio.timeout(PATIENCE_SECONDS):
        async for piece in await runtime.open_log(pod, "main", LogOptions(follow=True)):
            if text in piece.decode():
                return


async def test_the_log_shows_the_environment_that_devices_give(runtime: Runtime) -> None:
    pod, ended = make_pod(annotations={"sim.dray.dev/run-seconds": "0"}), Ended()
    await runtime.open_sandbox(pod)
    asked = order(pod, "env", env={"OWN": "1", "GPU": "none"}, cdi_ids=("example.com/gpu=a",))
    await runtime.start(asked, ended)
    assert (await ended.wait()).exit_code == 0
    lines = (await read(runtime, pod)).splitlines()
    assert "GPU=gpu-a" in lines
    assert "OWN=1" in lines
    assert "GPU=none" not in lines


async def test_an_unknown_device_keeps_a_container_from_being_made(runtime: Runtime) -> None:
    pod = make_pod()
    await runtime.open_sandbox(pod)
    with pytest.raises(CannotStart) as refused:
        await runtime.start(order(pod, cdi_ids=("example.com/gpu=z",)), Ended())
    assert refused.value.reason == "CreateContainerError"
    assert "unresolvable CDI devices example.com/gpu=z" in str(refused.value)


async def test_following_a_log_ends_with_the_container(runtime: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    await runtime.open_sandbox(pod)
    found = await runtime.start(order(pod), ended)
    following = asyncio.create_task(read(runtime, pod, follow=True))
    await runtime.stop(found.container_id, 5.0)
    await following


async def test_the_log_of_the_run_before_is_kept(runtime: Runtime) -> None:
    pod, ended = make_pod(annotations={"sim.dray.dev/run-seconds": "0"}), Ended()
    await runtime.open_sandbox(pod)
    await runtime.start(order(pod, "echo", "first", env={"RUN": "first"}), ended)
    await ended.wait()
    with pytest.raises(BadRequest):
        await runtime.open_log(pod, "main", LogOptions(previous=True))
    await runtime.start(order(pod, "echo", "second", attempt=1, env={"RUN": "second"}), ended)
    await ended.wait()
    assert "first" in await read(runtime, pod, previous=True)
    assert "second" in await read(runtime, pod)


async def test_lines_are_chosen_by_number_and_by_time(processes: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    await processes.open_sandbox(pod)
    await processes.start(order(pod, "sh", "-c", "echo one; echo two >&2; echo three; printf four"), ended)
    await ended.wait()
    assert sorted((await read(processes, pod)).splitlines()) == ["four", "one", "three", "two"]
    assert await read(processes, pod, tail_lines=1) == "four"
    assert await read(processes, pod, tail_lines=0) == ""
    assert await read(processes, pod, since_seconds=3600) != ""
    stamped = await read(processes, pod, timestamps=True, tail_lines=1)
    assert stamped.endswith("Z four")


async def test_exit_codes_and_signals_are_told(processes: Runtime) -> None:
    pod, ended = make_pod(terminationMessagePolicy="FallbackToLogsOnError"), Ended()
    await processes.open_sandbox(pod)
    await processes.start(order(pod, "sh", "-c", "echo gone wrong; exit 7"), ended)
    end = await ended.wait()
    assert (end.exit_code, end.signal, end.message) == (7, 0, "gone wrong")
    await processes.start(order(pod, "sh", "-c", "kill -9 $$", attempt=1), ended)
    end = await ended.wait()
    assert (end.exit_code, end.signal) == (137, 9)


async def test_a_command_that_is_not_there_cannot_start(processes: Runtime) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    with pytest.raises(CannotStart) as refused:
        await processes.start(order(pod, "/nowhere/at-all"), Ended())
    assert refused.value.reason == "RunContainerError"
    with pytest.raises(CannotStart, match="needs a command"):
        await processes.start(ContainerOrder(pod=pod, name="main", attempt=0), Ended())


async def test_a_cpu_driver_decides_on_which_processors_a_process_runs(processes: Runtime) -> None:
    if 0 not in os.sched_getaffinity(0):
        pytest.skip("processor 0 is not ours")
    pod, ended = make_pod(), Ended()
    await processes.open_sandbox(pod)
    words = ("sh", "-c", "grep Cpus_allowed_list /proc/self/status")
    await processes.start(order(pod, *words, cdi_ids=("example.com/gpu=a",)), ended)
    await ended.wait()
    assert (await read(processes, pod)).split() == ["Cpus_allowed_list:", "0"]


async def test_children_of_a_container_end_with_it(processes: Runtime) -> None:
    pod, ended = make_pod(), Ended()
    await processes.open_sandbox(pod)
    await processes.start(order(pod, "sh", "-c", "sleep 600 & echo $!"), ended)
    await ended.wait()
    pid = int(await read(processes, pod))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while is_running(pid):  # noqa: ASYNC110 (the kernel tells nobody but its parent)
            await asyncio.sleep(0.01)


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


async def test_commands_run_beside_a_container(processes: Runtime) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    found = await processes.start(order(pod, env={"OWN": "1"}), Ended())
    assert await processes.run_probe(found.container_id, ExecAction(command=("true",))) == (True, "")
    assert await processes.run_probe(found.container_id, ExecAction(command=("false",))) == (False, "")
    execution = await processes.execute(
        found.container_id, Command(("sh", "-c", "cat; echo $OWN >&2; exit 3"), stdin=True, stdout=True, stderr=True)
    )
    await execution.send(b"hello")
    await execution.end_input()
    said = dict.fromkeys((Channel.STDOUT, Channel.STDERR), b"")
    async for piece in execution.output():
        said[piece.channel] += piece.body
    assert said == {Channel.STDOUT: b"hello", Channel.STDERR: b"1\n"}
    assert await execution.wait() == 3
    await execution.aclose()
    with pytest.raises(ApiError):
        await processes.execute(found.container_id, Command(("/nowhere",), stdout=True))
    await processes.stop(found.container_id, 5.0)


async def test_a_command_can_have_a_terminal(processes: Runtime) -> None:
    pod = make_pod()
    await processes.open_sandbox(pod)
    found = await processes.start(order(pod), Ended())
    execution = await processes.execute(
        found.container_id, Command(("sh", "-c", "read x; stty size; tty"), stdin=True, stdout=True, tty=True)
    )
    await execution.resize(120, 40)
    await execution.send(b"\n")
    said = b"".join([piece.body async for piece in execution.output()])
    assert b"40 120" in said
    assert b"/dev/pts/" in said
    assert await execution.wait() == 0
    await execution.aclose()
    await processes.stop(found.container_id, 5.0)
