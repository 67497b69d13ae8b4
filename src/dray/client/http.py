"""The Client port over HTTP, against any conformant API server.

A request is repeated with growing waits where that cannot do harm: always while it surely never arrived or the server
itself puts it off; reads and server-side apply also after they broke off or the server failed. Creating, replacing,
patching and deleting are never repeated once the server may have acted: the caller, who knows what is meant, reads
first.
"""

import math
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from dray.api.codec import ApiList, Codec, encode_value, get_codec
from dray.api.kind import Kind
from dray.api.meta import ApiObject, DeleteOptions
from dray.api.registry import AnyKind
from dray.client.connection import Connection
from dray.client.credentials import CredentialsError, make_credentials
from dray.client.execplugin import PluginCredentials
from dray.client.failures import decode_failure, refuse_answer
from dray.client.paths import collection_path, list_query, object_path, watch_query, write_query
from dray.client.port import (
    ALL,
    ALL_CHANGES,
    PLAIN,
    ListOptions,
    ObjectName,
    Patch,
    PatchType,
    Unreachable,
    WatchEvent,
    WatchOptions,
    WriteOptions,
    find_parent,
    get_retry_after_seconds,
    is_retryable,
)
from dray.client.retrying import Pace
from dray.client.tls import TlsError
from dray.client.transport import HttpAnswer, HttpCall, HttpLimits, HttpStream, Transport, open_transport
from dray.client.watchlines import LineSplitter, decode_watch_line
from dray.effects.clock import Clock
from dray.effects.entropy import Entropy
from dray.errors import ApiError, BadRequest
from dray.values.times import MicroTime

__all__ = ["HttpClient", "Surroundings", "open_http_client"]

K = TypeVar("K", bound=ApiObject)

