"""The judge of recorded creates that asks a running API server, over one connection."""

import base64
import ipaddress
import json
import ssl
import tempfile
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import yaml

from tools.conformance_answers import Answer, Cause, compare_answer
from tools.conformance_lines import Line, Verdict

__all__ = ["Server", "ServerJudge", "find_server"]

_TIMEOUT_SECONDS: Final = 30
_REFUSED: Final = 400


@dataclass(frozen=True)
class Server:
    """Where the server is and how to be let in."""

    url: str
    token: str = ""
    tls: ssl.SSLContext | None = None

    def connect(self) -> HTTPConnection:
        """A connection, not yet opened."""
        parts = urlsplit(self.url)
        if parts.scheme == "http":
            return HTTPConnection(parts.netloc, timeout=_TIMEOUT_SECONDS)
        return HTTPSConnection(parts.netloc, timeout=_TIMEOUT_SECONDS, context=self.tls)


class ServerJudge:
    """Lines of dry-run creates, each sent as it was recorded. Whoever makes one closes it: it keeps a connection."""

    def __init__(self, server: Server) -> None:
        self._connection = server.connect()
        self._headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if server.token:
            self._headers["Authorization"] = f"Bearer {server.token}"

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def recognises(self, line: Line) -> bool:
        """Whether the line is one of these."""
        return line.get("method") == "POST" and "expect" in line

    def judge(self, line: Line) -> Verdict:
        """Send the request and compare the answer."""
        answer = self._ask(f"{line['path']}?{line['query']}", json.dumps(line["object"]))
        return compare_answer(answer, line["expect"], sent=line["object"], parts=("spec",))

    def _ask(self, path: str, body: str) -> Answer:
        # An answer that breaks off closes the connection; the next request opens it again.
        self._connection.request("POST", path, body.encode(), self._headers)
        response = self._connection.getresponse()
        text = response.read()
        answer: dict[str, Any] = json.loads(text)
        if response.status < _REFUSED:
            return Answer(response.status, body=answer)
        causes = tuple(
            Cause(each.get("field", ""), each.get("reason", ""), each.get("message", ""))
            for each in (answer.get("details") or {}).get("causes") or ()
        )
        return Answer(response.status, answer.get("message", ""), causes)


def find_server(url: str | None, token: str | None, kubeconfig: Path | None) -> Server:
    """The server that the options name.

    What a kubeconfig says is the base: its current context with embedded certificates, as `dray up` writes them.
    """
    access = _read_kubeconfig(kubeconfig) if kubeconfig else None
    address = url or (access.url if access else "")
    tls = access.tls if access else None
    if tls is None:
        tls = ssl.create_default_context()
        if _is_loopback(address):
            # Nobody stands between two ends of one machine, and the authority is the server's own.
            tls.check_hostname = False
            tls.verify_mode = ssl.CERT_NONE
    return Server(address, token or "", tls)


def _read_kubeconfig(file: Path) -> Server:
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
    if "client-certificate-data" in user:
        pair = base64.b64decode(user["client-certificate-data"]) + base64.b64decode(user["client-key-data"])
        with tempfile.NamedTemporaryFile(suffix=".pem") as pem:  # ssl reads certificates of clients from files alone
            pem.write(pair)
            pem.flush()
            tls.load_cert_chain(pem.name)
    return Server(cluster["server"], user.get("token", ""), tls)


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(each for each in entries if each["name"] == name)


def _is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
