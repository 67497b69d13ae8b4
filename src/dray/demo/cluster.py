"""A cluster for the length of a block, as `dray up` runs it, in a process of its own."""

import asyncio
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from dray.errors import DrayError

__all__ = ["Cluster", "ClusterError", "running_cluster"]

_READY: Final = "dray is up"
"""What `dray up` says once pods can be placed."""
_ENDING_SECONDS: Final = 20.0
"""Far longer than ending takes; what has not ended by then is killed."""
_LINES_SHOWN: Final = 5


class ClusterError(DrayError):
    """The cluster did not come up; the message has the end of its log."""


class Cluster(Struct, frozen=True):
    """A cluster that runs: how to reach it, and what was said when it came up."""

    command: str
    output: str
    kubeconfig: Path


@asynccontextmanager
async def running_cluster(
    nodes: Sequence[str], folder: Path, environment: Mapping[str, str], settings: Mapping[str, str] | None = None
) -> AsyncIterator[Cluster]:
    """A new cluster of such nodes, which keeps its data in `folder`. Raises ClusterError.

    `settings` are variables that are set for it beside those of the environment, and shown.
    """
    settings = settings or {}
    variables = {**environment, **settings}
    kubeconfig, log = folder / "kubeconfig", folder / "log"
    words = ["up", *(word for each in nodes for word in ("--nodes", each)), "--port", "0", "--data-dir", str(folder)]
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "dray",
            *words,
            env=variables,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=errors,
        )
    try:
        said = await _read_until_ready(process)
        if _READY not in said:
            raise ClusterError(f"dray {' '.join(words)}: {_tail(log, said)}")
        shown = [*(f"{name}={value}" for name, value in settings.items()), "dray", *words]
        yield Cluster(" ".join(shown), said, kubeconfig)
    finally:
        await asyncio.shield(_end(process))


async def _read_until_ready(process: Process) -> str:
    said = ""
    while process.stdout is not None and (line := await process.stdout.readline()):
        said += line.decode(errors="replace")
        if _READY in said:
            break
    return said


async def _end(process: Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(_ENDING_SECONDS):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


def _tail(log: Path, said: str) -> str:
    lines = [*said.splitlines(), *log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return " ".join(line.strip() for line in lines[-_LINES_SHOWN:]) or "it ended without a word"
