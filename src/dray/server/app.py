"""The ASGI application: who asks, may they, what is it, answer.

There is no framework: a path is looked up, a verb is called, bytes are sent. What fails becomes a Status here and
nowhere else.
"""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Final, TypeVar

from dray.api.jsonsyntax import TOO_DEEP
from dray.client.port import Command, Execution
from dray.effects.log import Log
from dray.errors import ApiError, BadRequest
from dray.server.attributes import describe, describe_path, name_verb
from dray.server.desk import Caller
from dray.server.dispatch import Dispatcher, is_stream
from dray.server.endpoints import PathNotFound
from dray.server.execution import attend, choose_subprotocol
from dray.server.faults import UnknownResource, describe_store_busy
from dray.server.http import HttpCall, Receive, Reply, Scope, Send, reply_failure, send_reply
from dray.server.identity.peer import find_peer
from dray.server.options import parse_query
from dray.server.permission.denial import refuse
from dray.server.podstreams import start_command
from dray.server.ports import AccessAttributes, Authenticator, User
from dray.server.printing import print_failure
from dray.server.site import Site
from dray.store.port import StoreBusy, StoreError

__all__ = ["Application"]

T = TypeVar("T")

_REFUSED: Final = 400
_NO_CACHE: Final = (b"cache-control", b"no-cache, private")
_NOT_FOUND: Final = Reply(404, b"404 page not found\n", "text/plain; charset=utf-8")


class Application:
    """Answers requests. `site` has what is no resource, `dispatcher` the rest."""

    def __init__(self, dispatcher: Dispatcher, site: Site, authenticator: Authenticator, log: Log) -> None:
        self._dispatcher = dispatcher
        self._desk = dispatcher.desk
        self._site = site
        self._authenticator = authenticator
        self._log = log
        self._audit_prefix = self._desk.entropy.uid()[:23].encode()
        self._audit_numbers = itertools.count(1)
        self._metrics = site.requests
        self._streams: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, as ASGI has it."""
        if scope["type"] == "http":
            await self._reply(HttpCall(scope, receive), send)
        elif scope["type"] == "websocket":
            await self._connect(HttpCall({**scope, "method": "GET"}, receive), receive, send)
        else:
            await _follow_lifespan(receive, send)

    async def _reply(self, call: HttpCall, send: Send) -> None:
        reply = await self._attempt(call, self._serve)
        base = self._base_headers(call)
        if reply.stream is None:
            if reply.code >= _REFUSED:
                reply = print_failure(reply, call)
            await send_reply(reply, send, base)
        else:
            await self._stream(call, reply, send, base)

    async def _connect(self, call: HttpCall, receive: Receive, send: Send) -> None:
        """Run a command for as long as a WebSocket is open. What fails before is a reply like any other."""
        await receive()  # says that somebody wants to connect
        opened = await self._attempt(call, self._start)
        if isinstance(opened, Reply):
            await send_reply(opened, send, self._base_headers(call), prefix="websocket.http")
            return
        protocol, command, execution = opened
        await send({"type": "websocket.accept", "subprotocol": protocol})
        await attend(execution, command, receive, send)

    def _base_headers(self, call: HttpCall) -> tuple[tuple[bytes, bytes], ...]:
        audit_id = call.headers.get(b"audit-id") or b"%b-%012x" % (self._audit_prefix, next(self._audit_numbers))
        return ((b"audit-id", audit_id), _NO_CACHE)

    async def _attempt(self, call: HttpCall, act: Callable[[HttpCall], Awaitable[T]]) -> T | Reply:
        """What `act` makes of a request, or the reply that tells why it failed."""
        try:
            return await act(call)
        except ApiError as error:
            return reply_failure(error)
        except PathNotFound:
            return _NOT_FOUND
        except StoreBusy as fault:
            return reply_failure(describe_store_busy(fault))
        except StoreError as fault:
            self._log.error("the store refused a request", method=call.method, path=call.path, err=fault)
            return reply_failure(ApiError(f"the store failed: {fault}"))
        except RecursionError:  # only what was sent is nested so deeply
            return reply_failure(BadRequest(TOO_DEEP))
        except Exception as fault:  # the outermost frame of a request: our bug must not end other requests
            self._log.error("request failed", method=call.method, path=call.path, err=repr(fault))
            failure = ApiError(f"Internal error occurred: {type(fault).__name__}")
            failure.reason = "InternalError"
            return reply_failure(failure)

    async def _serve(self, call: HttpCall) -> Reply:
        user = self._authenticator.identify(call.scope["headers"], find_peer(call.scope))
        path = call.path
        try:
            target = self._desk.routes.resolve(path)
        except PathNotFound:
            self._require(user, describe_path(call))
            return await self._site.answer(call)
        except UnknownResource:
            self._require(user, describe_path(call))
            raise
        verb = name_verb(call, target)
        self._require(user, describe(verb, target, call))
        caller = Caller(user, _read_manager(call), verb=verb)
        reply = await self._dispatcher.dispatch(verb, target, call, caller)
        self._metrics.count(verb, target.endpoint.form.resource, reply.code)
        return reply

    async def _start(self, call: HttpCall) -> tuple[str, Command, Execution]:
        """Start what a WebSocket asks for."""
        user = self._authenticator.identify(call.scope["headers"], find_peer(call.scope))
        target = self._desk.routes.resolve(call.path)
        # A read in HTTP's words, and yet it acts: both are asked for, and so are they by Kubernetes.
        for verb in ("get", "create"):
            self._require(user, describe(verb, target, call))
        if not is_stream(target):
            raise BadRequest("the request is not one that can be upgraded")
        protocol = choose_subprotocol(call.scope["subprotocols"])
        command, execution = await start_command(self._desk, target, parse_query(call.query))
        return protocol, command, execution

    def _require(self, user: User, attributes: AccessAttributes) -> None:
        decision = self._desk.permissions.decide(user, attributes)
        if not decision.is_allowed:
            raise refuse(user, attributes, decision)

    async def _stream(self, call: HttpCall, reply: Reply, send: Send, base: tuple[tuple[bytes, bytes], ...]) -> None:
        """Send piece by piece until there are no more, or nobody listens any longer."""
        headers = [(b"content-type", reply.media_type.encode()), *base, *reply.headers]
        await send({"type": "http.response.start", "status": reply.code, "headers": headers})

        async def send_pieces() -> None:
            assert reply.stream is not None
            async with aclosing(reply.stream) as pieces:
                async for piece in pieces:
                    await send({"type": "http.response.body", "body": piece, "more_body": True})

        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(send_pieces())
            listening = tasks.create_task(call.wait_for_disconnect())
            listening.add_done_callback(lambda done: sending.cancel())
            sending.add_done_callback(lambda done: listening.cancel())
            self._streams.add(sending)
        self._streams.discard(sending)
        await send({"type": "http.response.body", "body": b""})

    def end_streams(self) -> None:
        """End every watch in good order, before the server goes: clients come again elsewhere, or later."""
        for sending in self._streams:
            sending.cancel()


async def _follow_lifespan(receive: Receive, send: Send) -> None:
    """Take note of the start and the end of the server, which need nothing of us."""
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _read_manager(call: HttpCall) -> str:
    """The field manager of a client that names none: what stands before the first slash of its User-Agent."""
    agent = call.headers.get(b"user-agent", b"").decode("latin-1").partition("/")[0]
    return agent[:128] if agent and agent.isprintable() else "unknown"
