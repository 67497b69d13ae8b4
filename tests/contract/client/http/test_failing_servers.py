"""Servers that break off, stall, put off, or say what no API server says."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from dray.api.core.configmap import ConfigMap
from dray.api.core.kinds import CONFIG_MAP
from dray.client.connection import Connection
from dray.client.http import HttpClient, Surroundings, open_http_client
from dray.client.port import (
    ListOptions,
    ObjectName,
    Patch,
    PatchType,
    Unreachable,
    WatchEvent,
    WatchOptions,
    get_retry_after_seconds,
)
from dray.client.transport import HttpLimits
from dray.effects.clock import FakeClock
from dray.effects.entropy import SeededEntropy
from dray.errors import ApiError, Forbidden, Gone
from tests.contract.client.objects import config_map, opened, told
from tests.contract.client.rawserver import Answer, RawServer, hang, reply, serve_raw, slam, stream

A = ObjectName("a", "default")
THING = b'{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a","namespace":"default","resourceVersion":"7"}}'
BUSY = json.dumps(
    {
        "kind": "Status",
        "apiVersion": "v1",
        "status": "Failure",
        "reason": "TooManyRequests",
        "message": "busy",
        "code": 429,
    }
).encode()
OPEN_WATCH = WatchOptions(namespace="default", resource_version="1")


class Scene:
    def __init__(self, server: RawServer, client: HttpClient, clock: FakeClock) -> None:
        self.server, self.client, self.clock = server, client, clock

    async def until_done(self, work: "asyncio.Future[Any]", *, step: float = 1.0) -> float:
        """Let time pass until the work is done; how much it took."""
        begun = self.clock.monotonic()
        async with asyncio.timeout(10):
            while not work.done():
                await asyncio.wait([work], timeout=0.02)
                if not work.done():
                    await self.clock.advance(step)
        return self.clock.monotonic() - begun


@asynccontextmanager
async def facing(*answers: Answer, limits: HttpLimits | None = None) -> AsyncGenerator[Scene, None]:
    clock = FakeClock()
    surroundings = Surroundings(clock, SeededEntropy(1), {})
    async with serve_raw(answers) as server, open_http_client(Connection(server.url), surroundings, limits) as client:
        yield Scene(server, client, clock)


def watching(scene: Scene) -> "aclosing[AsyncGenerator[WatchEvent[ConfigMap], None]]":
    return opened(scene.client, OPEN_WATCH)


def event(type_: str, name: str, revision: int) -> bytes:
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(revision)}
    thing = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": metadata}
    return json.dumps({"type": type_, "object": thing}).encode() + b"\n"


async def test_a_read_is_repeated_after_a_failure_of_the_server() -> None:
    async with facing(reply(500, b"oops"), slam, reply(200, THING)) as scene:
        work = asyncio.ensure_future(scene.client.get(CONFIG_MAP, A))
        await scene.until_done(work, step=0.1)
        assert work.result().metadata.resource_version == "7"
        assert len(scene.server.requests) >= 3


async def test_reads_are_given_up_in_the_end() -> None:
    async with facing(reply(503, b"<html><body><h1>No backend</h1></body></html>")) as scene:
        work = asyncio.ensure_future(scene.client.get(CONFIG_MAP, A))
        took = await scene.until_done(work, step=0.1)
        with pytest.raises(ApiError, match="503 Service Unavailable: No backend") as caught:
            work.result()
        assert (caught.value.code, caught.value.reason) == (503, "ServiceUnavailable")
        assert len(scene.server.requests) == 4
        assert 0.2 + 0.4 + 0.8 <= took < 3


async def test_writes_are_not_repeated_once_they_may_have_arrived() -> None:
    async with facing(slam) as scene:
        with pytest.raises(Unreachable) as caught:
            await scene.client.create(CONFIG_MAP, config_map("a"))
        assert caught.value.may_have_acted
        assert len(scene.server.requests) == 1
    async with facing(reply(500, b"oops")) as scene:
        with pytest.raises(ApiError):
            await scene.client.delete(CONFIG_MAP, A)
        assert len(scene.server.requests) == 1


async def test_applying_is_repeated() -> None:
    async with facing(slam, reply(200, THING)) as scene:
        work = asyncio.ensure_future(scene.client.patch(CONFIG_MAP, A, Patch(PatchType.APPLY, b"{}")))
        await scene.until_done(work, step=0.1)
        assert work.result().metadata.name == "a"
        assert scene.server.requests[0].target.endswith("/configmaps/a?fieldManager=dray")


async def test_a_server_that_is_busy_says_when_to_come_back() -> None:
    async with facing(reply(429, BUSY, Retry_After="3"), reply(201, THING)) as scene:
        work = asyncio.ensure_future(scene.client.create(CONFIG_MAP, config_map("a")))
        took = await scene.until_done(work)
        assert work.result().metadata.name == "a"
        assert took >= 3
        assert len(scene.server.requests) == 2


async def test_a_server_that_is_busy_for_ever_is_left_alone() -> None:
    async with facing(reply(429, BUSY, Retry_After="1")) as scene:
        work = asyncio.ensure_future(scene.client.create(CONFIG_MAP, config_map("a")))
        await scene.until_done(work, step=20)
        assert len(scene.server.requests) == 10
        with pytest.raises(ApiError) as caught:
            work.result()
        assert get_retry_after_seconds(caught.value) == 1


async def test_a_budget_that_says_no_is_not_asked_again() -> None:
    async with facing(reply(429, BUSY)) as scene:
        with pytest.raises(ApiError):
            await scene.client.create(CONFIG_MAP, config_map("a"))
        assert len(scene.server.requests) == 1


async def test_a_date_says_when_to_come_back_as_well() -> None:
    async with facing(reply(503, b"", Retry_After="Thu, 01 Jan 2026 00:00:05 GMT"), reply(200, THING)) as scene:
        work = asyncio.ensure_future(scene.client.get(CONFIG_MAP, A))
        assert await scene.until_done(work) >= 5


async def test_nobody_listens() -> None:
    async with facing(hang) as scene:
        url = scene.server.url
    clock = FakeClock()
    async with open_http_client(Connection(url), Surroundings(clock, SeededEntropy(1), {})) as client:
        # Nothing was sent, so even a write is tried again.
        work = asyncio.ensure_future(client.create(CONFIG_MAP, config_map("a")))
        took = await Scene(scene.server, client, clock).until_done(work, step=0.1)
        assert took > 1
        with pytest.raises(Unreachable, match="cannot connect") as caught:
            work.result()
        assert not caught.value.may_have_acted
        assert caught.value.hint


async def test_slow_headers_run_into_the_time_limit() -> None:
    async with facing(hang, limits=HttpLimits(attempts=1, request_seconds=30)) as scene:
        for ask in (
            lambda: scene.client.get(CONFIG_MAP, A),
            lambda: anext(scene.client.watch(CONFIG_MAP, OPEN_WATCH)),
        ):
            work: asyncio.Future[Any] = asyncio.ensure_future(ask())
            assert await scene.until_done(work) >= 30
            with pytest.raises(Unreachable, match="no answer within 30 seconds"):
                work.result()


async def test_a_huge_answer_is_cut_off() -> None:
    limits = HttpLimits(attempts=1, answer_bytes=1000)
    async with facing(stream(*[b"x" * 400] * 10, hangs=True), limits=limits) as scene:
        with pytest.raises(Unreachable, match="exceeds 1000 bytes"):
            await scene.client.list(CONFIG_MAP)


async def test_an_answer_that_is_no_object_is_no_fault_of_the_request() -> None:
    async with facing(reply(200, b"<html>login</html>")) as scene:
        for work in (scene.client.get(CONFIG_MAP, A), scene.client.list(CONFIG_MAP)):
            with pytest.raises(ApiError, match="answer cannot be read") as caught:
                await work
            assert caught.value.code == 500


async def test_redirects_are_not_followed() -> None:
    async with facing(reply(302, b"", Location="http://elsewhere.example/")) as scene:
        with pytest.raises(ApiError, match="302 Found"):
            await scene.client.get(CONFIG_MAP, A)


async def test_a_watch_that_breaks_off_says_so() -> None:
    async with facing(stream(event("ADDED", "a", 2), ends=False)) as scene, watching(scene) as events:
        assert told([await anext(events)]) == [("ADDED", "a")]
        with pytest.raises(Unreachable):
            await anext(events)


async def test_a_watch_that_ends_within_a_line_broke_off() -> None:
    whole, half = event("ADDED", "a", 2), event("ADDED", "b", 3)[:30]
    async with facing(stream(whole + half)) as scene, watching(scene) as events:
        assert told([await anext(events)]) == [("ADDED", "a")]
        with pytest.raises(Unreachable, match="middle of a line"):
            await anext(events)


async def test_lines_may_come_in_any_pieces() -> None:
    text = event("ADDED", "a", 2) + b"\n" + event("MODIFIED", "a", 3) + event("DELETED", "a", 4)
    for size in (1, 7, 64, 10_000):
        parts = [text[at : at + size] for at in range(0, len(text), size)]
        async with facing(stream(*parts)) as scene:
            found = [each async for each in scene.client.watch(CONFIG_MAP, OPEN_WATCH)]
        assert told(found) == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


async def test_a_silent_watch_is_taken_for_dead() -> None:
    async with facing(stream(event("ADDED", "a", 2), hangs=True)) as scene, watching(scene) as events:
        await anext(events)
        work = asyncio.ensure_future(anext(events))
        assert await scene.until_done(work, step=10) >= 180
        with pytest.raises(Unreachable, match="silent for 180 seconds"):
            work.result()


@pytest.mark.parametrize("line", [b"nonsense\n", b'{"type":"RENAMED","object":{}}\n', b'{"type":"ADDED","object":3}\n'])
async def test_a_line_that_is_no_event_ends_the_watch(line: bytes) -> None:
    async with facing(stream(line)) as scene:
        with pytest.raises(Unreachable, match="no event"):
            await anext(scene.client.watch(CONFIG_MAP, OPEN_WATCH))


async def test_an_endless_line_is_cut_off() -> None:
    async with facing(stream(*[b"x" * 400] * 10, hangs=True), limits=HttpLimits(line_bytes=1000)) as scene:
        with pytest.raises(Unreachable, match="exceeds 1000 bytes"):
            await anext(scene.client.watch(CONFIG_MAP, OPEN_WATCH))


async def test_forgotten_history_is_told_in_both_ways() -> None:
    expired = {"kind": "Status", "apiVersion": "v1", "reason": "Expired", "message": "too old", "code": 410}
    in_stream = json.dumps({"type": "ERROR", "object": expired}).encode() + b"\n"
    for answer in (reply(410, json.dumps(expired).encode()), stream(in_stream)):
        async with facing(answer) as scene:
            with pytest.raises(Gone, match="too old"):
                await anext(scene.client.watch(CONFIG_MAP, OPEN_WATCH))


async def test_a_refused_watch_is_refused() -> None:
    refusal = {"kind": "Status", "status": "Failure", "reason": "Forbidden", "message": "not you", "code": 403}
    async with facing(reply(403, json.dumps(refusal).encode())) as scene:
        with pytest.raises(Forbidden, match="not you"):
            await anext(scene.client.watch(CONFIG_MAP, OPEN_WATCH))


async def test_connections_are_kept() -> None:
    async with facing(reply(200, THING)) as scene:
        for _ in range(3):
            await scene.client.get(CONFIG_MAP, A)
        assert len(scene.server.requests) == 3
        assert scene.server.connections == 1


async def test_requests_say_what_they_want() -> None:
    async with facing(reply(200, b'{"kind":"ConfigMapList","metadata":{},"items":[]}')) as scene:
        options = ListOptions(namespace="a b", label_selector="app in (x,y)", field_selector="metadata.name=n", limit=5)
        await scene.client.list(CONFIG_MAP, options)
        (request,) = scene.server.requests
        assert request.target == (
            "/api/v1/namespaces/a%20b/configmaps"
            "?fieldSelector=metadata.name%3Dn&labelSelector=app+in+%28x%2Cy%29&limit=5"
        )
        assert request.headers["accept"] == "application/json"
        assert request.headers["accept-encoding"] == "gzip"
        assert "authorization" not in request.headers
