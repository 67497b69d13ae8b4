"""The agent's files: what survives what."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from dray.driver.claims import ClaimRef
from dray.effects.log import MemoryLog
from dray.node.checkpoint import CheckpointFailed, FileCheckpoint
from dray.node.core.checkpoint import CheckpointCorrupt, decode_checkpoint
from dray.node.core.claims import ClaimPlan
from dray.node.core.health import DeviceName, HealthReport
from dray.node.core.prepared_claims import PreparedClaims
from dray.values.times import parse_time
from tests.unit.node.world import DRIVER, World, open_world

FILE, JOURNAL = "dra_manager_state", "dra_manager_state.journal"


def hold(claims: PreparedClaims, name: str) -> PreparedClaims:
    """Remember one more claim."""
    claims.reserve(ClaimPlan(ClaimRef(namespace="default", name=name, uid=f"uid-{name}"), {DRIVER: ()}), "pod")
    return claims


def names(claims: PreparedClaims) -> list[str]:
    return [each.ref.name for each in claims.select()]


def restore(folder: Path) -> None:
    folder.mkdir()


@pytest.fixture
def checkpoint(tmp_path: Path) -> Iterator[FileCheckpoint]:
    checkpoint = FileCheckpoint(tmp_path)
    yield checkpoint
    checkpoint.close()


async def test_the_first_start_writes_an_empty_file(checkpoint: FileCheckpoint, tmp_path: Path) -> None:
    assert names(checkpoint.load_claims()) == []
    assert decode_checkpoint((tmp_path / FILE).read_bytes()).claims.select() == []


async def test_a_save_survives_the_agent_at_once(checkpoint: FileCheckpoint, tmp_path: Path) -> None:
    await checkpoint.save_claims(hold(checkpoint.load_claims(), "a"))
    later = FileCheckpoint(tmp_path)  # the first one never had the time to wait for the disk
    assert names(later.load_claims()) == ["a"]
    later.close()


async def test_many_saves_are_on_the_disk_once_the_checkpoint_is_closed(
    checkpoint: FileCheckpoint, tmp_path: Path
) -> None:
    claims = checkpoint.load_claims()
    for number in range(50):
        await checkpoint.save_claims(hold(claims, f"c{number}"))
    checkpoint.close()
    assert len(decode_checkpoint((tmp_path / FILE).read_bytes()).claims) == 50


async def test_a_journal_that_was_cut_short_counts_up_to_its_last_whole_line(
    checkpoint: FileCheckpoint, tmp_path: Path
) -> None:
    claims = checkpoint.load_claims()
    await checkpoint.save_claims(hold(claims, "a"))
    whole = (tmp_path / JOURNAL).stat().st_size
    await checkpoint.save_claims(hold(claims, "b"))
    with (tmp_path / JOURNAL).open("r+b") as journal:
        journal.truncate(whole + 20)
    shutil.copytree(tmp_path, tmp_path / "later", ignore=shutil.ignore_patterns("later"))
    later = FileCheckpoint(tmp_path / "later")
    assert names(later.load_claims()) == ["a"]
    later.close()


async def test_a_long_journal_is_begun_anew_and_loses_nothing(checkpoint: FileCheckpoint, tmp_path: Path) -> None:
    claims = checkpoint.load_claims()
    for number in range(20):
        hold(claims, f"{number}-" + "x" * 50_000)
    sizes = []
    for _ in range(8):
        await checkpoint.save_claims(claims)
        sizes.append((tmp_path / JOURNAL).stat().st_size)
    assert min(sizes[4:]) < max(sizes)
    later = FileCheckpoint(tmp_path)
    assert len(later.load_claims()) == 20
    later.close()


async def test_the_later_of_file_and_journal_counts(checkpoint: FileCheckpoint, tmp_path: Path) -> None:
    await checkpoint.save_claims(hold(checkpoint.load_claims(), "old"))
    stale = (tmp_path / JOURNAL).read_bytes()
    checkpoint.close()
    later = FileCheckpoint(tmp_path)
    claims = later.load_claims()
    assert not (tmp_path / JOURNAL).exists()
    await later.save_claims(hold(claims, "new"))
    later.close()
    (tmp_path / JOURNAL).write_bytes(stale)
    last = FileCheckpoint(tmp_path)
    assert names(last.load_claims()) == ["new", "old"]
    last.close()


async def test_a_file_that_cannot_be_trusted_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / FILE).write_bytes(b'{"Data":"{}","Checksum":1}')
    checkpoint = FileCheckpoint(tmp_path)
    with pytest.raises(CheckpointCorrupt, match=f"{FILE}: checkpoint is corrupted; drain the node, delete the file"):
        checkpoint.load_claims()
    checkpoint.close()


async def test_a_save_that_fails_says_so_and_the_next_one_may_succeed(
    checkpoint: FileCheckpoint, tmp_path: Path
) -> None:
    claims = checkpoint.load_claims()
    shutil.rmtree(tmp_path)
    with pytest.raises(CheckpointFailed):
        await checkpoint.save_claims(hold(claims, "a"))
    restore(tmp_path)
    await checkpoint.save_claims(claims)
    later = FileCheckpoint(tmp_path)
    assert names(later.load_claims()) == ["a"]
    later.close()


async def test_health_survives_and_what_is_no_health_is_forgotten(checkpoint: FileCheckpoint, tmp_path: Path) -> None:
    log, now = MemoryLog(), parse_time("2026-01-01T00:00:00Z")
    book = checkpoint.load_health(log)
    book.note(DRIVER, [HealthReport("node-a", "gpu-0", "Unhealthy", "too hot", 60)], now)
    await checkpoint.save_health(book)
    name = DeviceName(DRIVER, "node-a", "gpu-0")
    assert checkpoint.load_health(log).find(name, now) == ("Unhealthy", "too hot")
    (tmp_path / "dra_health_state").write_bytes(b"{")
    assert log.entries == []
    assert checkpoint.load_health(log).find(name, now) == ("Unknown", "")
    assert [each.message for each in log.entries] == ["health of devices is not readable"]


async def test_a_disk_that_fails_keeps_pods_waiting_and_nothing_else(tmp_path: Path) -> None:
    async with open_world() as world:
        await world.add_node(checkpoint=FileCheckpoint(tmp_path))
        await world.add_claim("c")
        shutil.rmtree(tmp_path)
        await world.add_pod("p", claims=["c"])
        await world.until(lambda: world.events("FailedPrepareDynamicResources"))
        (text,) = await world.events("FailedPrepareDynamicResources")
        assert "prepare dynamic resources: checkpoint ResourceClaim cache: " in text
        assert world.driver.calls == []
        await world.add_pod("q")
        await world.wait_phase("q", "Running")
        restore(tmp_path)
        world.fleet.agents["node-a"].driver_connected(DRIVER)
        await world.wait_phase("p", "Running")


async def test_agents_that_end_leave_no_thread_behind(tmp_path: Path) -> None:
    async with open_world() as world:
        await run_a_pod_with_a_claim(world, tmp_path)
        assert any(each.name.startswith("checkpoint") for each in threading.enumerate())
    assert not any(each.name.startswith("checkpoint") for each in threading.enumerate())


async def run_a_pod_with_a_claim(world: World, root: Path) -> None:
    await world.add_node(checkpoint=FileCheckpoint(root))
    await world.add_claim("c")
    await world.add_pod("p", claims=["c"])
    await world.wait_phase("p", "Running")
