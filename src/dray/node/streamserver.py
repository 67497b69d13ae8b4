"""The HTTPS endpoint of an agent that runs apart from the API server: logs and commands, for that server alone.

Who asks shows a certificate of the cluster's authority in the name that `dray.client.nodeendpoint` says; nobody else is
answered. The endpoint's own certificate is made at every start and published in the Node.
"""

import asyncio
import datetime
import ipaddress
import ssl
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Final, NamedTuple
from urllib.parse import parse_qs

from aiohttp import WSMsgType, web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from dray.api.codec import encode_value
from dray.api.meta import Status
from dray.client.channels import SUBPROTOCOLS, CloseChannel, Piece, Size, decode_message, encode_outcome, encode_piece
from dray.client.nodeendpoint import SERVER_USER, parse_command_url, parse_log_url
from dray.client.port import Channel, Execution, NodeStreams
from dray.errors import ApiError, Unauthorized
from dray.values.times import Time

__all__ = ["ServingCertificate", "make_serving_certificate", "serve_streams"]

_LIFE_DAYS: Final = 365
_EARLIER_SECONDS: Final = 3600
"""Clocks that are a little slow find the certificate valid, too."""


class ServingCertificate(NamedTuple):
    """A certificate and its key, in PEM."""

    certificate: bytes
    key: bytes


def make_serving_certificate(host: str, host_ip: str, now: Time) -> ServingCertificate:
    """A certificate that stands for itself: whoever reads the Node knows it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"system:node:{host}"[:64])])
    begin = now.plus_seconds(-_EARLIER_SECONDS).to_datetime()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(begin)
        .not_valid_after(begin + datetime.timedelta(days=_LIFE_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host_ip))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    text = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return ServingCertificate(certificate.public_bytes(serialization.Encoding.PEM), text)


def _make_tls(own: ServingCertificate, authority: bytes) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(cadata=authority.decode())
    with tempfile.NamedTemporaryFile(suffix=".pem") as pem:  # ssl reads certificates of servers from files alone
        pem.write(own.certificate + own.key)
        pem.flush()
        context.load_cert_chain(pem.name)
    return context


@asynccontextmanager
async def serve_streams(
    streams: NodeStreams, own: ServingCertificate, authority: bytes, at: tuple[str, int] = ("127.0.0.1", 0)
) -> AsyncGenerator[int, None]:
    """Answer for all nodes of this process for the length of a block; yields the port.

    Raises OSError for a port that is taken.
    """
    endpoint = _Endpoint(streams)
    # Who goes away ends what was done for them: a log that is followed may have nothing to say for days.
    runner = web.ServerRunner(web.Server(endpoint.answer, handler_cancellation=True))
    await runner.setup()
    site = web.TCPSite(runner, *at, ssl_context=_make_tls(own, authority))
    try:
        await site.start()
        bound: int = runner.addresses[0][1]
        yield bound
    finally:
        await runner.cleanup()


class _Endpoint:
    """Answers requests of the API server."""

    def __init__(self, streams: NodeStreams) -> None:
        self._streams = streams

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        """One request."""
        try:
            _require_server(request)
            path = request.raw_path.partition("?")[0]
            query = parse_qs(request.query_string, keep_blank_values=True)
            if path.startswith("/exec/"):
                return await self._execute(request, path, query)
            return await self._send_log(request, path, query)
        except ApiError as refusal:
            return _refuse(refusal)

    async def _send_log(
        self, request: web.BaseRequest, path: str, query: Mapping[str, list[str]]
    ) -> web.StreamResponse:
        container, options = parse_log_url(path, query)
        response = web.StreamResponse(headers={"content-type": "text/plain"})
        async with aclosing(await self._streams.open_log(container, options)) as pieces:
            await response.prepare(request)
            async for piece in pieces:
                await response.write(piece)
        await response.write_eof()
        return response

    async def _execute(self, request: web.BaseRequest, path: str, query: Mapping[str, list[str]]) -> web.StreamResponse:
        container, command = parse_command_url(path, query)
        execution = await self._streams.start(container, command)
        try:
            socket = web.WebSocketResponse(protocols=SUBPROTOCOLS)
            await socket.prepare(request)
            taking = asyncio.ensure_future(_take_input(socket, execution))
            try:
                await _send_output(socket, execution)
            finally:
                taking.cancel()
                await asyncio.gather(taking, return_exceptions=True)
            await socket.close()
            return socket
        except web.HTTPException as fault:
            return _refuse(ApiError(f"unable to upgrade connection: {fault.text or fault.reason}"))
        finally:
            await execution.aclose()


async def _send_output(socket: web.WebSocketResponse, execution: Execution) -> None:
    async with aclosing(execution.output()) as pieces:
        async for piece in pieces:
            await socket.send_bytes(encode_piece(piece.channel, piece.body))
    try:
        outcome: int | ApiError = await execution.wait()
    except ApiError as fault:
        outcome = fault
    await socket.send_bytes(encode_outcome(outcome))


async def _take_input(socket: web.WebSocketResponse, execution: Execution) -> None:
    """Hand on what comes in; who goes away has given the command up."""
    async for message in socket:
        if message.type is not WSMsgType.BINARY:
            continue
        said = decode_message(message.data)
        if isinstance(said, Size):
            await execution.resize(said.width, said.height)
        elif isinstance(said, CloseChannel) and said.channel is Channel.STDIN:
            await execution.end_input()
        elif isinstance(said, Piece) and said.channel is Channel.STDIN:
            await execution.send(said.body)
    await execution.aclose()


def _require_server(request: web.BaseRequest) -> None:
    """Raises Unauthorized unless the API server asks."""
    tls = request.transport.get_extra_info("ssl_object") if request.transport is not None else None
    peer = tls.getpeercert() if tls is not None else None
    names = [value for part in (peer or {}).get("subject", ()) for name, value in part if name == "commonName"]
    if names != [SERVER_USER]:
        raise Unauthorized("only the API server is answered")


def _refuse(refusal: ApiError) -> web.Response:
    status = Status(status="Failure", message=refusal.message, reason=refusal.reason, code=refusal.code)
    return web.Response(status=refusal.code, body=encode_value(status), content_type="application/json")
