"""Lists and watches, asked of a whole server on a store in memory."""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml

from tests.golden.server.asgi import Answer, Asked, Connection, open_connection

REFUSED = yaml.safe_load(Path("tests/cases/server/refused_reads.yaml").read_text(encoding="utf-8"))
MAPS = "/api/v1/namespaces/default/configmaps"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"
Story = Callable[[Connection], Coroutine[Any, Any, None]]


def play(story: Story) -> None:
    async def run() -> None:
        async with open_connection() as connection:
            await story(connection)

    asyncio.run(run())


async def make(connection: Connection, *names: str, **labels: str) -> str:
    """Create config maps; the version after the last."""
    version = ""
    for name in names:
        made = await connection.post(MAPS, {"metadata": {"name": name, "labels": labels}, "data": {"a": "1"}})
        assert made.code == 201, made.json
        version = made.json["metadata"]["resourceVersion"]
    return version


def names(answer: Answer) -> list[str]:
    return [each["metadata"]["name"] for each in answer.json["items"]]


def told(answer: Answer) -> list[tuple[str, str]]:
    return [(each["type"], each["object"]["metadata"].get("name", "")) for each in answer.lines]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["name"])
def test_read_is_refused(case: dict[str, Any]) -> None:
    async def story(connection: Connection) -> None:
        answer = await connection.get(f"{MAPS}?{case['query']}", case.get("accept", "application/json"))
        assert answer.code == case["want"]["code"], answer.json
        assert answer.json["code"] == answer.code
        assert answer.json["message"] == case["want"]["message"]

    play(story)


def test_pages_show_one_state_whatever_happens_between() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a", "b", "c", "d", "e")
        first = await connection.get(f"{MAPS}?limit=2")
        assert names(first) == ["a", "b"]
        assert first.json["metadata"]["remainingItemCount"] == 3
        await make(connection, "bb")
        await connection.ask(Asked("DELETE", f"{MAPS}/c"))
        second = await connection.get(f"{MAPS}?limit=2&continue={first.json['metadata']['continue']}")
        assert names(second) == ["c", "d"]
        assert second.json["metadata"]["resourceVersion"] == first.json["metadata"]["resourceVersion"]
        last = await connection.get(f"{MAPS}?limit=2&continue={second.json['metadata']['continue']}")
        assert names(last) == ["e"]
        assert "continue" not in last.json["metadata"]

    play(story)


def test_a_forgotten_page_is_told_how_to_go_on() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a", "b", "c")
        first = await connection.get(f"{MAPS}?limit=1")
        await make(connection, "d")
        store = connection.api.desk.store
        await store.compact(store.bounds().revision)
        gone = await connection.get(f"{MAPS}?limit=1&continue={first.json['metadata']['continue']}")
        assert (gone.code, gone.json["reason"]) == (410, "Expired")
        rest = await connection.get(f"{MAPS}?continue={gone.json['metadata']['continue']}")
        assert names(rest) == ["b", "c", "d"]

    play(story)


def test_selectors_and_limits_go_together() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a", "c", "e", app="x")
        await make(connection, "b", "d", app="y")
        first = await connection.get(f"{MAPS}?labelSelector={quote('app=x')}&limit=2")
        assert names(first) == ["a", "c"]
        assert "remainingItemCount" not in first.json["metadata"]
        token = first.json["metadata"]["continue"]
        rest = await connection.get(f"{MAPS}?labelSelector={quote('app=x')}&limit=2&continue={token}")
        assert names(rest) == ["e"]
        one = await connection.get(f"{MAPS}?fieldSelector={quote('metadata.name=b')}")
        assert names(one) == ["b"]
        others = await connection.get(f"{MAPS}?fieldSelector={quote('metadata.name!=b')}")
        assert names(others) == ["a", "c", "d", "e"]

    play(story)


def test_an_earlier_state_is_listed_exactly() -> None:
    async def story(connection: Connection) -> None:
        version = await make(connection, "a", "b")
        await make(connection, "c")
        exact = await connection.get(f"{MAPS}?resourceVersion={version}&resourceVersionMatch=Exact")
        assert names(exact) == ["a", "b"]
        assert exact.json["metadata"]["resourceVersion"] == version

    play(story)


