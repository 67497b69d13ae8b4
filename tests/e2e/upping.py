"""`dray up` as people run it: processes that say when they are ready, and what they leave behind."""

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.test_many_watchers import read_lines
from tests.e2e.wire import Wire

__all__ = ["await_objects", "dray", "read_object", "running", "short_folder", "started"]

Objects = Mapping[str, Mapping[str, Any]]
"""By name."""


def dray(*words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """A command to its end."""
    return subprocess.run(
        [sys.executable, "-m", "dray", *words],
        input=stdin,
        capture_output=True,
        text=True,
        env={"PYTHONUTF8": "1", **variables},
        check=False,
    )


@contextmanager
def started(*words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """`dray up`, as soon as it says that it is ready. Whoever ends it otherwise finds it ended; a kill comes last."""
    with subprocess.Popen(
        [sys.executable, "-m", "dray", "up", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONUTF8": "1", **variables},
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            if not any("dray is up" in line for line in process.stdout):
                raise AssertionError(f"dray up {' '.join(words)}: {process.stderr.read()}")
            yield process
        finally:
            process.kill()


@contextmanager
def running(*words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """The same for the length of a block, ended in good order."""
    with started(*words, **variables) as process:
        yield process
        process.terminate()
        said = process.stderr.read() if process.stderr is not None else ""
        assert process.wait() == 0, said


@contextmanager
def short_folder() -> Iterator[Path]:
    """A data directory whose path is short enough for sockets below it. What runs there in the end is ended."""
    with tempfile.TemporaryDirectory(prefix="dray-") as folder:
        try:
            yield Path(folder)
        finally:
            with contextlib.suppress(OSError):
                dray("down", "--data-dir", folder)


def read_object(kubeconfig: Path, path: str) -> dict[str, Any]:
    """What is there, as JSON."""
    with Wire(kubeconfig) as wire:
        answer = wire.ask(f"GET {path}")
    assert answer.code == 200, answer.body
    found: dict[str, Any] = json.loads(answer.body)
    return found


def await_objects(kubeconfig: Path, path: str, is_so: Callable[[Objects], bool]) -> Objects:
    """Watch the objects of a path until something is true of them; they, as they are then."""
    objects: dict[str, dict[str, Any]] = {}
    with Wire(kubeconfig) as wire:
        wire.send(f"GET {path}?watch=true")
        try:
            for event in read_lines(wire):
                name = event["object"]["metadata"]["name"]
                objects[name] = event["object"]
                if event["type"] == "DELETED":
                    del objects[name]
                if is_so(objects):
                    return objects
        except TimeoutError as fault:
            raise AssertionError(f"nothing more comes: {objects}") from fault
    raise AssertionError(f"the watch has ended: {objects}")
