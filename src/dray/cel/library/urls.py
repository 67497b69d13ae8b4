"""URLs, split the way Go splits them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import quote as percent_encode
from urllib.parse import unquote, unquote_plus

from dray.cel.errors import EvaluationError
from dray.cel.functions import Overload, declare
from dray.cel.values import LibraryObject, MapValue, Value
from dray.values.quoting import quote

__all__ = ["URLS", "BadUrl", "Url", "parse_request_uri"]


class BadUrl(ValueError):
    """The text is no absolute URI and no absolute path; the message is Go's."""


@dataclass(frozen=True, slots=True)
class Url(LibraryObject):
    """A URL in its parts."""

    cel_type: ClassVar[str] = "kubernetes.URL"
    scheme: str
    opaque: str
    authority: str
    host: str
    escaped_path: str
    query: str
    fragment: str

    def __str__(self) -> str:
        scheme = f"{self.scheme}:" if self.scheme else ""
        authority = f"//{self.authority}" if self.authority else ""
        query = f"?{self.query}" if self.query else ""
        fragment = f"#{self.fragment}" if self.fragment else ""
        return f"{scheme}{self.opaque or authority + self.escaped_path}{query}{fragment}"


_SCHEME = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]*):")
_BAD_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2}).{0,2}")
_PORT = re.compile(r":[0-9]*")
_USER = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_HOST = re.compile(r"""[^\s<>"\\^`{|}\x00-\x20\x7f]*""")


def parse_request_uri(text: str) -> Url:
    """Read an absolute URI or an absolute path; a `#` counts as part of it. Refuses with `BadUrl`."""
    return _parse(text, is_request=True)


def _refuse(text: str, reason: str) -> BadUrl:
    return BadUrl(f"parse {quote(text)}: {reason}")


def _parse(text: str, *, is_request: bool) -> Url:
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise _refuse(text, "net/url: invalid control character in URL")
    if not text and is_request:
        raise _refuse(text, "empty url")
    whole = text
    fragment = ""
    if not is_request:
        text, _, fragment = text.partition("#")
    scheme, rest = _split_scheme(whole, text)
    rest, _, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return Url(scheme, rest, "", "", "", query, fragment)
        if is_request:
            raise _refuse(whole, "invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _refuse(whole, "first path segment in URL cannot contain colon")
    authority = ""
    if rest.startswith("//") and (scheme or not is_request) and not rest.startswith("///"):
        authority, slash, path = rest[2:].partition("/")
        rest = slash + path
    return Url(scheme, "", authority, _host(whole, authority), _escaped_path(whole, rest), query, fragment)


def _split_scheme(whole: str, text: str) -> tuple[str, str]:
    if text.startswith(":"):
        raise _refuse(whole, "missing protocol scheme")
    match = _SCHEME.match(text)
    if match is not None:
        return match[1].lower(), text[match.end() :]
    return "", text


def _host(whole: str, authority: str) -> str:
    """The host and port of an authority, user information left out."""
    user, _, host = authority.rpartition("@")
    if not _USER.fullmatch(user):
        raise _refuse(whole, "net/url: invalid userinfo")
    name, port = host, ""
    if host.startswith("["):
        end = host.rfind("]")
        if end < 0:
            raise _refuse(whole, "missing ']' in host")
        name, port = host[: end + 1], host[end + 1 :]
    elif ":" in host:
        at = host.rfind(":")
        name, port = host[:at], host[at:]
    if port and not _PORT.fullmatch(port):
        raise _refuse(whole, f"invalid port {quote(port)} after host")
    if not _HOST.fullmatch(name):
        bad = re.search(r"""[\s<>"\\^`{|}]""", name)
        raise _refuse(whole, f"invalid character {quote(bad[0] if bad else name)} in host name")
    return unquote(host)


def _escaped_path(whole: str, path: str) -> str:
    if bad := _BAD_ESCAPE.search(path):
        raise _refuse(whole, f"invalid URL escape {quote(bad[0])}")
    if re.fullmatch(r"[A-Za-z0-9$&+,/:;=@\-_.~!'()*\[\]%]*", path):
        return path
    return percent_encode(unquote(path), safe="$&+,/:;=@-_.~")


def _to_url(text: str) -> Url:
    try:
        parse_request_uri(text)
        return _parse(text, is_request=False)
    except BadUrl as fault:
        raise EvaluationError(f"URL parse error during conversion from string: {fault}") from None


def _is_url(text: str) -> bool:
    try:
        parse_request_uri(text)
    except BadUrl:
        return False
    return True


def _hostname(url: Url) -> str:
    if url.host.startswith("["):
        return url.host[1:].partition("]")[0]
    return url.host.partition(":")[0]


def _port(url: Url) -> str:
    rest = url.host.rpartition("]")[2] if url.host.startswith("[") else url.host
    return rest.partition(":")[2]


def _query(url: Url) -> MapValue:
    values: dict[str, list[str]] = {}
    for pair in url.query.split("&"):
        key, _, value = pair.partition("=")
        if not pair or ";" in pair or _BAD_ESCAPE.search(pair):
            continue
        values.setdefault(unquote_plus(key), []).append(unquote_plus(value))
    entries: dict[Value, Value] = {key: tuple(each) for key, each in values.items()}
    return MapValue(entries)


URLS: list[Overload] = declare(
    ("string_to_url: url(string) -> URL", _to_url),
    ("is_url_string: isURL(string) -> bool", _is_url),
    ("url_get_scheme: URL::getScheme() -> string", lambda url: url.scheme),
    ("url_get_host: URL::getHost() -> string", lambda url: url.host),
    ("url_get_hostname: URL::getHostname() -> string", _hostname),
    ("url_get_port: URL::getPort() -> string", _port),
    ("url_get_escaped_path: URL::getEscapedPath() -> string", lambda url: url.escaped_path),
    ("url_get_query: URL::getQuery() -> map(string, list(string))", _query),
)
