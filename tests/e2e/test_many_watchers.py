"""Watchers that do not read, and very many that do."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.servers import running_server
from tests.e2e.wire import Wire
from tests.golden.server.asgi import Connection, open_connection

MAPS = "/api/v1/namespaces/default/configmaps"
JSON, MERGE = "application/json", "application/merge-patch+json"
LARGE_BYTES = 200_000
CHANGES = 250
"""Of large objects: more than the server keeps at hand for watchers."""


def config_map(name: str, text: str = "") -> bytes:
    return json.dumps({"metadata": {"name": name}, "data": {"text": text}}).encode()


def read_lines(wire: Wire) -> Iterator[dict[str, Any]]:
    """The events of a watch until the server ends it."""
    with wire.socket.makefile("rb") as file:
        while file.readline().strip():
            pass  # the head
        while size := int(file.readline(), 16):
            piece = file.read(size + 2)
            while not piece.endswith(b"\n\r\n"):
                piece = piece[:-2] + file.read(int(file.readline(), 16) + 2)
            for line in piece.splitlines():
                if line:
                    yield json.loads(line)


def steps_of(events: list[dict[str, Any]]) -> list[int]:
    return [int(each["object"]["metadata"]["annotations"]["step"]) for each in events]


def memory_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS:"))


def test_watchers_that_do_not_read_hold_up_nobody(tmp_path: Path) -> None:
    with running_server(tmp_path) as (kubeconfig, server), Wire(kubeconfig) as writer:
        created = json.loads(writer.ask(f"POST {MAPS}", config_map("large", "x" * LARGE_BYTES), Content_Type=JSON).body)
        watch = f"GET {MAPS}?watch=true&fieldSelector=metadata.name%3Dlarge"
        watch += f"&resourceVersion={created['metadata']['resourceVersion']}"
        slow = [Wire(kubeconfig, receive_buffer=4096) for _ in range(10)]
        for each in slow:
            each.send(watch)
        told: list[dict[str, Any]] = []
        with Wire(kubeconfig) as reader:
            reader.send(watch)

            def listen() -> None:
                for event in read_lines(reader):
                    told.append(event)
                    if len(told) == CHANGES:
                        return

            listening = threading.Thread(target=listen)
            listening.start()
            before = memory_mib(server.pid)
            for step in range(CHANGES):
                patch = json.dumps({"metadata": {"annotations": {"step": str(step)}}}).encode()
                assert writer.ask(f"PATCH {MAPS}/large", patch, Content_Type=MERGE).code == 200
            listening.join(timeout=60)
        assert steps_of(told) == list(range(CHANGES))
        assert memory_mib(server.pid) - before < 200
        for each in slow:
            with each:
                *events, last = read_lines(each)
                assert steps_of(events) == list(range(len(events)))
                assert last["type"] == "ERROR"
                assert (last["object"]["code"], last["object"]["reason"]) == (410, "Expired")


async def watch_once(server: Connection, query: bytes, told: list[bytes], enough: asyncio.Event) -> None:
    """One watcher of the application, until `enough`."""

    async def receive() -> dict[str, Any]:
        await enough.wait()
        return {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        if message.get("body"):
            told.append(message["body"])

    scope = {"type": "http", "method": "GET", "path": MAPS, "query_string": query, "headers": [], "state": {}}
    await server.api.application(scope, receive, send)


def test_ten_thousand_watchers_hear_every_change_once() -> None:
    count, changes = 10_000, 2

    async def scene() -> None:
        enough = asyncio.Event()
        told: list[list[bytes]] = [[] for _ in range(count)]
        async with open_connection() as server, asyncio.TaskGroup() as tasks:
            for each in told:
                tasks.create_task(
                    watch_once(server, b"watch=true&resourceVersion=1&allowWatchBookmarks=true", each, enough)
                )
            for number in range(changes):
                assert (await server.post(MAPS, json.loads(config_map(f"c{number}")))).code == 201
            async with asyncio.timeout(60):
                while any(b"".join(each).count(b"\n") < changes for each in told):  # noqa: ASYNC110  # nothing tells
                    await asyncio.sleep(0.02)
            enough.set()
        want = [f"c{number}" for number in range(changes)]
        for each in told:
            events = [json.loads(line) for line in b"".join(each).splitlines()]
            assert [event["object"]["metadata"]["name"] for event in events] == want

    asyncio.run(scene())


@pytest.mark.soak
def test_ten_thousand_connections_hear_every_change_once(tmp_path: Path) -> None:
    with running_server(tmp_path) as (kubeconfig, server):
        watchers = [Wire(kubeconfig) for _ in range(10_000)]
        for each in watchers:
            each.send(f"GET {MAPS}?watch=true&resourceVersion=1&labelSelector=part%3Dtest")
        body = {"metadata": {"name": "a", "labels": {"part": "test"}}}
        with Wire(kubeconfig) as writer:
            assert writer.ask(f"POST {MAPS}", json.dumps(body).encode(), Content_Type=JSON).code == 201
        for each in watchers:
            assert next(read_lines(each))["object"]["metadata"]["name"] == "a"
            each.socket.close()
        assert memory_mib(server.pid) < 2_000
        with Wire(kubeconfig) as other:
            assert other.ask("GET /readyz").code == 200
