"""Requests and answers over HTTP, on aiohttp: the one module of the client that knows the library.

Everything that goes wrong before there is an answer leaves as `Unreachable`, which says whether the server may have
acted. What an answer means is not decided here.
"""

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

import aiohttp
from msgspec import Struct
from yarl import URL

from dray import __version__
from dray.client.connection import Connection
from dray.client.credentials import Credentials, Identity
from dray.client.deadlines import within
from dray.client.port import Unreachable
from dray.client.proxies import choose_proxy
from dray.client.tls import TlsContexts, TlsError
from dray.effects.clock import Clock

__all__ = [
    "HttpAnswer",
    "HttpCall",
    "HttpLimits",
    "HttpStream",
    "TlsError",
    "Transport",
    "explain_fault",
    "open_transport",
    "read_warnings",
]

_WARNING = re.compile(r'\b299 \S+ "((?:[^"\\]|\\.)*)"')
_ESCAPED = re.compile(r"\\(.)")
_CONNECT_SECONDS: Final = 10.0
_KEEP_ALIVE_SECONDS: Final = 20.0
"""Idle connections are dropped before servers and balancers do it, lest a write be lost in one that is just closing."""


class HttpLimits(Struct, frozen=True):
    """How long and how much the client puts up with."""

    request_seconds: float = 60.0
    """From the start of a request to the end of its answer; for watches, to its first line."""
    idle_seconds: float = 180.0
    """Without a word a watch is taken for dead after three bookmarks that did not come."""
    attempts: int = 4
    """Tries of a request that fails and may be repeated."""
    busy_attempts: int = 10
    """Tries of a request that the server puts off and says for how long."""
    answer_bytes: int = 512 * 1024 * 1024
    """Of one answer: ten thousand objects of the largest size a server stores are fifteen gigabytes; use pages."""
    line_bytes: int = 32 * 1024 * 1024
    """Of one event of a watch: ten times what a request may carry."""


class HttpCall(Struct, frozen=True):
    """One request."""

    method: str
    path: str
    query: str = ""
    body: bytes = b""
    content_type: str = ""
    accept: str = "application/json"
    is_repeatable: bool = False
    """Whether doing it twice is doing it once."""


class HttpAnswer(Struct, frozen=True):
    """A complete answer."""

    code: int
    headers: Mapping[str, str]
    body: bytes
    warnings: tuple[str, ...] = ()
    """What the server warns of, as kubectl would print it."""


def read_warnings(headers: Iterable[str]) -> Iterator[str]:
    """The texts in Warning headers: `299 - "resource.k8s.io/v1beta1 is deprecated"`. Others than 299 are of proxies."""
    for header in headers:
        for text in _WARNING.findall(header):
            yield _ESCAPED.sub(r"\1", text)


class Transport:
    """Sends calls over a pool of connections that are kept open. Made by `open_transport`."""

    def __init__(
        self, connection: Connection, session: aiohttp.ClientSession, credentials: Credentials, clock: Clock
    ) -> None:
        self._connection = connection
        self._session = session
        self._credentials = credentials
        self._clock = clock
        self._tls = TlsContexts(connection.trust) if connection.server.startswith("https:") else None
        self._proxy = choose_proxy(connection)

    async def send(self, call: HttpCall, limits: HttpLimits) -> HttpAnswer:
        """Send a call and read the whole answer, whatever its code. Raises Unreachable."""
        try:
            return await within(self._clock, limits.request_seconds, self._exchange(call, limits))
        except TimeoutError as fault:
            raise self._time_out(limits.request_seconds) from fault

    async def _exchange(self, call: HttpCall, limits: HttpLimits) -> HttpAnswer:
        response = await self._respond(call)
        warnings = tuple(read_warnings(response.headers.getall("Warning", ())))
        body = await self._read(response, limits.answer_bytes)
        return HttpAnswer(response.status, response.headers, body, warnings)

    async def open_stream(self, call: HttpCall, limits: HttpLimits) -> "HttpStream | HttpAnswer":
        """Send a call and hold the answer open; a refusal is read whole. Raises Unreachable."""
        try:
            return await within(self._clock, limits.request_seconds, self._begin(call, limits))
        except TimeoutError as fault:
            raise self._time_out(limits.request_seconds) from fault

    async def _begin(self, call: HttpCall, limits: HttpLimits) -> "HttpStream | HttpAnswer":
        response = await self._respond(call)
        if response.status in (200, 204):  # 204: there is nothing, and that is all of it
            return HttpStream(response, self)
        return HttpAnswer(response.status, response.headers, await self._read(response, limits.answer_bytes))

    async def read_chunk(self, response: aiohttp.ClientResponse, idle_seconds: float) -> bytes:
        """What came next, empty at the end; see `HttpStream.read`."""
        try:
            return await within(self._clock, idle_seconds, response.content.readany())
        except TimeoutError as fault:
            raise Unreachable(f"{self._connection.server}: silent for {idle_seconds:g} seconds") from fault
        except (aiohttp.ClientError, OSError) as fault:
            raise self._explain(fault) from fault

    async def _respond(self, call: HttpCall) -> aiohttp.ClientResponse:
        identity = await self._credentials.get()
        response = await self._request(call, identity)
        # A 401 is said before anything is done, so any verb may be repeated.
        if response.status == 401 and await self._credentials.renew(identity):
            response.close()
            response = await self._request(call, await self._credentials.get())
        return response

    async def _request(self, call: HttpCall, identity: Identity) -> aiohttp.ClientResponse:
        connection = self._connection
        query = f"?{call.query}" if call.query else ""
        try:
            return await self._session.request(
                call.method,
                URL(f"{connection.server}{call.path}{query}", encoded=True),
                data=call.body or None,
                headers=self._headers(call, identity),
                proxy=self._proxy,
                ssl=self._tls.get(identity.certificate) if self._tls else True,
                server_hostname=connection.trust.server_name or None,
                allow_redirects=False,  # an API server sends none, and credentials must not follow one
            )
        except (aiohttp.ClientError, OSError) as fault:
            raise self._explain(fault) from fault

    def _headers(self, call: HttpCall, identity: Identity) -> list[tuple[str, str]]:
        headers = [("Accept", call.accept), ("User-Agent", f"dray/{__version__}")]
        if call.content_type:
            headers.append(("Content-Type", call.content_type))
        if identity.authorization:
            headers.append(("Authorization", identity.authorization))
        is_compressed = self._connection.is_compressed and "watch=true" not in call.query
        headers.append(("Accept-Encoding", "gzip" if is_compressed else "identity"))
        return headers + list(self._connection.login.impersonation)

    async def _read(self, response: aiohttp.ClientResponse, limit: int) -> bytes:
        body = bytearray()
        try:
            async for chunk in response.content.iter_any():
                body += chunk
                if len(body) > limit:
                    hint = "ask for less with a limit or a selector"
                    raise Unreachable(f"{self._connection.server}: the answer exceeds {limit} bytes", hint=hint)
        except (aiohttp.ClientError, OSError) as fault:
            raise self._explain(fault) from fault
        finally:
            if not response.content.at_eof():
                response.close()
        return bytes(body)

    def _time_out(self, seconds: float) -> Unreachable:
        return Unreachable(f"{self._connection.server}: no answer within {seconds:g} seconds")

    def _explain(self, fault: Exception) -> Unreachable:
        return explain_fault(fault, self._connection.server, self._proxy)