_FIRST_WAIT_SECONDS = 0.2
"""People wait for most requests, so the first retries come soon."""
_LONGEST_WAIT_SECONDS = 120
"""A server that wants more time is told of as an error, not waited for."""
_LONGEST_WATCH_SECONDS = 3600
"""Servers end a watch within an hour where they are not told when."""
_LASTING = (CredentialsError, TlsError)
"""What trying again does not heal."""
_MANAGER = "dray"
"""Who applies, where the caller does not say; for other writes the server takes it from the User-Agent."""
_JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the client needs of the world. `environment` is what credential plugins run in."""

    clock: Clock
    entropy: Entropy
    environment: Mapping[str, str]


class HttpClient:
    """Objects of one API server over HTTP. Made by `open_http_client`; use it on one event loop.

    `versions` has the version to speak of kinds that the server does not serve in the newest.
    """

    def __init__(
        self, transport: Transport, pace: Pace, limits: HttpLimits, versions: Mapping[AnyKind, str] | None = None
    ) -> None:
        self._transport = transport
        self._pace = pace
        self._limits = limits
        self._versions = versions or {}

    async def get(self, kind: Kind[K], name: ObjectName) -> K:
        """One object; see `Client.get`."""
        path = object_path(kind, self._version(kind), name)
        return self._decode(kind, await self._send(HttpCall("GET", path, is_repeatable=True)))

    async def list(self, kind: Kind[K], options: ListOptions = ALL) -> ApiList[K]:
        """Objects or a page of them; see `Client.list`."""
        path = collection_path(kind, self._version(kind), options.namespace)
        body = await self._send(HttpCall("GET", path, list_query(options), is_repeatable=True))
        try:
            return self._codec(kind).decode_list(body)
        except BadRequest as fault:
            raise _refuse_body(fault) from fault

    async def watch(self, kind: Kind[K], options: WatchOptions = ALL_CHANGES) -> AsyncGenerator[WatchEvent[K], None]:
        """Changes over one connection; see `Client.watch`. Only opening it is repeated."""
        path = collection_path(kind, self._version(kind), options.namespace)
        call = HttpCall("GET", path, watch_query(options), is_repeatable=True)
        codec = self._codec(kind)
        splitter = LineSplitter(self._limits.line_bytes)
        # Without bookmarks silence says nothing, so only a watch that outlives its own end is dead.
        patience = self._limits.idle_seconds
        if not options.allow_bookmarks:
            patience += options.timeout_seconds or _LONGEST_WATCH_SECONDS
        stream = await self.open_stream(call)
        try:
            while chunk := await stream.read(patience):
                for line in splitter.feed(chunk):
                    yield decode_watch_line(line, codec)
        finally:
            stream.close()
        if splitter.holds_part:
            raise Unreachable("the watch ended in the middle of a line")

    async def create(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        """Store a new object, or post to a subresource; see `Client.create`."""
        if subresource:
            parent = find_parent(kind, subresource)
            path = object_path(parent, self._version(parent), _name(thing), subresource)
        else:
            path = collection_path(kind, self._version(kind), thing.metadata.namespace)
        body = await self._send(HttpCall("POST", path, write_query(options), self._encode(kind, thing), _JSON))
        return self._decode_answer(kind, body, thing)

    async def update(self, kind: Kind[K], thing: K, options: WriteOptions = PLAIN, *, subresource: str = "") -> K:
        """Replace an object or its status; see `Client.update`."""
        path = object_path(kind, self._version(kind), _name(thing), subresource)
        body = await self._send(HttpCall("PUT", path, write_query(options), self._encode(kind, thing), _JSON))
        return self._decode(kind, body)

    async def patch(
        self, kind: Kind[K], name: ObjectName, patch: Patch, options: WriteOptions = PLAIN, *, subresource: str = ""
    ) -> K:
        """Change a part of an object; see `Client.patch`."""
        path = object_path(kind, self._version(kind), name, subresource)
        is_apply = patch.type is PatchType.APPLY
        if is_apply and not options.field_manager:
            options = replace(options, field_manager=_MANAGER)
        call = HttpCall("PATCH", path, write_query(options), patch.body, patch.type, is_repeatable=is_apply)
        return self._decode(kind, await self._send(call))

    async def delete(self, kind: Kind[K], name: ObjectName, options: DeleteOptions | None = None) -> K | None:
        """Ask for an object to go; see `Client.delete`."""
        path = object_path(kind, self._version(kind), name)
        body = b""
        if options is not None:
            body = encode_value(replace(options, kind="DeleteOptions", api_version="v1"))
        answer = await self._send(HttpCall("DELETE", path, "", body, _JSON if body else ""))
        return None if _is_status(answer) else self._decode(kind, answer)

    def _version(self, kind: AnyKind) -> str:
        return self._versions.get(kind, kind.declared_version)

    def _codec(self, kind: Kind[K]) -> Codec[K]:
        return get_codec(kind, self._version(kind))

    def _encode(self, kind: Kind[K], thing: K) -> bytes:
        return self._codec(kind).encode(thing)

    def _decode(self, kind: Kind[K], body: bytes) -> K:
        try:
            return self._codec(kind).decode(body)
        except BadRequest as fault:
            raise _refuse_body(fault) from fault

    def _decode_answer(self, kind: Kind[K], body: bytes, posted: K) -> K:
        """What was created. Some subresources answer with a Status: then what was posted stands for it."""
        return posted if _is_status(body) else self._decode(kind, body)

    async def _send(self, call: HttpCall) -> bytes:
        return (await self.call(call)).body

    async def call(self, call: HttpCall) -> HttpAnswer:
        """Make any request, repeated where that cannot do harm. Raises ApiError for an answer that refuses it."""
        attempt = 0
        while True:
            fault: ApiError | Unreachable
            try:
                answer = await self._transport.send(call, self._limits)
            except Unreachable as unreachable:
                fault = unreachable
            else:
                if answer.code < 300:
                    return answer
                fault = self._read_failure(answer)
            await self._wait_for_retry(call, fault, attempt)
            attempt += 1

    async def open_stream(self, call: HttpCall) -> HttpStream:
        """The same for an answer that comes bit by bit. Whoever opened it closes it."""
        attempt = 0
        while True:
            fault: ApiError | Unreachable
            try:
                opened = await self._transport.open_stream(call, self._limits)
            except Unreachable as unreachable:
                fault = unreachable
            else:
                if isinstance(opened, HttpStream):
                    return opened
                fault = self._read_failure(opened)
            await self._wait_for_retry(call, fault, attempt)
            attempt += 1

    def _read_failure(self, answer: HttpAnswer) -> ApiError:
        if answer.code < 400:
            return refuse_answer(answer.code, answer.body)
        seconds = _parse_retry_after(answer.headers.get("Retry-After", ""), self._pace.clock.now())
        return decode_failure(answer.code, answer.body, retry_after_seconds=seconds)

    async def _wait_for_retry(self, call: HttpCall, fault: ApiError | Unreachable, attempt: int) -> None:
        """Wait until the call may be made again. Raises the fault where it may not."""
        wanted = get_retry_after_seconds(fault) if isinstance(fault, ApiError) else 0
        if isinstance(fault, Unreachable):
            may_repeat = call.is_repeatable or not fault.may_have_acted
            may_repeat = may_repeat and not isinstance(fault, _LASTING)
            allowed = self._limits.attempts
        else:
            # A server that puts a request off has not begun with it.
            is_put_off = wanted > 0 and fault.code in (429, 503)
            may_repeat = is_put_off or (call.is_repeatable and is_retryable(fault))
            allowed = self._limits.busy_attempts if is_put_off else self._limits.attempts
        if not may_repeat or attempt + 1 >= allowed or wanted > _LONGEST_WAIT_SECONDS:
            raise fault
        await self._pace.pause(attempt, at_least=wanted)


def _name(thing: ApiObject) -> ObjectName:
    return ObjectName(thing.metadata.name, thing.metadata.namespace)


class _TypeMeta(msgspec.Struct):
    kind: str = ""


def _is_status(body: bytes) -> bool:
    try:
        return msgspec.json.decode(body, type=_TypeMeta).kind == "Status"
    except msgspec.DecodeError:
        return False


def _refuse_body(fault: BadRequest) -> ApiError:
    """An answer that cannot be read is no fault of the request."""
    return ApiError(f"the server's answer cannot be read: {fault}", fault.about)


def _parse_retry_after(text: str, now: MicroTime) -> int:
    """Seconds from a Retry-After header, which has them or a date; 0 for none."""
    if text.isdecimal():
        return int(text)
    try:
        return max(0, math.ceil((parsedate_to_datetime(text) - now.to_datetime()).total_seconds()))
    except (ValueError, TypeError):
        return 0


@asynccontextmanager
async def open_http_client(
    connection: Connection,
    surroundings: Surroundings,
    limits: HttpLimits | None = None,
    *,
    versions: Mapping[AnyKind, str] | None = None,
) -> AsyncGenerator[HttpClient, None]:
    """A client whose connections are closed at the end. Nothing is sent before the first request."""
    clock = surroundings.clock
    plugin = connection.login.plugin
    runner = PluginCredentials(plugin, surroundings.environment, clock) if plugin else None
    credentials = make_credentials(connection.login, runner)
    pace = Pace(clock, surroundings.entropy, first_seconds=_FIRST_WAIT_SECONDS)
    async with open_transport(connection, credentials, clock) as transport:
        yield HttpClient(transport, pace, limits or HttpLimits(), versions)
