"""Asks a server over HTTP what was recorded, in that order, and compares the answers.

What no two servers share (uids, versions, times, tokens) is compared by shape. Uids, versions and tokens of earlier
answers are put into later requests in place of those recorded.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from tests.golden.server.asgi import Answer, Asked
from tests.golden.server.overhttp import HttpConnection
from tests.golden.server.shared import SHARED

__all__ = ["Replay", "read_scene", "read_variants"]

Json = dict[str, Any]

FOLDER = Path(__file__).with_name("recorded")
VOLATILE = {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time", "lastTransitionTime"}
CONTROLLERS = {"kube-scheduler", "kube-controller-manager"}
"""Managers of the recorded cluster that our server has nobody for."""
ONLY_LAST_EVENT = {"table watchlist bookmark"}
"""Watches of which only the end was recorded."""
PROSE = {"description"}
OWN_NAMES = {"dray-apiserver": "kube-apiserver"}
"""Field managers that have another name here."""

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_LETTERS = re.compile(r"kube-api-access-\w{5}")
_VERSION = re.compile(r'\\"resourceVersion\\":\\"\d+\\"|in record \(\d+\)|current: \d+')
_VERSION_GIVEN = re.compile(r'("resourceVersion": "|"/metadata/resourceVersion", "value": ")\d+')
_TOKEN_ID = re.compile(r"JTI=\S+")
_AGE = re.compile(r"(\d+[smhd])+")
_SCALARS = {"uid", "resourceVersion", "continue", "token"}


def read_variants() -> list[str]:
    """The scenes of many small variants, recorded from a server of Kubernetes without controllers."""
    return sorted(f"variants/{file.stem}" for file in FOLDER.glob("variants/*.jsonl"))


def read_scene(name: str) -> list[Json]:
    """The exchanges of a scene, in order."""
    text = FOLDER.joinpath(f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


class Replay:
    """One run through a scene, with what was learnt of our names for theirs."""

    def __init__(self, connection: HttpConnection) -> None:
        self.failures: dict[str, str] = {}
        self._connection = connection
        self._ours: dict[str, str] = {}
        self.token = ""

    async def run(self, entries: list[Json]) -> None:
        numbered = enumerate(entries)
        for is_read, some in groupby(numbered, key=lambda each: _is_read(each[1])):
            if is_read:  # some take as long as they ask for
                await asyncio.gather(*(self._compare(number, entry) for number, entry in some))
                continue
            for number, entry in some:
                await self._play(number, entry)

    async def _play(self, number: int, entry: Json) -> None:
        if "compact" in entry:
            await self._forget_history()
        elif "topic" in entry:
            await self._compare(number, entry)
        else:
            answer = await self._ask(entry)
            assert answer.code < 300, (entry, answer.json)
            self._learn(entry.get("response", {}).get("body"), answer.json)

    async def _forget_history(self) -> None:
        store = self._connection.store
        assert store is not None
        await store.compact(store.bounds().revision)

    async def _compare(self, number: int, entry: Json) -> None:
        answer = await self._ask(entry)
        is_watch = "lines" in entry
        want = entry["lines"] if is_watch else entry["response"]["body"]
        got = _trim_bookmarks(entry, answer.lines) if is_watch else answer.json
        self._learn(want, got)
        share = SHARED.get(entry["name"], _whole)
        found = [answer.code, shape(share(got))]
        wanted = [(entry if is_watch else entry["response"])["status"], shape(share(self._translate_value(want)))]
        if entry["topic"] == "traces":
            found, wanted = self._judge_trace(answer, entry["response"], found, wanted)
        if entry["topic"] == "variants":
            found, wanted = self._judge_variant(answer, entry["response"], found, wanted)
        if found != wanted:
            self.failures[f"{number} {entry['name']}"] = "\n".join(differences(wanted, found))

    def _judge_trace(self, answer: Answer, want: Json, found: list[Any], wanted: list[Any]) -> tuple[list[Any], ...]:
        """Traces tell codes and types; bodies only of short answers. We answer in JSON where protobuf would do."""
        if want["body"] is None:
            found, wanted = found[:1], wanted[:1]
        types = [] if want["type"] == "None" else [want["type"].replace("vnd.kubernetes.protobuf", "json")]
        return [*found, *answer.all("content-type")], [*wanted, *types]

    def _judge_variant(self, answer: Answer, want: Json, found: list[Any], wanted: list[Any]) -> tuple[list[Any], ...]:
        """Variants tell codes and warnings of all answers; bodies only of refusals."""
        if want["body"] is None:
            found, wanted = found[:1], wanted[:1]
        if answer.code >= 400:  # what stands there in warnings are hints of ours
            return found, wanted
        return [*found, sorted(answer.all("warning"))], [*wanted, sorted(want.get("warnings", ()))]

    async def _ask(self, entry: Json) -> Answer:
        request = entry["request"]
        headers = {"accept": request.get("accept", "application/json")} | self._credentials(entry.get("as", ""))
        if "body" in request:
            headers["content-type"] = request.get("contentType", "application/json")
        asked = Asked(request["method"], self._translate_path(request["path"]), request.get("body"), headers)
        text = self._translate(asked.text.decode())
        if entry.get("topic") == "traces" and 'resourceVersion"' in text:
            text = await self._name_latest_version(asked.path, text)
        return await self._connection.ask(Asked(asked.method, asked.path, text.encode(), headers))

    async def _name_latest_version(self, path: str, text: str) -> str:
        """The body with the version that the object has here: traces do not tell which version kubectl had read."""
        asked = Asked("GET", path.partition("?")[0], headers=self._credentials(""))
        stored = await self._connection.ask(asked)
        latest = stored.json["metadata"]["resourceVersion"]
        return _VERSION_GIVEN.sub(rf"\g<1>{latest}", text)

    def _credentials(self, who: str) -> dict[str, str]:
        match who:
            case "nobody":
                return {}
            case "bad":
                return {"authorization": "Bearer wrong"}
            case "account":
                return {"authorization": f"Bearer {self.token}"}
            case "":
                return {"authorization": "Bearer the-admin"}
            case user:
                return {"authorization": "Bearer the-admin", "impersonate-user": user}

    def _translate_path(self, path: str) -> str:
        def replace(found: re.Match[str]) -> str:
            theirs = f'"{found[2]}"'
            return found[1] + self._ours.get(theirs, theirs)[1:-1]

        return re.sub(r"((?:resourceVersion|continue)=)([^&]+)", replace, path)

    def _translate(self, text: str) -> str:
        for theirs, ours in self._ours.items():
            text = text.replace(theirs, ours)
        return text

    def _translate_value(self, value: Any) -> Any:
        return json.loads(self._translate(json.dumps(value)))

    def _learn(self, theirs: Any, ours: Any) -> None:
        """Match uids, versions and tokens of the recorded answer with those of ours."""
        if isinstance(theirs, dict) and isinstance(ours, dict):
            for key, value in theirs.items():
                mine = ours.get(key)
                if key in _SCALARS and isinstance(value, str) and isinstance(mine, str):
                    self._learn_scalar(key, value, mine)
                else:
                    self._learn(value, mine)
        elif isinstance(theirs, list) and isinstance(ours, list):
            for one, other in zip(theirs, ours, strict=False):
                self._learn(one, other)

    def _learn_scalar(self, key: str, theirs: str, ours: str) -> None:
        if key == "uid" and len(theirs) == 36:
            self._ours[theirs] = ours
        elif key != "uid":
            self._ours[f'"{theirs}"'] = f'"{ours}"'
        if key == "token" and not self.token:
            self.token = ours


def _whole(body: Any) -> Any:
    return body


def _is_read(entry: Json) -> bool:
    """Whether an exchange changes nothing, and tells nothing that a later one goes on from."""
    if entry.get("topic") not in ("lists", "watches"):
        return False
    body = entry.get("response", {}).get("body")
    return not isinstance(body, dict) or "continue" not in body.get("metadata", {})


def _trim_bookmarks(entry: Json, lines: list[Any]) -> list[Any]:
    """Events without bookmarks after the recorded ones: a server sends them as it likes."""
    if entry["name"] in ONLY_LAST_EVENT:
        return lines[-1:]
    wanted = len(entry["lines"])
    return lines[:wanted] if all(each.get("type") == "BOOKMARK" for each in lines[wanted:]) else lines


def differences(want: Any, got: Any, where: str = "") -> Iterator[str]:
    """What differs, by its path."""
    if isinstance(want, dict) and isinstance(got, dict):
        for key in sorted({*want, *got}):
            yield from differences(want.get(key), got.get(key), f"{where}.{key}")
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for number, (one, other) in enumerate(zip(want, got, strict=True)):
            yield from differences(one, other, f"{where}[{number}]")
    elif want != got:
        yield f"{where}: want {want!r}\n  got {got!r}"


def shape(value: Any, key: str = "") -> Any:
    """A value without what differs from server to server, or was written by controllers of the recorded cluster."""
    if (key in VOLATILE or key in PROSE) and value:
        return "*"
    if isinstance(value, dict):
        kept = {name: each for name, each in value.items() if name != "conditions" or "phase" not in value}
        kept.pop("f:conditions", None)
        return {name: shape(each, name) for name, each in kept.items()}
    if isinstance(value, list):
        told = [each for each in value if not isinstance(each, dict) or each.get("manager") not in CONTROLLERS]
        shaped = [shape(each, key) for each in told]
        return sorted(shaped, key=_writer) if key == "managedFields" else shaped
    return _shape_text(value, key) if isinstance(value, str) else value


def _writer(entry: Json) -> tuple[str, ...]:
    """Entries stand in the order of their times, which a replay within a second does not know."""
    return tuple(entry.get(key, "") for key in ("manager", "operation", "subresource"))


def _shape_text(text: str, key: str) -> str:
    if key == "continue":  # a token says where to go on, and at which version
        token = json.loads(base64.urlsafe_b64decode(text + "=="))
        return json.dumps({**token, "rv": min(token["rv"], 0)})
    if key == "cells" and _AGE.fullmatch(text):
        return "AGE"
    if key == "manager":
        return OWN_NAMES.get(text, text)
    return _VERSION.sub("version", _LETTERS.sub("kube-api-access-*", _TIME.sub("time", _TOKEN_ID.sub("JTI=*", text))))
