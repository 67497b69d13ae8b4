"""A server is killed under load, again and again: what it acknowledged is there, and watchers go on where they were."""

import json
import signal
import threading
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from dray.effects.entropy import SeededEntropy
from tests.e2e.servers import start_server
from tests.e2e.test_many_watchers import JSON, MAPS, MERGE, read_lines
from tests.e2e.wire import Wire
from tools.conformance_server import find_server

WRITERS = 4
SELECTED = "labelSelector=part%3Dkill"


class Writer:
    """Counts in an object of its own: 0 creates it, every later number is a patch. Ends with the server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.acknowledged = -1
        self.tried = -1

    def write(self, kubeconfig: Path, count_down: threading.Semaphore) -> None:
        try:
            with Wire(kubeconfig) as wire:
                while True:
                    self.tried = self.acknowledged + 1
                    assert self._write_next(wire) in (200, 201)
                    self.acknowledged = self.tried
                    count_down.release()
        except (OSError, HTTPException):
            count_down.release()  # the server is gone

    def _write_next(self, wire: Wire) -> int:
        metadata = {"name": self.name, "labels": {"part": "kill"}}
        body = json.dumps({"metadata": metadata, "data": {"n": str(self.tried)}}).encode()
        if self.tried == 0:
            return wire.ask(f"POST {MAPS}", body, Content_Type=JSON).code
        return wire.ask(f"PATCH {MAPS}/{self.name}", body, Content_Type=MERGE).code


class Watcher:
    """What one client saw of all of it, over all lives of the server."""

    def __init__(self) -> None:
        self.version = "1"
        self.seen: dict[str, list[int]] = {}

    def listen(self, kubeconfig: Path, until: str = "") -> None:
        """Follow until the server is gone, or until a version is reached."""
        try:
            with Wire(kubeconfig) as wire:
                wire.send(f"GET {MAPS}?watch=true&{SELECTED}&resourceVersion={self.version}")
                for event in read_lines(wire):
                    self._hear(event)
                    if self.version == until:
                        return
        except (OSError, ValueError):  # ValueError: the stream ends in the middle of a line
            return

    def _hear(self, event: dict[str, Any]) -> None:
        assert event["type"] in ("ADDED", "MODIFIED"), event
        metadata = event["object"]["metadata"]
        assert int(metadata["resourceVersion"]) > int(self.version)
        self.version = metadata["resourceVersion"]
        self.seen.setdefault(metadata["name"], []).append(int(event["object"]["data"]["n"]))


def write_until_killed(folder: Path, port: int, round_: int, watcher: Watcher) -> list[Writer]:
    kubeconfig, server = start_server(folder, port)
    written = threading.Semaphore(0)
    writers = [Writer(f"r{round_}-{each}") for each in range(WRITERS)]
    threads = [threading.Thread(target=each.write, args=(kubeconfig, written)) for each in writers]
    threads.append(threading.Thread(target=watcher.listen, args=(kubeconfig,)))
    with server:
        for each in threads:
            each.start()
        for _ in range(int(SeededEntropy(round_).jitter(1, spread=400))):
            written.acquire()
        server.kill()
    assert server.returncode == -signal.SIGKILL
    for each in threads:
        each.join(timeout=60)
    return writers


def check(folder: Path, port: int, writers: list[Writer], watcher: Watcher) -> None:
    kubeconfig, server = start_server(folder, port)
    with server:
        with Wire(kubeconfig) as wire:
            listed = json.loads(wire.ask(f"GET {MAPS}?{SELECTED}").body)
        stored = {each["metadata"]["name"]: int(each["data"]["n"]) for each in listed["items"]}
        for writer in writers:
            # The write under way may have reached the disk, or not.
            found = stored.get(writer.name, -1)
            assert found in (writer.acknowledged, writer.tried)
            writer.acknowledged = writer.tried = found
        newest = max((int(each["metadata"]["resourceVersion"]) for each in listed["items"]), default=0)
        if int(watcher.version) < newest:
            watcher.listen(kubeconfig, until=str(newest))
        for name, count in stored.items():
            assert watcher.seen[name] == list(range(count + 1))
        server.terminate()
        assert server.wait(timeout=20) == 0


@pytest.mark.parametrize("rounds", [2, pytest.param(200, marks=pytest.mark.soak)])
def test_a_killed_server_has_what_it_acknowledged(tmp_path: Path, rounds: int) -> None:
    kubeconfig, server = start_server(tmp_path)
    with server:
        port = urlsplit(find_server(None, None, kubeconfig).url).port
        server.terminate()
    assert port is not None
    watcher, writers = Watcher(), list[Writer]()
    for each in range(rounds):
        writers += write_until_killed(tmp_path, port, each, watcher)
        check(tmp_path, port, writers, watcher)
