"""Logs of containers in files."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dray.client.port import LogOptions
from dray.effects.clock import FakeClock
from dray.node.runtime.logfiles import KeptLog, LogFile


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def log(tmp_path: Path, clock: FakeClock) -> Iterator[LogFile]:
    log = LogFile(tmp_path / "0.log", clock, most_bytes=1000)
    yield log
    log.close()


async def read(log: KeptLog, **options: Any) -> str:
    return b"".join([piece async for piece in log.read(LogOptions(**options))]).decode()


async def take(pieces: Any, count: int) -> str:
    """So many lines of what comes."""
    text = ""
    while text.count("\n") < count:
        text += (await anext(pieces)).decode()
    return text


def files(log: LogFile) -> list[str]:
    return sorted(each.name for each in log.find_file(log.last_number).parent.iterdir())


async def test_lines_are_kept_in_the_format_of_container_runtimes(log: LogFile) -> None:
    log.write("stdout", b"one\ntw")
    log.write("stderr", b"three\n")
    log.write("stdout", b"o\nlast")
    log.close()
    stamp = "2026-01-01T00:00:00.000000Z"
    assert log.find_file(0).read_text().splitlines() == [
        f"{stamp} stdout F one",
        f"{stamp} stderr F three",
        f"{stamp} stdout F two",
        f"{stamp} stdout P last",
    ]
    assert await read(log) == "one\nthree\ntwo\nlast"


async def test_lines_that_are_very_long_are_kept_in_parts_and_read_whole(tmp_path: Path, clock: FakeClock) -> None:
    log = LogFile(tmp_path / "0.log", clock)
    text = "".join(str(number % 10) for number in range(50_000))
    log.write("stdout", text[:20_000].encode())
    log.write("stdout", text[20_000:].encode() + b"\n\nshort\n")
    log.close()
    assert await read(log) == f"{text}\n\nshort\n"
    longest = max(map(len, log.find_file(0).read_text().splitlines()))
    assert longest < 17_000


async def test_a_log_is_rotated_and_read_from_its_oldest_file_on(log: LogFile) -> None:
    lines = [f"line {number:04}\n" for number in range(60)]
    for each in lines:
        log.write("stdout", each.encode())
    assert files(log) == ["0.log", "0.log.0", "0.log.1"]
    assert await read(log) == "".join(lines)
    assert await read(log, tail_lines=30) == "".join(lines[-30:])
    assert await read(log, tail_lines=1) == lines[-1]
    assert await read(log, tail_lines=0) == ""


async def test_five_files_are_kept(log: LogFile) -> None:
    for number in range(400):
        log.write("stdout", f"line {number:04}\n".encode())
    assert len(files(log)) == 5
    kept = (await read(log)).splitlines()
    assert kept[-1] == "line 0399"
    assert kept == [f"line {number:04}" for number in range(400 - len(kept), 400)]
    assert 4 * 20 < len(kept) < 6 * 24
    log.close()
    log.remove()
    assert files(log) == []


async def test_lines_are_chosen_by_their_time(log: LogFile, clock: FakeClock) -> None:
    log.write("stdout", b"early\n")
    await clock.advance(60)
    log.write("stdout", b"late\n")
    await clock.advance(5)
    assert await read(log, since_seconds=10) == "late\n"
    assert await read(log, since_seconds=70) == "early\nlate\n"
    assert await read(log, since_time=clock.now().plus_seconds(-6).to_time()) == "late\n"
    assert await read(log, since_seconds=70, tail_lines=1, timestamps=True) == "2026-01-01T00:01:00.000000000Z late\n"


async def test_followers_get_what_comes_until_the_container_ends(log: LogFile) -> None:
    log.write("stdout", b"one\n")
    pieces = log.read(LogOptions(follow=True))
    assert await take(pieces, 1) == "one\n"
    waiting = asyncio.ensure_future(take(pieces, 2))
    await asyncio.sleep(0)
    assert not waiting.done()
    log.write("stdout", b"two\nthr")
    log.write("stdout", b"ee\n")
    assert await waiting == "two\nthree\n"
    log.write("stdout", b"rest")
    log.close()
    assert [piece async for piece in pieces] == [b"rest"]


async def test_followers_of_the_end_get_nothing_of_before(log: LogFile) -> None:
    log.write("stdout", b"one\ntwo\n")
    pieces = log.read(LogOptions(follow=True, tail_lines=0))
    waiting = asyncio.ensure_future(take(pieces, 1))
    await asyncio.sleep(0)
    log.write("stdout", b"three\n")
    assert await waiting == "three\n"
    await pieces.aclose()


async def test_followers_go_from_file_to_file(log: LogFile) -> None:
    log.write("stdout", b"begin\n")
    pieces = log.read(LogOptions(follow=True))
    assert await take(pieces, 1) == "begin\n"
    lines = [f"line {number:04}\n" for number in range(60)]
    for each in lines:
        log.write("stdout", each.encode())
    assert log.last_number > 0
    assert await take(pieces, 60) == "".join(lines)
    await pieces.aclose()


async def test_a_follower_that_is_too_slow_misses_what_was_rotated_away_and_nothing_else(log: LogFile) -> None:
    log.write("stdout", b"begin\n")
    pieces = log.read(LogOptions(follow=True))
    assert await take(pieces, 1) == "begin\n"
    for number in range(400):
        log.write("stdout", f"line {number:04}\n".encode())
    log.close()
    rest = b"".join([piece async for piece in pieces]).decode().splitlines()
    # What was in the file that it had open is read to the end, though the file is deleted.
    assert rest[0] == "line 0000"
    first = next(number for number, each in enumerate(rest) if each != f"line {number:04}")
    assert rest[first:] == [f"line {number:04}" for number in range(400 - len(rest) + first, 400)]


async def test_a_container_that_writes_on_does_not_make_a_reading_endless(log: LogFile) -> None:
    log.write("stdout", b"one\n")
    read = b""
    async for piece in log.read(LogOptions()):
        read += piece
        log.write("stdout", b"one more\n" * 10)
    assert read == b"one\n"


async def test_the_end_of_a_log_is_its_last_message(log: LogFile) -> None:
    for number in range(100):
        log.write("stdout", f"line {number:04}\n".encode())
    log.write("stderr", "wörse\n".encode())
    log.close()
    assert log.tail(lines=2, size_bytes=100) == "line 0099\nwörse"
    assert log.tail(lines=2, size_bytes=4) == "rse"


async def test_a_log_that_is_kept_is_read_by_whoever_comes_later(log: LogFile, tmp_path: Path) -> None:
    lines = [f"line {number:04}\n" for number in range(60)]
    for each in lines:
        log.write("stdout", each.encode())
    log.close()
    later = KeptLog(tmp_path / "0.log", FakeClock())
    assert await read(later, follow=True) == "".join(lines)
    assert await read(later, tail_lines=30) == "".join(lines[-30:])
    later.remove()
    assert files(log) == []


async def test_what_is_no_line_is_passed_over(log: LogFile) -> None:
    log.write("stdout", b"one\ntwo\n")
    log.close()
    text = log.find_file(0).read_text()
    log.find_file(0).write_text(text.replace("two", "two\ngarbage\nyesterday stdout F three") + "2026-01-01T00:00")
    assert await read(log, follow=True) == "one\ntwo\n"


def test_a_disk_that_takes_nothing_costs_lines_alone(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "0.log").symlink_to(full)
    log = LogFile(tmp_path / "full" / "0.log", FakeClock())
    log.write("stdout", b"lost\n")
    log.close()
