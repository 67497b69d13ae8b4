"""Recorded requests, asked of our server in the order they were made; the answers have to be the recorded ones.

What no two servers share (uids, versions, times) is compared by shape. Uids and versions of earlier answers are put
into later requests in place of those recorded.
"""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.golden.server.asgi import Asked, Connection, open_connection

RECORDED = [
    json.loads(line) for line in Path(__file__).with_name("recorded.jsonl").read_text(encoding="utf-8").splitlines()
]
OWN_WAYS = {
    "generateName": "the suffix is random",
    "yaml accept": "times and uids stand in text",
    "pod spec immutable": "the refusal shows Kubernetes' internal object line by line",
}
"""Answers that cannot be equal, and why."""
VOLATILE = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime"}
CONTROLLERS = {"kube-scheduler", "kube-controller-manager"}
"""Managers of the recorded cluster that our server has nobody for."""


class Replay:
    """One run through all recordings, with what was learnt of our names for theirs."""

    def __init__(self) -> None:
        self.failures: dict[str, str] = {}
        self._ours: dict[str, str] = {}

    async def run(self) -> None:
        async with open_connection() as connection:
            await self._prepare(connection, "apiref2")
            await connection.post("/api/v1/nodes", {"metadata": {"name": "gpu-node-0"}})
            for entry in RECORDED:
                await self._ask(connection, entry)
                await self._play_controllers(connection, entry["name"])

    async def _play_controllers(self, connection: Connection, name: str) -> None:
        """Write what controllers of the recorded cluster wrote between two requests."""
        if name == "namespace create":
            await connection.post("/api/v1/namespaces/apiref4/serviceaccounts", {"metadata": {"name": "default"}})
        if name == "pdb":
            status = {"observedGeneration": 1, "desiredHealthy": 1, "currentHealthy": 0, "disruptionsAllowed": 0}
            path = "/apis/policy/v1/namespaces/apiref4/poddisruptionbudgets/b/status"
            headers = {"content-type": "application/merge-patch+json"}
            await connection.ask(Asked("PATCH", path, {"status": status}, headers))

    async def _prepare(self, connection: Connection, namespace: str) -> None:
        await connection.post("/api/v1/namespaces", {"metadata": {"name": namespace}})
        await connection.post(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})

    async def _ask(self, connection: Connection, entry: dict[str, Any]) -> None:
        request, want = entry["request"], entry["response"]
        headers = {"accept": request.get("accept", "application/json")}
        if request.get("contentType"):
            headers["content-type"] = request["contentType"]
        asked = Asked(request["method"], request["path"], request.get("body"), headers)
        text = self._translate(asked.text.decode())
        got = await connection.ask(Asked(asked.method, asked.path, text.encode(), headers))
        self._learn(want["body"], got.json)
        found = (got.code, shape(got.json))
        wanted = (want["status"], shape(self._translate_value(want["body"])))
        if found != wanted:
            self.failures[entry["name"]] = f"want {wanted}\n got {found}"

    def _translate(self, text: str) -> str:
        for theirs, ours in self._ours.items():
            text = text.replace(theirs, ours)
        return text

    def _translate_value(self, value: Any) -> Any:
        return json.loads(self._translate(json.dumps(value)))

    def _learn(self, theirs: Any, ours: Any) -> None:
        """Match uids and versions of the recorded answer with those of ours."""
        if isinstance(theirs, dict) and isinstance(ours, dict):
            for key, value in theirs.items():
                if key == "uid" and isinstance(ours.get(key), str) and len(value) == 36:
                    self._ours[value] = ours[key]
                elif key == "resourceVersion" and isinstance(ours.get(key), str):
                    self._ours[f'"{value}"'] = f'"{ours[key]}"'
                else:
                    self._learn(value, ours.get(key))
        elif isinstance(theirs, list) and isinstance(ours, list):
            for one, other in zip(theirs, ours, strict=False):
                self._learn(one, other)


TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
LETTERS = re.compile(r"kube-api-access-\w{5}")
VERSION = re.compile(r'\\"resourceVersion\\":\\"\d+\\"|in record \(\d+\)')


def shape(value: Any) -> Any:
    """A value without what differs from server to server, or was written by controllers of the recorded cluster."""
    if isinstance(value, dict):
        kept = {key: each for key, each in value.items() if key != "conditions" or "phase" not in value}
        kept.pop("f:conditions", None)
        return {key: "*" if key in VOLATILE and each else shape(each) for key, each in kept.items()}
    if isinstance(value, list):
        return [shape(each) for each in value if not isinstance(each, dict) or each.get("manager") not in CONTROLLERS]
    if isinstance(value, str):
        return VERSION.sub("version", LETTERS.sub("kube-api-access-*", TIME.sub("time", value)))
    return value


@pytest.fixture(scope="module")
def replay() -> Replay:
    run = Replay()
    asyncio.run(run.run())
    return run


@pytest.mark.parametrize("name", [entry["name"] for entry in RECORDED])
def test_answer_is_as_recorded(replay: Replay, name: str) -> None:
    if name in OWN_WAYS:
        pytest.skip(OWN_WAYS[name])
    assert name not in replay.failures, replay.failures[name]
