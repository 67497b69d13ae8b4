"""kubectl reads logs and runs commands, in every version there is."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dray.server.serving import Address, serve
from tests.contract.streams.test_http import PODS, pod
from tests.contract.streams.toynode import ToyNode
from tests.e2e.kubectl import Done, find_binaries
from tests.golden.server.asgi import open_connection

BINARIES = find_binaries()
SPEAKS_WEBSOCKET = [name for name in BINARIES if name != "1.29"]

Kubectl = Callable[..., Awaitable[Done]]


def play(version: str, home: Path, scene: Callable[[Kubectl, ToyNode], Awaitable[None]]) -> None:
    """Run a scene with kubectl and a server that knows of a node and a pod on it."""

    async def run() -> None:
        node = ToyNode()
        async with open_connection() as server, serve(server.api.application, Address()) as address:
            server.api.desk.nodes.attach(node)
            await server.post("/api/v1/namespaces/default/serviceaccounts", {"metadata": {"name": "default"}})
            await server.post(PODS, pod("web", "toy", "app"))

            async def kubectl(*words: str, stdin: bytes = b"") -> Done:
                process = await asyncio.create_subprocess_exec(
                    BINARIES[version],
                    f"--server=http://{address.host}:{address.port}",
                    *words,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=asyncio.subprocess.PIPE,
                    env={"HOME": str(home)},
                )
                async with asyncio.timeout(60):
                    out, err = await process.communicate(stdin)
                assert process.returncode is not None
                return Done(process.returncode, out.decode(), err.decode())

            await scene(kubectl, node)

    asyncio.run(run())


@pytest.mark.parametrize("version", BINARIES)
def test_logs(version: str, tmp_path: Path) -> None:
    async def scene(kubectl: Kubectl, node: ToyNode) -> None:
        refused = await kubectl("logs", "web")
        assert refused.code == 1
        assert 'container "app" in pod "web" is waiting to start: ContainerCreating' in refused.err
        node.logs["app"] = b"one\ntwo\nthree\n"
        assert await kubectl("logs", "web") == Done(0, "one\ntwo\nthree\n", "")
        assert await kubectl("logs", "web", "--tail=1") == Done(0, "three\n", "")

    play(version, tmp_path, scene)


@pytest.mark.parametrize("version", SPEAKS_WEBSOCKET)
def test_commands(version: str, tmp_path: Path) -> None:
    async def scene(kubectl: Kubectl, node: ToyNode) -> None:
        assert await kubectl("exec", "web", "--", "say", "out", "err") == Done(0, "out", "err")
        assert await kubectl("exec", "-i", "web", "--", "cat", stdin=b"hello") == Done(0, "hello", "")
        failed = await kubectl("exec", "web", "--", "exit", "42")
        assert (failed.code, failed.err) == (42, "command terminated with exit code 42\n")
        refused = await kubectl("exec", "web", "--", "nothing")
        assert refused.code == 1
        assert "nothing runs there" in refused.err

    play(version, tmp_path, scene)


@pytest.mark.parametrize("version", [name for name in BINARIES if name not in SPEAKS_WEBSOCKET])
def test_older_versions_are_told_what_is_needed(version: str, tmp_path: Path) -> None:
    async def scene(kubectl: Kubectl, node: ToyNode) -> None:
        refused = await kubectl("exec", "web", "--", "cat")
        assert refused.code == 1
        assert "streams are served over WebSocket alone, which kubectl speaks since 1.30" in refused.err

    play(version, tmp_path, scene)