def test_shapes_of_a_list() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a")
        table = (await connection.get(MAPS, TABLE)).json
        assert table["kind"] == "Table"
        assert [row["cells"][:2] for row in table["rows"]] == [["a", 1]]
        assert table["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
        whole = (await connection.get(f"{MAPS}?includeObject=Object", TABLE)).json
        assert whole["rows"][0]["object"]["data"] == {"a": "1"}
        partial = (await connection.get(MAPS, PARTIAL.replace("Metadata;", "MetadataList;"))).json
        assert partial["kind"] == "PartialObjectMetadataList"
        assert "data" not in partial["items"][0]
        plain = (await connection.get(MAPS)).json
        assert plain["kind"] == "ConfigMapList"
        assert "kind" not in plain["items"][0]

    play(story)


def test_a_watch_tells_what_happens_from_a_version_on() -> None:
    async def story(connection: Connection) -> None:
        version = await make(connection, "a")
        await make(connection, "b")
        await connection.ask(Asked("DELETE", f"{MAPS}/a"))
        answer = await connection.get(f"{MAPS}?watch=true&resourceVersion={version}&timeoutSeconds=1")
        assert told(answer) == [("ADDED", "b"), ("DELETED", "a")]
        versions = [int(each["object"]["metadata"]["resourceVersion"]) for each in answer.lines]
        assert versions == sorted(versions)
        assert versions[0] > int(version)
        assert answer.lines[1]["object"]["data"] == {"a": "1"}

    play(story)


def test_a_watch_list_ends_its_beginning_with_a_bookmark() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a")
        query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
        answer = await connection.get(f"{MAPS}?{query}&timeoutSeconds=1")
        assert told(answer)[:2] == [("ADDED", "a"), ("BOOKMARK", "")]
        mark = answer.lines[1]["object"]
        assert mark["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        assert (mark["kind"], mark["apiVersion"]) == ("ConfigMap", "v1")

    play(story)


def test_labels_make_objects_enter_and_leave_a_watch() -> None:
    async def story(connection: Connection) -> None:
        version = await make(connection, "a", t="l")
        for labels in ({"t": None}, {"t": "l"}, {"u": "1"}):
            patch = {"metadata": {"labels": labels}}
            headers = {"content-type": "application/merge-patch+json"}
            assert (await connection.ask(Asked("PATCH", f"{MAPS}/a", patch, headers))).code == 200
        query = f"watch=true&resourceVersion={version}&labelSelector={quote('t=l')}&timeoutSeconds=1"
        answer = await connection.get(f"{MAPS}?{query}")
        assert [kind for kind, _ in told(answer)] == ["DELETED", "ADDED", "MODIFIED"]
        left = answer.lines[0]["object"]["metadata"]
        assert left["labels"] == {"t": "l"}
        assert int(left["resourceVersion"]) > int(version)

    play(story)


def test_a_watch_from_a_forgotten_version_says_so_and_ends() -> None:
    async def story(connection: Connection) -> None:
        version = await make(connection, "a")
        desk = connection.api.desk
        desk.watches._rings.clear()
        desk.watches._floor = int(version) + 1
        answer = await connection.get(f"{MAPS}?watch=true&resourceVersion={version}&timeoutSeconds=1")
        assert answer.code == 200
        assert [each["type"] for each in answer.lines] == ["ERROR"]
        assert answer.lines[0]["object"]["code"] == 410

    play(story)


def test_tables_name_their_columns_once() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a", "b")
        answer = await connection.get(f"{MAPS}?watch=true&timeoutSeconds=1", TABLE)
        first, second = answer.lines
        assert first["object"]["columnDefinitions"]
        assert not second["object"]["columnDefinitions"]
        assert second["object"]["rows"][0]["cells"][:2] == ["b", 1]

    play(story)


def test_a_watch_of_one_object_by_its_old_path() -> None:
    async def story(connection: Connection) -> None:
        await make(connection, "a", "b")
        answer = await connection.get("/api/v1/watch/namespaces/default/configmaps/b?timeoutSeconds=1")
        assert told(answer) == [("ADDED", "b")]

    play(story)


def test_a_version_that_is_not_reached_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dray.server.reads._WAIT_SECONDS", 0.01)

    async def story(connection: Connection) -> None:
        answer = await connection.get(f"{MAPS}?resourceVersion=99999999")
        assert answer.code == 504
        assert answer.json["details"] == {
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        }

    play(story)


def test_older_versions_are_answered_in_their_shape() -> None:
    async def story(connection: Connection) -> None:
        request = {"name": "g", "exactly": {"deviceClassName": "gpu"}}
        claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}}
        made = await connection.post("/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", claim)
        assert made.code == 201
        old = await connection.get("/apis/resource.k8s.io/v1beta1/namespaces/default/resourceclaims")
        assert old.json["apiVersion"] == "resource.k8s.io/v1beta1"
        assert old.json["items"][0]["spec"]["devices"]["requests"][0]["deviceClassName"] == "gpu"
        assert "kind" not in old.json["items"][0]
        assert any("deprecated" in each for each in old.all("warning")), old.headers

    play(story)


def test_events_are_seen_from_both_groups() -> None:
    async def story(connection: Connection) -> None:
        event = {
            "metadata": {"name": "e"},
            "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
            "reason": "R",
            "message": "m",
            "type": "Normal",
        }
        assert (await connection.post("/api/v1/namespaces/default/events", event)).code == 201
        listed = await connection.get(
            "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.name%3Dp"
        )
        assert [each["note"] for each in listed.json["items"]] == ["m"]
        assert json.loads(listed.body)["kind"] == "EventList"

    play(story)