class HttpStream:
    """An answer that is still coming. Whoever opened it closes it."""

    def __init__(self, response: aiohttp.ClientResponse, transport: Transport) -> None:
        self._response = response
        self._transport = transport

    async def read(self, patience_seconds: float) -> bytes:
        """What came next, empty at the end. Raises Unreachable where the stream broke or stays silent."""
        return await self._transport.read_chunk(self._response, patience_seconds)

    def close(self) -> None:
        """Drop the connection: nobody knows how much is still to come, so it cannot be used again."""
        self._response.close()


def explain_fault(fault: Exception, server: str, proxy: str | None) -> Unreachable:
    """What is wrong with the way to the server, and what to look at."""
    if isinstance(fault, aiohttp.ClientConnectorCertificateError):
        return _explain_certificate(fault.certificate_error, server)
    if isinstance(fault, aiohttp.ClientHttpProxyError | aiohttp.ClientProxyConnectionError):
        via = f"{server}: the proxy {_hide_password(proxy or '')} does not lead there"
        return Unreachable(f"{via}: {_summarise(fault)}", hint="check proxy-url or HTTPS_PROXY", may_have_acted=False)
    if isinstance(fault, aiohttp.ClientConnectorDNSError):
        hint = "check the server's address in the kubeconfig"
        return Unreachable(f"{server}: no such host", hint=hint, may_have_acted=False)
    if isinstance(fault, aiohttp.ClientSSLError | ssl.SSLError):
        hint = "check that the server speaks TLS at this address"
        return Unreachable(f"{server}: TLS failed: {_summarise(fault)}", hint=hint, may_have_acted=False)
    if isinstance(fault, aiohttp.ClientConnectorError | aiohttp.ConnectionTimeoutError):
        hint = "check that the server runs and the address is right"
        return Unreachable(f"{server}: cannot connect: {_summarise(fault)}", hint=hint, may_have_acted=False)
    return Unreachable(f"{server}: the connection broke: {_summarise(fault)}")


def _explain_certificate(fault: Exception, server: str) -> TlsError:
    reason = getattr(fault, "verify_message", "") or str(fault)
    hint = "check certificate-authority-data and tls-server-name in the kubeconfig"
    return TlsError(f"{server}: its certificate is not trusted: {reason}", hint=hint)


def _summarise(fault: Exception) -> str:
    if isinstance(fault, aiohttp.ClientHttpProxyError):
        return f"it answered {fault.status} {fault.message}"
    if isinstance(fault, OSError) and fault.strerror:
        return fault.strerror
    return str(fault) or type(fault).__name__


def _hide_password(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


@asynccontextmanager
async def open_transport(
    connection: Connection, credentials: Credentials, clock: Clock
) -> AsyncGenerator[Transport, None]:
    """A transport whose connections are closed at the end. Raises ProxyError."""
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_SECONDS)
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_SECONDS),
        skip_auto_headers=("Content-Type",),
    )
    async with session:
        yield Transport(connection, session, credentials, clock)
    await asyncio.sleep(0)  # lets the loop see that the connections are closed
