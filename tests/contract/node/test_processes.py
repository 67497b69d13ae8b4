"""Pods whose containers are processes of this machine, from their spec to their end."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from dray.api.core.pod import Pod
from dray.app.housing import MachineHousing
from dray.client.port import ContainerAddress, LogOptions
from dray.node.agent import NodeAgent, NodeParts
from dray.node.registration import NodeFacts
from tests.unit.node.world import World, open_world


@dataclass
class Machine:
    """A node whose containers are processes."""

    world: World
    agent: NodeAgent
    root: Path
    shared: Path
    """A folder that commands of pods may use."""

    async def run(self, name: str, script: str, **more: Any) -> Pod:
        """A pod with one container that runs a script of the shell."""
        container = {"command": ["sh", "-c", script]} | more.pop("container", {})
        return await self.world.add_pod(name, container=container, **more)

    async def log(self, name: str, container: str = "main", **options: Any) -> str:
        uid = (await self.world.pod(name)).metadata.uid
        address = ContainerAddress("node-a", "default", name, uid, container)
        pieces = await self.world.fleet.streams.open_log(address, LogOptions(**options))
        return b"".join([piece async for piece in pieces]).decode()

    async def wait_ready(self, name: str, *, is_ready: bool = True) -> Pod:
        return await self.world.wait(
            name, lambda pod: all(each.ready is is_ready for each in pod.status.container_statuses)
        )


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> AbstractAsyncContextManager[Machine]:
    return open_machine(tmp_path_factory.mktemp("m"), tmp_path)


@asynccontextmanager
async def open_machine(root: Path, shared: Path) -> AsyncIterator[Machine]:
    async with open_world() as world, MachineHousing(root).open("n", world.fleet.around) as house:
        parts = NodeParts(name="node-a", runtime=house.runtime, checkpoint=house.checkpoint, plugin_root=house.root)
        agent = await world.fleet.add_node(NodeFacts("node-a", house.runtime.version), parts)
        yield Machine(world, agent, root / "n", shared)


async def test_a_pod_runs_to_its_end(machine: Machine) -> None:
    await machine.run(
        "p", "echo $NAME; exit 3", spec={"restartPolicy": "Never"}, container={"env": [{"name": "NAME", "value": "me"}]}
    )
    pod = await machine.world.wait_phase("p", "Failed")
    (status,) = pod.status.container_statuses
    assert status.state.terminated is not None
    assert (status.state.terminated.exit_code, status.state.terminated.reason) == (3, "Error")
    assert await machine.log("p") == "me\n"
    (note,) = await machine.world.events("ImageIgnored")
    assert note == 'Image "example/app:1" is not used: the command runs as a process of the node'
    await machine.world.delete("p")
    await machine.world.wait_gone("p")
    await machine.world.until(lambda: list((machine.root / "pods").iterdir()) == [])


async def test_a_container_that_fails_is_restarted_and_its_last_log_kept(machine: Machine) -> None:
    count = machine.shared / "count"
    script = f"echo run >>{count}; n=$(wc -l <{count}); echo run $n; test $n -gt 1 || exit 1; exec sleep 600"
    await machine.run("p", script)
    pod = await machine.world.wait("p", lambda pod: any(each.restart_count for each in pod.status.container_statuses))
    await machine.world.wait_phase("p", "Running")
    last = pod.status.container_statuses[0].last_state.terminated
    assert last is not None
    assert last.exit_code == 1
    await machine.world.until(lambda: has_log(machine, "run 2\n"))
    assert await machine.log("p", previous=True) == "run 1\n"


async def has_log(machine: Machine, want: str) -> bool:
    return await machine.log("p") == want


async def test_init_containers_and_sidecars_keep_their_order(machine: Machine) -> None:
    diary = machine.shared / "diary"

    def note(what: str, then: str = "") -> list[str]:
        return ["sh", "-c", f"echo {what} >>{diary}; {then}"]

    wait = f"trap 'echo side ends >>{diary}; exit 0' TERM; while :; do sleep 0.05; done"
    init = [
        {"name": "one", "image": "a", "command": note("one")},
        {"name": "side", "image": "a", "restartPolicy": "Always", "command": note("side", wait)},
        {"name": "two", "image": "a", "command": note("two", f"until grep -q side {diary}; do sleep 0.05; done")},
    ]
    await machine.run("p", f"echo main >>{diary}", spec={"initContainers": init, "restartPolicy": "Never"})
    await machine.world.wait_phase("p", "Succeeded")
    words = diary.read_text().splitlines()
    assert words[0] == "one"
    assert set(words[1:3]) == {"side", "two"}
    assert words[3:] == ["main", "side ends"]


PROBE = {"periodSeconds": 1, "failureThreshold": 1}


async def test_a_container_is_ready_for_as_long_as_its_probe_says_so(machine: Machine) -> None:
    flag = machine.shared / "flag"
    probe = {"exec": {"command": ["test", "-e", str(flag)]}} | PROBE
    await machine.run("p", "exec sleep 600", container={"readinessProbe": probe})
    await machine.world.wait_phase("p", "Running")
    await machine.wait_ready("p", is_ready=False)
    flag.touch()
    await machine.wait_ready("p")
    flag.unlink()
    await machine.wait_ready("p", is_ready=False)


async def test_a_container_that_is_not_alive_is_restarted(machine: Machine) -> None:
    sick = machine.shared / "sick"
    probe = {"exec": {"command": ["sh", "-c", f"! rm {sick}"]}, "initialDelaySeconds": 0} | PROBE
    await machine.run("p", "exec sleep 600", container={"livenessProbe": probe})
    await machine.world.wait_phase("p", "Running")
    sick.touch()
    await machine.world.wait("p", lambda pod: any(each.restart_count for each in pod.status.container_statuses))
    assert "Container main failed liveness probe, will be restarted" in await machine.world.events("Killing")


async def test_probes_reach_servers(machine: Machine) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readline()
        code = b"200" if b"/well" in first else b"503"
        writer.write(b"HTTP/1.1 " + code + b" X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    async def check(request: StringValue, _: object) -> Int32Value:
        return Int32Value(value=1 if request.value == "well" else 2)

    handler = grpc.unary_unary_rpc_method_handler(
        check, request_deserializer=StringValue.FromString, response_serializer=Int32Value.SerializeToString
    )
    health = grpc.aio.server()
    health.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("grpc.health.v1.Health", {"Check": handler})])
    grpc_port = health.add_insecure_port("127.0.0.1:0")
    await health.start()
    try:
        async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            actions: dict[str, dict[str, Any]] = {
                "http": {"httpGet": {"port": port, "path": "well"}},
                "http-sick": {"httpGet": {"port": port, "path": "/ill"}},
                "tcp": {"tcpSocket": {"port": port}},
                "grpc": {"grpc": {"port": grpc_port, "service": "well"}},
                "grpc-sick": {"grpc": {"port": grpc_port}},
            }
            for name, action in actions.items():
                await machine.run(name, "exec sleep 600", container={"readinessProbe": action | PROBE})
            for name in ("http", "tcp", "grpc"):
                await machine.wait_ready(name)
            await machine.world.until(lambda: has_complaints(machine, 2))
            for name in ("http-sick", "grpc-sick"):
                assert not (await machine.world.pod(name)).status.container_statuses[0].ready
    finally:
        await health.stop(None)
    assert set(await machine.world.events("Unhealthy")) == {
        "Readiness probe failed: HTTP probe failed with statuscode: 503",
        'Readiness probe failed: service unhealthy (responded with "NOT_SERVING")',
    }


async def has_complaints(machine: Machine, count: int) -> bool:
    return len(await machine.world.events("Unhealthy")) >= count


@pytest.mark.parametrize(
    "action",
    [
        {"httpGet": {"host": "a..b", "port": 80}},
        {"httpGet": {"host": "[::1", "port": 80}},
        {"httpGet": {"port": 1, "httpHeaders": [{"name": "X", "value": "a\r\nb"}]}},
        {"httpGet": {"port": 1, "path": "/%zz"}},
        {"tcpSocket": {"host": "a" * 70, "port": 80}},
        {"tcpSocket": {"port": "nobody"}},
        {"exec": {"command": ["/no/where"]}},
        {"exec": {"command": ["echo", "\0"]}},
        {"grpc": {"port": 1}},
    ],
)
async def test_a_probe_that_cannot_succeed_fails_and_harms_nobody(machine: Machine, action: dict[str, Any]) -> None:
    await machine.run("p", "exec sleep 600", container={"readinessProbe": action | PROBE})
    await machine.world.until(lambda: has_complaints(machine, 1))
    await machine.run("q", "exec sleep 600")
    await machine.world.wait_phase("q", "Running")


async def test_hooks_run_at_the_start_and_before_the_end(machine: Machine) -> None:
    diary = machine.shared / "diary"

    def note(what: str) -> dict[str, Any]:
        return {"exec": {"command": ["sh", "-c", f"echo {what} >>{diary}"]}}

    script = f"trap 'echo told >>{diary}; exit 0' TERM; while :; do sleep 0.05; done"
    hooks = {"postStart": note("start"), "preStop": note("stop")}
    await machine.run("p", script, container={"lifecycle": hooks})
    await machine.world.until(diary.exists)
    await machine.world.delete("p")
    await machine.world.wait_gone("p")
    assert diary.read_text().split() == ["start", "stop", "told"]


async def test_a_container_is_told_with_the_signal_it_wants_and_killed_when_its_time_is_up(machine: Machine) -> None:
    ready = machine.shared / "ready"
    script = f"trap 'exit 7' USR1; trap '' TERM; touch {ready}; while :; do sleep 0.05; done"
    spec = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": 2,
        "terminationGracePeriodSeconds": 1,
        "os": {"name": "linux"},
    }
    await machine.run("polite", script, spec=spec, container={"lifecycle": {"stopSignal": "SIGUSR1"}})
    await machine.run("stubborn", script, spec=spec)
    for name, code in (("polite", 7), ("stubborn", 137)):
        pod = await machine.world.wait_phase(name, "Failed")
        assert pod.status.reason == "DeadlineExceeded"
        ended = pod.status.container_statuses[0].state.terminated
        assert ended is not None
        assert ended.exit_code == code
