"""Plays the table beside it against a whole server in this process, with identity and permission as in operation."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from dray.api.registry import SERVED
from dray.app.serverwire import wire_identity
from dray.app.wire import CelJudge
from dray.effects.clock import SystemClock
from dray.effects.entropy import SeededEntropy
from dray.effects.log import MemoryLog
from dray.server.assembly import ServerParts, open_api_server
from dray.server.ports import User
from dray.store.memory import MemoryStore
from tests.golden.server.asgi import Asked, Connection
from tests.unit.server.identity.certs import signing_key

STEPS = yaml.safe_load(Path(__file__).with_name("recorded.yaml").read_text(encoding="utf-8"))["steps"]
STATIC = {
    "the-admin": User("kubernetes-admin", groups=("system:masters",)),
    "the-node": User("system:node:a", groups=("system:nodes",)),
}
TOKENS = {"admin": "the-admin", "node": "the-node", "bad": "wrong"}


@asynccontextmanager
async def open_server() -> AsyncIterator[Connection]:
    clock, log, store = SystemClock(), MemoryLog(), MemoryStore()
    parts = ServerParts(
        kinds=tuple(SERVED),
        store=store,
        clock=clock,
        entropy=SeededEntropy(1),
        judge=CelJudge(),
        identity=wire_identity(signing_key(), clock, STATIC),
        log=log,
    )
    async with open_api_server(parts) as api:
        yield Connection(api, log, store)


def headers_of(caller: str, tokens: Mapping[str, str]) -> dict[str, str]:
    if caller == "nobody":
        return {}
    if caller in tokens:
        return {"authorization": f"Bearer {tokens[caller]}"}
    return {"authorization": "Bearer the-admin", "impersonate-user": caller}


def lacks(got: Any, want: Any) -> str:
    """Where `got` has not what `want` has."""
    if isinstance(want, Mapping) and isinstance(got, Mapping) and want:
        found = ((key, lacks(got.get(key), value)) for key, value in want.items())
        return next((f"{key}.{where}" for key, where in found if where), "")
    return "" if got == want else f"is {got!r}, not {want!r}"


async def play() -> None:
    tokens = dict(TOKENS)
    async with open_server() as server:
        for step in STEPS:
            method = next(method for method in ("get", "post", "delete") if method in step)
            sent = {"content-type": "application/json", **headers_of(step["as"], tokens)}
            answer = await server.ask(Asked(method.upper(), step[method], step.get("body"), sent))
            assert answer.code == step["want"], (step["name"], answer.json)
            assert not lacks(answer.json, step.get("has", {})) or "has" not in step, (step["name"], answer.json)
            assert answer.json == step.get("is", answer.json), step["name"]
            if "token" in step:
                tokens[step["token"]] = answer.json["status"]["token"]


def test_who_is_let_in_and_who_may_do_what() -> None:
    asyncio.run(play())
