"""A store is killed while it writes, again and again: what was acknowledged is there, and nothing is half there."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from dray.effects.entropy import SeededEntropy
from dray.store.backup import verify
from dray.store.port import Selection
from dray.store.sqlite import open_sqlite_store
from tests.e2e.store_writer import WORKERS, body, counter, pair

ROOT = Path(__file__).parents[2]


class Acknowledged:
    """What the processes said so far: the count of each worker, and the newest revision."""

    def __init__(self) -> None:
        self.counts: dict[int, int] = {}
        self.revision = 1

    def hear(self, line: str) -> None:
        worker, count, revision = map(int, line.split())
        assert self.counts.get(worker, -1) < count
        assert revision > self.revision
        self.counts[worker] = count
        self.revision = revision


def write_until_killed(database: Path, lines: int, acknowledged: Acknowledged) -> None:
    command = [sys.executable, "-m", "tests.e2e.store_writer", str(database)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        for _ in range(lines):
            acknowledged.hear(process.stdout.readline())
        process.kill()
        for line in process.stdout:
            acknowledged.hear(line)
    assert process.returncode < 0


async def check(database: Path, acknowledged: Acknowledged) -> None:
    verify(database)
    async with open_sqlite_store(database) as store:
        bounds = store.bounds()
        assert bounds.revision >= acknowledged.revision
        changes = await store.changes(bounds.horizon)
        assert [change.revision for change in changes] == list(range(bounds.horizon + 1, bounds.revision + 1))
        records = {
            record.key: record.body
            for resource in ("counters", "pods")
            for record in (await store.page(Selection(resource))).records
        }
    for worker in range(WORKERS):
        found = int(records.pop(counter(worker), b"-1"))
        last = acknowledged.counts.get(worker, -1)
        # The write under way may have reached the disk, or not.
        assert found in (last, last + 1)
        acknowledged.counts[worker] = found
        for key in pair(worker):
            assert records.pop(key, None) == (None if found < 0 else body(key, found))
    assert records == {}


@pytest.mark.parametrize("rounds", [2, pytest.param(200, marks=pytest.mark.soak)])
def test_what_was_acknowledged_survives_a_kill(tmp_path: Path, rounds: int) -> None:
    entropy = SeededEntropy(rounds)
    acknowledged = Acknowledged()
    for _ in range(rounds):
        lines = int(entropy.jitter(1, spread=600))
        write_until_killed(tmp_path / "dray.db", lines, acknowledged)
        asyncio.run(check(tmp_path / "dray.db", acknowledged))
    assert len(acknowledged.counts) == WORKERS
