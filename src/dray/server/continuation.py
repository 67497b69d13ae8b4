"""Tokens with which a list is continued: at which state, and after which key.

Opaque to clients, yet written and refused as by Kubernetes' server, since clients show what is wrong with them.
"""

import base64
import posixpath
import re
from typing import Final

import msgspec

from dray.api.jsonsyntax import explain_json_syntax, name_json_kind
from dray.errors import BadRequest
from dray.server.endpoints import Target
from dray.server.faults import ExpiredPage
from dray.store.port import Key

__all__ = ["expire", "format_token", "parse_token"]

_VERSION: Final = "meta.k8s.io/v1"
_LATEST: Final = -1
"""In a token: go on with whatever state there is."""
_NOT_VALID: Final = "invalid continue token: continue key is not valid"
_NOT_BASE64: Final = re.compile(r"[^A-Za-z0-9_-]")
_TYPES: Final = {"v": "string", "rv": "int64", "start": "string"}


class _Token(msgspec.Struct):
    """Where a list goes on: the state it shows, and the key before which it stopped."""

    v: str = ""
    rv: int = 0
    start: str = ""


def format_token(target: Target, revision: int, last: Key) -> str:
    """The token that goes on after a key."""
    place = f"{last.namespace}/{last.name}" if target.namespace is None and last.namespace else last.name
    return _encode(_Token(_VERSION, revision, f"/{place}\0"))


def parse_token(target: Target, text: str) -> tuple[int | None, Key]:
    """The revision to go on at, None for the latest, and the key to go on after. Raises BadRequest."""
    token = _read(text)
    place = token.start.removeprefix("/").removesuffix("\0")
    namespace = target.namespace or ""
    if target.namespace is None and target.endpoint.kind.is_namespaced:
        namespace, _, place = place.partition("/")
    at = None if token.rv == _LATEST else token.rv
    return at, Key(target.endpoint.form.resource, namespace, place)


def expire(text: str) -> ExpiredPage:
    """What is answered where the state of a token is forgotten."""
    fresh = _encode(_Token(_VERSION, _LATEST, _read(text).start.removeprefix("/")))
    return ExpiredPage(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first chunk was returned and now may show up in the list.",
        fresh,
    )


def _encode(token: _Token) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(token)).decode().rstrip("=")


def _read(text: str) -> _Token:
    wrong = _NOT_BASE64.search(text)
    if wrong is not None or len(text) % 4 == 1:
        at = wrong.start() if wrong is not None else len(text) - 1
        raise BadRequest(f"{_NOT_VALID}: illegal base64 data at input byte {at}")
    decoded = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    token = _decode(decoded)
    if token.v != _VERSION:
        raise BadRequest(f"{_NOT_VALID}: server does not recognize this encoded version {token.v}")
    if token.rv == 0:
        raise BadRequest(f"{_NOT_VALID}: incorrect encoded start resourceVersion (version {_VERSION})")
    if not token.start:
        raise BadRequest(f"{_NOT_VALID}: encoded start key empty (version {_VERSION})")
    key = f"/{token.start.removeprefix('/')}"
    if posixpath.normpath(key) != key:
        raise BadRequest(f"{_NOT_VALID}: {token.start}")
    return token


def _decode(text: bytes) -> _Token:
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise BadRequest(f"{_NOT_VALID}: {explain_json_syntax(text) or fault}") from fault
    if value is None:
        return _Token()
    if not isinstance(value, dict):
        found = name_json_kind(text.lstrip())
        detail = f"json: cannot unmarshal {found} into Go value of type storage.continueToken"
        raise BadRequest(f"{_NOT_VALID}: {detail}")
    for name, wanted in _TYPES.items():
        given = value.get(name)
        if given is not None and type(given) is not (int if name == "rv" else str):
            found = name_json_kind(msgspec.json.encode(given))
            detail = f"json: cannot unmarshal {found} into Go struct field continueToken.{name} of type {wanted}"
            raise BadRequest(f"{_NOT_VALID}: {detail}")
    return _Token(value.get("v") or "", value.get("rv") or 0, value.get("start") or "")
