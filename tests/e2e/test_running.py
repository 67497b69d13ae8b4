"""Which dray runs on a data directory, found and ended by another process."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dray.app.detaching import DetachedFailed, begin_detached
from dray.app.running import AlreadyRunning, NotEnding, RunRecord, end_running, find_running, hold_run_file, log_path
from dray.effects.clock import FakeClock, SystemClock

HOLDER = """
import os, signal, sys
from pathlib import Path
from dray.app.running import RunRecord, hold_run_file
signal.signal(signal.SIGTERM, signal.SIG_IGN if sys.argv[2] == "stubborn" else lambda *_: sys.exit(0))
with hold_run_file(Path(sys.argv[1])) as tell:
    tell(RunRecord(pid=os.getpid(), address="https://there"))
    print("ready", flush=True)
    while True:
        signal.pause()
"""


@pytest.fixture
def holder(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[subprocess.Popen[str]]:
    """Another process that runs on the folder."""
    words = [sys.executable, "-c", HOLDER, str(tmp_path), getattr(request, "param", "polite")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            yield process
        finally:
            process.kill()


def test_what_runs_is_found_for_as_long_as_it_runs(tmp_path: Path) -> None:
    assert find_running(tmp_path) is None
    with hold_run_file(tmp_path) as tell:
        assert find_running(tmp_path) == RunRecord(pid=os.getpid())
        told = RunRecord(pid=os.getpid(), since="2026-01-01T00:00:00Z", address="https://here", log="file")
        tell(told)
        assert find_running(tmp_path) == told
        assert find_running(tmp_path, "scheduler") is None
    assert find_running(tmp_path) is None


def test_one_runs_at_a_time(tmp_path: Path) -> None:
    with hold_run_file(tmp_path) as tell:
        tell(RunRecord(pid=7, address="https://here"))
        with pytest.raises(AlreadyRunning, match="as process 7 at https://here") as refusal, hold_run_file(tmp_path):
            pass
        assert refusal.value.hint == f"dray down --data-dir {tmp_path}, or another --data-dir"
        with hold_run_file(tmp_path, "scheduler"):
            assert find_running(tmp_path, "scheduler") == RunRecord(pid=os.getpid(), part="scheduler")


def test_a_process_that_was_killed_does_not_run(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    assert find_running(tmp_path) == RunRecord(pid=holder.pid, address="https://there")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert find_running(tmp_path) is None
    with hold_run_file(tmp_path):
        assert find_running(tmp_path) == RunRecord(pid=os.getpid())


def test_a_file_that_is_being_written_names_nobody(tmp_path: Path) -> None:
    with hold_run_file(tmp_path):
        (tmp_path / "dray.run").write_text('{"pid": 12')
        assert find_running(tmp_path) == RunRecord()


def test_a_process_is_asked_to_end_and_waited_for(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    ended = asyncio.run(end_running(tmp_path, "", SystemClock()))
    assert ended == RunRecord(pid=holder.pid, address="https://there")
    assert holder.wait() == 0
    assert asyncio.run(end_running(tmp_path, "", SystemClock())) is None


@pytest.mark.parametrize("holder", ["stubborn"], indirect=True)
def test_a_process_that_does_not_end_is_told_of(tmp_path: Path, holder: subprocess.Popen[str]) -> None:
    async def run() -> None:
        clock = FakeClock()
        ending = asyncio.ensure_future(end_running(tmp_path, "", clock))
        while not ending.done():
            await clock.advance(1.0)
        await ending

    with pytest.raises(NotEnding, match=f"process {holder.pid} has not ended") as refusal:
        asyncio.run(run())
    assert f"kill -9 {holder.pid}" in refusal.value.hint


def test_parts_write_logs_of_their_own(tmp_path: Path) -> None:
    assert log_path(tmp_path) == tmp_path / "dray.log"
    assert log_path(tmp_path, "scheduler") == tmp_path / "scheduler.log"


def test_of_a_log_only_what_was_written_since_counts(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "dray.log"
    log.parent.mkdir()
    log.write_text("error: long ago\n  try: nothing\n")
    with pytest.raises(DetachedFailed, match="no-such-file: No such file"):
        begin_detached(["up", "--scheduler-config", "no-such-file", "--data-dir", str(tmp_path)], log)
    assert log.read_text().startswith("error: long ago\n")
