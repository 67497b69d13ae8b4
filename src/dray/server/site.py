"""Paths that are no resource: discovery, OpenAPI, health, the version, metrics."""

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from dray.server.desk import Desk
from dray.server.documents import Document, Documents
from dray.server.endpoints import PathNotFound
from dray.server.faults import method_not_allowed
from dray.server.health import HEALTH_PATHS, Check, examine
from dray.server.http import HttpCall, Reply
from dray.server.metrics import MEDIA_TYPE, Gauge, RequestMetrics
from dray.server.options import parse_query

__all__ = ["Site"]

_TEXT: Final = "text/plain; charset=utf-8"
_KEY_PATHS: Final = frozenset({".well-known/openid-configuration", "openid/v1/jwks"})
_KEPT: Final = ((b"cache-control", b"public, max-age=3600"),)


class Site:
    """Answers what everyone may read who may read it at all. What `requests` counts is shown by `/metrics`."""

    def __init__(self, desk: Desk, checks: Mapping[str, Check]) -> None:
        self._desk = desk
        self._checks = checks
        self.requests = RequestMetrics()
        self._more_metrics: dict[str, Callable[[], str]] = {}
        self._documents = Documents(desk.routes.kinds, desk.now())

    def show_metrics(self, part: str, render: Callable[[], str]) -> None:
        """Have `/metrics` show what a part of this process counts, in the form of Prometheus. The latest one counts."""
        self._more_metrics[part] = render

    async def answer(self, call: HttpCall) -> Reply:
        """The answer at a path that is allowed. Raises `PathNotFound`."""
        first = call.path.split("/", 2)[1]
        if first in HEALTH_PATHS:
            query = parse_query(call.query)
            verdict = examine(
                call.path, self._checks, is_verbose="verbose" in query, excluded=tuple(query.get("exclude", ()))
            )
            return Reply(verdict.code, verdict.text.encode(), _TEXT)
        if call.path == "/metrics":
            texts = (self.requests.render(self._gauges()), *(render() for render in self._more_metrics.values()))
            return Reply(200, "".join(texts).encode(), MEDIA_TYPE)
        if call.path.strip("/") in _KEY_PATHS:
            return self._tell_keys(call)
        document = self._documents.find(call.path, call.header(b"accept"))
        if document is None:
            raise PathNotFound(call.path)
        if call.method not in ("GET", "HEAD"):
            raise method_not_allowed()
        return _deliver(document, call)

    def _tell_keys(self, call: HttpCall) -> Reply:
        """How to verify tokens of service accounts without asking for a review."""
        tokens = self._desk.tokens
        if tokens is None:
            raise PathNotFound(call.path)
        if call.method != "GET":
            raise method_not_allowed()
        if "jwks" in call.path:
            return Reply(200, msgspec.json.encode(tokens.jwks()), "application/jwk-set+json", _KEPT)
        server = f"https://{call.header(b'host')}"
        return Reply(200, msgspec.json.encode(tokens.configuration(server)), headers=_KEPT)

    def _gauges(self) -> tuple[Gauge, ...]:
        revision = self._desk.view.revision()
        return (Gauge("dray_store_revision", "Revision of the latest durable change.", revision),)


def _deliver(document: Document, call: HttpCall) -> Reply:
    known = call.header(b"if-none-match")
    is_known = bool(document.etag) and document.etag in known
    if document.last_modified and not known:
        is_known = call.header(b"if-modified-since") == document.last_modified
    if is_known:
        return Reply(304, b"", document.media_type, document.headers)
    return Reply(200, document.body, document.media_type, document.headers)
