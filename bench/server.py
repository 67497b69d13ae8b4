"""The API server in a process of its own, over TLS, on an empty data directory.

Rates are over 16 connections. The load generator runs beside the server: on two cores it takes a part of what is
measured, most of all with a thousand watchers. References are kube-apiserver 1.37 and etcd, measured by wrk.
"""

import asyncio
import json
import re
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import uvloop

from bench._load import Server, connect, open_watches, read_kubeconfig, run_requests

COMMAND = [sys.executable, "-m", "dray", "up"]
CONNECTIONS = 16
CREATES = 10_000
GETS = 20_000
LISTS = 500
LISTED = 500
WATCHERS = 1_000
WRITES_PER_SECOND = 100
WATCHED_WRITES = 1_000
START_SECONDS = 30.0

CLAIMS = "/apis/resource.k8s.io/v1/namespaces/{}/resourceclaims"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"

GOALS = {
    "server: ready, empty store": 1_000,
    "server: memory, idle": 120,
    "server: claims created, durably": 3_000,
    "server: memory, 10,000 claims": 250,
    "server: gets of a pod": 6_000,
    "server: lists of 500 claims": 500,
    f"server: {WATCHERS} watchers, {WRITES_PER_SECOND} writes/s, p99": 250,
}
REFERENCES = {
    "server: ready, empty store": 2_800,
    "server: memory, idle": 432,
    "server: claims created, durably": 1_349,
    "server: gets of a pod": 2_556,
    "server: lists of 500 claims": 254,
}

Rows = list[tuple[str, float, str]]


class Running(NamedTuple):
    """A server that answers."""

    process: subprocess.Popen[bytes]
    server: Server
    ready_milliseconds: float

    @property
    def memory_mib(self) -> float:
        """What is resident now."""
        status = Path(f"/proc/{self.process.pid}/status").read_text(encoding="utf-8")
        found = re.search(r"^VmRSS:\s+(\d+) kB", status, re.MULTILINE)
        return int(found[1]) / 1024 if found else 0.0


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def running_server(folder: Path) -> Iterator[Running]:
    kubeconfig = folder / "kubeconfig"
    options = ["--only", "apiserver", "--data-dir", str(folder / "data"), "--port", str(_free_port())]
    begin = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, *options, "--kubeconfig-out", str(kubeconfig)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        server = asyncio.run(_wait_until_ready(process, kubeconfig, begin + START_SECONDS))
        yield Running(process, server, (time.perf_counter() - begin) * 1000)
    finally:
        process.kill()
        process.wait()


async def _wait_until_ready(process: subprocess.Popen[bytes], kubeconfig: Path, deadline: float) -> Server:
    while process.poll() is None and time.perf_counter() < deadline:
        try:
            server = read_kubeconfig(kubeconfig)
            (connection,) = await connect(server, 1)
            answer = await connection.ask(server.head("GET", "/readyz"))
            connection.close()
            if answer.code == 200:
                return server
        except (OSError, TypeError, KeyError):
            pass  # not written or not listening yet
        await asyncio.sleep(0.01)
    raise RuntimeError("the server does not come up")


def _claim(number: int) -> bytes:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}
    claim = {"metadata": {"name": f"claim-{number}"}, "spec": {"devices": {"requests": [request]}}}
    return json.dumps({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim"} | claim).encode()


def _pod() -> bytes:
    container = {"name": "main", "image": "registry.example/app:1", "resources": {"requests": {"cpu": "100m"}}}
    pod = {"metadata": {"name": "pod-0", "labels": {"app": "bench"}}, "spec": {"containers": [container]}}
    return json.dumps({"apiVersion": "v1", "kind": "Pod"} | pod).encode()


def _namespace(name: str) -> bytes:
    return json.dumps({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).encode()


async def _measure_requests(running: Running) -> Rows:
    server = running.server
    connections = await connect(server, CONNECTIONS)
    few, many = (CLAIMS.format(namespace) for namespace in ("default", "many"))
    await run_requests(connections[:1], [server.head("POST", "/api/v1/namespaces", _namespace("many"))], 201)
    pods = "/api/v1/namespaces/default/pods"
    await run_requests(connections[:1], [server.head("POST", pods, _pod())], 201)
    await run_requests(connections, [server.head("POST", few, _claim(number)) for number in range(LISTED)], 201)
    creating = await run_requests(
        connections, [server.head("POST", many, _claim(number)) for number in range(CREATES)], 201
    )
    memory = running.memory_mib
    getting = await run_requests(connections, [server.head("GET", f"{pods}/pod-0")] * GETS, 200)
    listing = await run_requests(connections, [server.head("GET", few)] * LISTS, 200)
    for connection in connections:
        connection.close()
    return [
        ("server: claims created, durably", 1 / creating, "/s"),
        ("server: memory, 10,000 claims", memory, "MiB"),
        ("server: gets of a pod", 1 / getting, "/s"),
        ("server: lists of 500 claims", 1 / listing, "/s"),
    ]


def _config_map(number: int) -> bytes:
    metadata = {"name": f"w-{number}"}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "b"}}).encode()


async def _measure_watches(server: Server) -> Rows:
    """The time from sending a write to reading its event, over all watchers and writes."""
    sent: dict[bytes, float] = {}
    delays: list[float] = []
    is_complete = asyncio.Event()

    def note(numbers: list[bytes]) -> None:
        now = time.perf_counter()
        delays.extend(now - sent[number] for number in numbers)
        if len(delays) >= WATCHED_WRITES * WATCHERS:
            is_complete.set()

    watchers = await open_watches(server, f"{CONFIG_MAPS}?watch=true&resourceVersion=0", WATCHERS, note)
    (writer,) = await connect(server, 1)
    begin = time.perf_counter()
    for number in range(WATCHED_WRITES):
        await asyncio.sleep(max(0.0, begin + number / WRITES_PER_SECOND - time.perf_counter()))
        sent[b"%d" % number] = time.perf_counter()
        await run_requests([writer], [server.head("POST", CONFIG_MAPS, _config_map(number))], 201)
    with suppress(TimeoutError):
        await asyncio.wait_for(is_complete.wait(), 10)
    want = list(sent)
    wrong = sum(watcher.numbers != want for watcher in watchers)
    for watcher in watchers:
        watcher.close()
    if wrong:
        raise RuntimeError(f"{wrong} of {WATCHERS} watchers did not get every event once and in order")
    delays.sort()
    name = f"server: {WATCHERS} watchers, {WRITES_PER_SECOND} writes/s, p99"
    return [(name, delays[len(delays) * 99 // 100] * 1000, "ms")]


def measure() -> Rows:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    Path("build").mkdir(exist_ok=True)  # the system's own place for such folders may be in memory
    with tempfile.TemporaryDirectory(dir="build") as folder, running_server(Path(folder)) as running:
        rows: Rows = [
            ("server: ready, empty store", running.ready_milliseconds, "ms"),
            ("server: memory, idle", running.memory_mib, "MiB"),
        ]
        rows += uvloop.run(_measure_requests(running))
        rows += uvloop.run(_measure_watches(running.server))
    return rows
