"""A connection to a running server without a client in between: what is sent is what is written here."""

from __future__ import annotations

import base64
import json
import socket
import ssl
from collections.abc import Iterable
from http.client import HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import yaml

from tools.conformance_server import find_server

TIMEOUT_SECONDS = 60


class Answer(NamedTuple):
    """What came back."""

    code: int
    body: bytes

    @property
    def status(self) -> dict[str, Any]:
        """The body as the Status that every refusal is."""
        told: dict[str, Any] = json.loads(self.body)
        assert told["kind"] == "Status"
        assert told["code"] == self.code
        return told


class Wire:
    """One connection, closed with the block. Without a certificate it is nobody's."""

    def __init__(self, kubeconfig: Path, *, is_anonymous: bool = False, receive_buffer: int = 0) -> None:
        server = find_server(None, None, kubeconfig)
        self._host = urlsplit(server.url).netloc
        host, _, port = self._host.rpartition(":")
        plain = socket.socket()
        if receive_buffer:
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        plain.settimeout(TIMEOUT_SECONDS)
        plain.connect((host, int(port)))
        self.socket = (_nobody(kubeconfig) if is_anonymous else server.tls or _nobody(kubeconfig)).wrap_socket(
            plain, server_hostname=host
        )

    def __enter__(self) -> Wire:
        return self

    def __exit__(self, *reason: object) -> None:
        self.socket.close()

    def send(self, head: str, body: bytes = b"", /, **headers: str) -> None:
        """A request line and what follows; the length of the body is told unless it is said otherwise."""
        named = {"Host": self._host, "Content-Length": str(len(body))} | {
            name.replace("_", "-"): value for name, value in headers.items()
        }
        lines = [f"{head} HTTP/1.1", *(f"{name}: {value}" for name, value in named.items() if value)]
        self.socket.sendall("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body)

    def read(self) -> Answer:
        """The next answer, whole."""
        response = HTTPResponse(self.socket)
        response.begin()
        return Answer(response.status, response.read())

    def ask(self, head: str, body: bytes = b"", /, **headers: str) -> Answer:
        """Send and read."""
        self.send(head, body, **headers)
        return self.read()

    def send_chunks(self, head: str, chunks: Iterable[bytes], /, **headers: str) -> None:
        """A request whose length nobody knows beforehand."""
        self.send(head, **{"Content_Length": "", "Transfer_Encoding": "chunked", **headers})
        for chunk in chunks:
            self.socket.sendall(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        self.socket.sendall(b"0\r\n\r\n")


def _nobody(kubeconfig: Path) -> ssl.SSLContext:
    config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    authority = config["clusters"][0]["cluster"]["certificate-authority-data"]
    return ssl.create_default_context(cadata=base64.b64decode(authority).decode())
