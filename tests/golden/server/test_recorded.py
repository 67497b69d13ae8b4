"""Recorded requests, asked of our server over HTTP in their order; the answers have to be the recorded ones."""

import asyncio
from typing import Any

import pytest

from tests.cases.server.access.test_access import open_server
from tests.golden.server.overhttp import open_http
from tests.golden.server.replay import Replay, read_scene, read_variants

SCENES = {
    name: read_scene(name) for name in ("writes", "reads", "limits", "claims", "access", "traces", *read_variants())
}


async def play(scene: str) -> dict[str, str]:
    """What differs, by the entry's name."""
    async with open_server() as server, open_http(server) as connection:
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
    assert name not in failures[scene], failures[scene][name]
