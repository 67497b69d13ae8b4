"""Recorded requests, asked of our server in the order they were made; the answers have to be the recorded ones."""

import asyncio
from typing import Any

import pytest

from tests.cases.server.access.test_access import open_server
from tests.golden.server.replay import Replay, read_scene

SCENES = {name: read_scene(name) for name in ("writes", "reads", "limits", "claims", "access", "traces")}
OWN_WAYS = {
    "generateName": "the suffix is random",
    "yaml accept": "times and uids stand in text",
    "pod spec immutable": "the refusal shows Kubernetes' internal object line by line",
    "SA discovery ok": "dray serves fewer kinds of core/v1",
    "SSRR": "the rules come in no order, and some are about kinds that dray does not serve",
    "clusterroles admin/edit/view": "the rules are those of kinds that dray serves, written at once",
}
"""Answers that cannot be equal, and why."""


async def play(scene: str) -> dict[str, str]:
    """What differs, by the entry's name."""
    async with open_server() as connection:
        replay = Replay(connection)
        await replay.run(SCENES[scene])
        return replay.failures


@pytest.fixture(scope="module")
def failures() -> dict[str, dict[str, str]]:
    async def play_all() -> list[dict[str, str]]:
        return await asyncio.gather(*(play(scene) for scene in SCENES))

    return dict(zip(SCENES, asyncio.run(play_all()), strict=True))


CASES = [
    pytest.param(scene, f"{number} {entry['name']}", id=f"{scene}: {number} {entry['name']}")
    for scene, entries in SCENES.items()
    for number, entry in enumerate(entries)
    if "topic" in entry
]


@pytest.mark.parametrize(("scene", "name"), CASES)
def test_answer_is_as_recorded(failures: dict[str, dict[str, Any]], scene: str, name: str) -> None:
    reason = OWN_WAYS.get(name.partition(" ")[2])
    if reason is not None:
        pytest.skip(reason)
    assert name not in failures[scene], failures[scene][name]
